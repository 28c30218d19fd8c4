// Numbers from text, the same in every locale.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace treeline::text {

/// The number that is all of `text` ("0.5", "1e-3", "-2"; no spaces, no leading "+"). Nothing where it is none, is not finite
/// or does not fit the type.
template <typename Number = double>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    if constexpr (std::is_floating_point_v<Number>) {
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    return value;
}

}  // namespace treeline::text
