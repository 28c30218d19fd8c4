// Numbers from text, the same in every locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace treeline::text {

/// The double that is all of `text`, as parse_number() says.
std::optional<double> parse_double(std::string_view text);

/// parse_double() by strtod, for standard libraries whose from_chars reads whole numbers only (libc++ before 20). The C
/// library's locale must write a point, as it does until a program sets another one.
std::optional<double> parse_double_by_strtod(std::string_view text);

/// The number that is all of `text` ("0.5", "1e-3", "-2"; no spaces, no leading "+"). Nothing where it is none, is not finite
/// or does not fit the type.
template <typename Number = double>
std::optional<Number> parse_number(std::string_view text) {
    if constexpr (std::is_floating_point_v<Number>) {
        static_assert(std::is_same_v<Number, double>);
        return parse_double(text);
    } else {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error != std::errc() || end != text.data() + text.size() ? std::nullopt : std::optional(value);
    }
}

}  // namespace treeline::text
