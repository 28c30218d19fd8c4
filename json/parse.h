// Text to a JSON tree, strictly: what nlohmann's own parser accepts silently (duplicate keys, any depth) is refused here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::json {

inline constexpr std::size_t deepest_nesting = 64;

// NOLINTNEXTLINE(bugprone-exception-escape): of the JSON type, whose move does not throw in fact
struct Parsed {
    nlohmann::ordered_json tree;
    std::string failure;                      ///< why the text is not JSON, with line and column; empty when it is
    std::vector<std::string> duplicate_keys;  ///< paths of keys that an object holds twice ("peak.bf16"); the first one is kept
};

Parsed parse_strictly(std::string_view text);

}  // namespace treeline::json
