// What treeline_fit says of a fit: values, errors, goals and the table of a page.
#pragma once

#include "document_block.h"
#include "linear_fit.h"

namespace treeline::testing {

/// Values with 90 % intervals; for scripts as lines "owner<TAB>key<TAB>value<TAB>low<TAB>high". Times in microseconds.
void print_numbers(const FitFile& fit, const FittedNumbers& fitted, bool for_scripts);
/// Errors in each cost mode: fitted, and of each group left out.
void print_errors(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted);
/// The table as the page holds it.
DocumentBlock document(const FitFile& fit, const FitTable& table, const std::vector<FitCase>& cases,
                       const FittedNumbers& fitted);
/// Whether all goals are met; says which is not.
bool meets_goals(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted);

}  // namespace treeline::testing
