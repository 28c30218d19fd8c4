#pragma once

#include <string>
#include <string_view>

namespace treeline::text {

/// The text without blanks, tabs and line ends around it.
inline std::string trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(space);
    return std::string(first == std::string_view::npos ? std::string_view()
                                                       : text.substr(first, text.find_last_not_of(space) + 1 - first));
}

}  // namespace treeline::text
