// Rows of an answer that JSON and CSV share, so that their keys and numbers cannot differ.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace treeline::reports {

/// Rows as CSV with a column for each key; a key that a row lacks, or that is null, is an empty field, and true is "yes".
std::string csv_of(const std::vector<std::string>& keys, const nlohmann::ordered_json& rows);
/// The same with the keys of the first row.
std::string csv_of(const nlohmann::ordered_json& rows);

}  // namespace treeline::reports
