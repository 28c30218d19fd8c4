// How values, keys and lists look in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::json {

/// A value or key with control characters escaped and cut to about `longest` bytes; "an object" or "an array" for those.
std::string shown(const nlohmann::ordered_json& value, std::size_t longest = 60);
std::string shown_key(std::string_view key);

/// Cuts to at most `longest` bytes, between characters.
std::string shortened(std::string text, std::size_t longest);

/// "a, b or c"; long lists end in dots.
std::string listed(const std::vector<std::string>& words, std::string_view last_separator);

/// The number without trailing zeros.
std::string number_text(double value);

/// "; did you mean \"x\"?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

}  // namespace treeline::json
