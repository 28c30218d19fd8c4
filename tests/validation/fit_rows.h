// Files of measured rows as cases of a fit.
#pragma once

#include <optional>

#include "fit_cases.h"

namespace treeline::testing {

/// The cases that the fit counts, in each cost mode. Nothing where its file of rows is missing, which it then says. Throws
/// InputError where a number would be fitted to rows of a citation that neither the fit nor the ledger
/// (validation/serving/evidence.json) names: they would count as unseen.
std::optional<std::vector<FitCase>> cases_of(const FitFile& fit);

}  // namespace treeline::testing
