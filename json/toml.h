// TOML to a JSON tree: configuration files that hold launch arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::json {

inline constexpr std::size_t most_toml_values = 100'000;
inline constexpr std::size_t most_toml_keys = 2'000;  ///< of a table

struct ParsedToml {
    nlohmann::ordered_json tree;             ///< an object
    std::string failure;                     ///< why there is no tree, to follow the text's name; empty otherwise
    std::vector<std::string> repeated_keys;  ///< that a table holds twice; the last one is kept
};

/// TOML 1.0: tables, arrays of tables, dotted keys, all strings, numbers in any base, booleans, arrays and inline tables. Dates
/// and times become text. Refuses more than `deepest_nesting` (parse.h) levels, more than `most_toml_values` values, and
/// more than `most_toml_keys` in a table.
ParsedToml parse_toml(std::string_view text);

}  // namespace treeline::json
