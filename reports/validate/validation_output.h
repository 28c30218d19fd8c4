// What `treeline validate` finds, as text, JSON, CSV and Markdown.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "validation/serving/study.h"
#include "validation/validate.h"

namespace treeline::reports {

/// `all_rows`: also every row with its prediction.
std::string validation_table(const validation::Validation& validation, bool all_rows);
/// Format "treeline-validation", version 1: fits, scores, choices, and the rows of the parity plot in the units they are
/// printed in, with tokens, batch, parameters and context for error plots.
nlohmann::ordered_json validation_json(const validation::Validation& validation);
/// One line per row.
std::string validation_csv(const validation::Validation& validation);
/// docs/trust.md, of which scripts/trust_summary.sh makes the table of the README.
std::string validation_markdown(const validation::Validation& validation);

/// Rows, median, p90, max, bias and rank correlation; errors are shares.
nlohmann::ordered_json summary_json(const validation::ErrorSummary& summary);

/// The details of a row: [{"heading", "entries": [{"name", "value"}]}], texts.
nlohmann::ordered_json validation_details(const validation::Validation& validation, const validation::PredictedRow& row);

/// A self-contained page: parity plot, error by table, errors against tokens, batch, size and context, and every row with its
/// details; then the sections of `studies`.
std::string validation_page(const validation::Validation& validation,
                            const std::vector<validation::ServingStudy>& studies = {});

/// "24 of 24 cells that fit, 1 of 1 that ran out of memory".
std::string memory_counts_text(const validation::Validation& validation);

/// A row's numbers in its printed unit.
double measured_in_unit(const validation::Validation& validation, const validation::PredictedRow& row);
double predicted_in_unit(const validation::Validation& validation, const validation::PredictedRow& row);

}  // namespace treeline::reports
