// Scores on measured serving rows, as text, JSON, CSV, Markdown and sections of the page of `treeline validate`.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "validation/serving/study.h"
#include "validation/validate.h"

namespace treeline::reports {

/// Tables of errors, advice, coverage and reasons; `all_rows`: also every row.
std::string serving_table(const validation::ServingStudy& study, bool all_rows);
/// An object with "mode", "tables" (errors are shares), "left_out", "rows" and "notes".
nlohmann::ordered_json serving_json(const validation::ServingStudy& study);
/// One line for each row of the files and each way to predict it, rows that were left out included.
std::string serving_csv(const std::vector<validation::ServingStudy>& studies);
/// A section of docs/trust.md.
std::string serving_markdown(const std::vector<validation::ServingStudy>& studies);
/// A self-contained page of them alone.
std::string serving_page(const std::vector<validation::ServingStudy>& studies);
/// The file of a catalogue that intervals of recommendations are made of: measured / predicted of every row, one mode a study.
std::string measured_errors_json(const std::vector<validation::ServingStudy>& studies);
/// One sentence for each way of predicting: rows and errors.
std::string serving_sentence(const validation::ServingStudy& study);
/// Every row that is predicted, with what filters choose by, and every row that was left out (reports/page/README.md, `board`).
/// `papers` may be null.
nlohmann::ordered_json board_json(const validation::Validation* papers, const std::vector<validation::ServingStudy>& studies);

/// The class of batches of a level: "2 to 4".
std::string level_text(int level);
/// Whether there are other families, whose errors make an interval.
bool is_determined(const validation::FamilyCoverage& coverage);
/// "83 % of 120": what intervals hold of the rows of a class of batches; a dash where there are none.
std::string level_coverage_text(const validation::FamilyCoverage& coverage, int level);

/// A row of an error table, with what it was.
struct NamedRow {
    std::string file, id, series;
    std::size_t number = 0;
};
NamedRow named_row(const validation::ServingStudy& study, const validation::ErrorTable& table,
                   const validation::ScoredPoint& row);
const validation::MeasuredPoint& point_of(const validation::ServingStudy& study, const validation::ErrorTable& table,
                                          const validation::ScoredPoint& row);
/// The tables that the study has.
std::vector<const validation::ErrorTable*> tables_of(const validation::ServingStudy& study);

}  // namespace treeline::reports
