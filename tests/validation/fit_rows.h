// Files of measured rows as cases of a fit.
#pragma once

#include "fit_cases.h"

namespace treeline::testing {

/// Every row that can be priced, in each cost mode; of `pairs`, those of the fit's citations. Nothing where the file is
/// missing, which it then says.
std::optional<std::vector<FitCase>> read_cases(const FitRows& rows);

}  // namespace treeline::testing
