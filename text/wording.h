// How words and lists look in messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::text {

/// Cuts to at most `longest` bytes, between characters.
std::string shortened(const std::string& text, std::size_t longest);

/// "a, b or c"; long lists end in dots.
std::string listed(const std::vector<std::string>& words, std::string_view last_separator);

/// The number in twelve digits, without trailing zeros.
std::string number_text(double value);

/// The choice nearest to `word` (by edits; or one contains the other), if it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& choices);

/// Up to `most` of them, the nearest first.
std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& choices, std::size_t most);

/// "; did you mean \"x\"?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

/// What follows a name that a catalogue does not have: the nearest three, or every name that it begins ("h100" is any of
/// "h100-nvl", "h100-pcie" and "h100-sxm"), and the command that lists all:
/// "; did you mean \"x\", \"y\" or \"z\"? `treeline models` lists all".
std::string other_names(const std::string& word, const std::vector<std::string>& names, std::string_view command);

}  // namespace treeline::text
