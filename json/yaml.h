// YAML to a JSON tree: what engines and benchmarks write, with bounds on what a small text can unfold to.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::json {

inline constexpr std::size_t most_yaml_values = 100'000;  ///< with each alias unfolded
inline constexpr std::size_t most_yaml_bytes = 4u << 20;  ///< of all texts and keys, likewise: four times the largest file

struct ParsedYaml {
    nlohmann::ordered_json tree;
    std::string failure;                     ///< why there is no tree, to follow the text's name; empty otherwise
    std::vector<std::string> repeated_keys;  ///< of a mapping that holds them twice; the last one is kept
};

/// Scalars by YAML's core schema: numbers, booleans, null, else text. Refuses more than `deepest_nesting` (parse.h) levels and
/// more than `most_yaml_values` values, or `most_yaml_bytes` of text. Bytes that are not UTF-8 become U+FFFD.
ParsedYaml parse_yaml(const std::string& text);

/// The same of a text with several documents: a list of them.
ParsedYaml parse_yaml_documents(const std::string& text);

}  // namespace treeline::json
