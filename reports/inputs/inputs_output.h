// The keys of input files as tables.
#pragma once

#include <string>
#include <vector>

#include "json/key.h"

namespace treeline::reports {

/// Each object's name above its table, for a terminal.
std::string inputs_table(const std::vector<json::KeyTable>& tables);
std::string inputs_json(const std::vector<json::KeyTable>& tables);
std::string inputs_csv(const std::vector<json::KeyTable>& tables);
/// Tables in Markdown, each after the mark of its place in docs/inputs.md: "<!-- keys: platform -->", and after
/// a table that of its kinds: "<!-- keys: drafter, kinds -->".
std::string inputs_markdown(const std::vector<json::KeyTable>& tables);

}  // namespace treeline::reports
