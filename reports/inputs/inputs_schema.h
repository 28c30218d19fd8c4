// The keys of input files as JSON Schema, for those who write questions by program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/key.h"

namespace treeline::reports {

/// The object of the table `name` as JSON Schema (draft 2020-12), which refuses keys that the table lacks. What it says of
/// objects below it is reached by "$ref" at `definitions` + the name of their table, which `needed` receives.
nlohmann::ordered_json inputs_schema(const std::vector<json::KeyTable>& tables, const std::string& name,
                                     const std::string& definitions, std::map<std::string, nlohmann::ordered_json>& needed);

/// The same on its own: the objects that it needs are below "$defs".
nlohmann::ordered_json inputs_schema(const std::vector<json::KeyTable>& tables, const std::string& name);

}  // namespace treeline::reports
