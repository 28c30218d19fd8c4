// What treeline_fit says of a fit: values, errors, goals and the table of a page.
#pragma once

#include "document_block.h"
#include "fit_numbers.h"

namespace treeline::testing {

/// Values with 90 % intervals, where the method has any, beside those of the catalogue; for scripts as lines
/// "owner<TAB>key<TAB>value<TAB>low<TAB>high". In the units of validation::unit_of().
void print_numbers(const FitFile& fit, const FittedNumbers& fitted, bool for_scripts);
/// Errors in each cost mode: fitted, of groups left out, of rows that were not fitted to, and by the catalogue's values.
void print_errors(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted);
/// The table as the page holds it.
DocumentBlock document(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted);
/// Whether all goals are met, and the catalogue states what the rows give; says what is not so.
bool meets_goals(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted);

}  // namespace treeline::testing
