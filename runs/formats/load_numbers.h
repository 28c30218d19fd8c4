// Internal to the formats: numbers as people type them into cells of tables, with their units.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace treeline::runs::run_formats_of {

/// The whole number of drafts or requests that a word is; below 0 for another word.
int whole_number(std::string_view word);
/// "22.7 → 40.6", "off -> MTP": what stands at either side of an arrow; nothing without one.
std::optional<std::pair<std::string, std::string>> sides_of_arrow(std::string_view text);
/// What follows the number of a cell, without its spread or a remark in brackets: "204.27 tok/s" has "tok/s".
std::string unit_of(const std::string& cell);
/// "8,192", "8K", "1.5k", "~14": a number, of `thousand` (of tokens 1024) where a "k" follows; nothing where the cell begins
/// with none, or holds two ("22.7 → 40.6").
std::optional<double> number_of(std::string cell, double thousand = 1024.0);
/// A rate or time, where "1.2k" is 1200, or the mean of runs ("116.9 / 120.7 / 120.7") or of a range ("42.5-45.7").
std::optional<double> mean_of_runs(const std::string& cell);

}  // namespace treeline::runs::run_formats_of
