// Text to a JSON tree, strictly: what nlohmann's own parser accepts silently (duplicate keys, any depth) is refused here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// Whether more than `deepest_nesting` brackets and braces are open at once, outside quotes.
bool nests_too_deep(std::string_view text);
/// What is said of such a text.
std::string too_deep_text();

/// parse_foreign() into a tree that keeps the order of keys, whose own parser compares each key with all before it.
std::optional<nlohmann::ordered_json> parse_foreign_in_order(std::string_view text);

/// What other programs wrote, into a tree of either kind of nlohmann's, by that parser's own rules (of equal keys the last one
/// counts). Nothing where it is not JSON or nests too deep: readers, copies and messages recurse over the levels.
template <class Json>
std::optional<Json> parse_foreign(std::string_view text) {
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {
        return parse_foreign_in_order(text);
    } else {
        if (nests_too_deep(text)) {
            return std::nullopt;
        }
        Json tree = Json::parse(text, nullptr, false);
        return tree.is_discarded() ? std::nullopt : std::optional(std::move(tree));
    }
}

}  // namespace treeline::json
