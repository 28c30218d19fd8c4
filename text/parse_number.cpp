#include "text/parse_number.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <version>

namespace treeline::text {

std::optional<double> parse_double_by_strtod(std::string_view text) {
    // strtod also takes white space, a "+", hexadecimal digits and words.
    if (text.empty() || text.front() == '+' || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
        return std::nullopt;
    }
    const std::string terminated(text);
    char* end = nullptr;
    const double value = std::strtod(terminated.c_str(), &end);
    const bool too_small = value == 0.0 && terminated.find_first_of("123456789") < terminated.find_first_of("eE");
    const bool whole = end == terminated.c_str() + terminated.size();
    return whole && std::isfinite(value) && !too_small ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_double(std::string_view text) {
#ifdef __cpp_lib_to_chars
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
#else
    return parse_double_by_strtod(text);
#endif
}

}  // namespace treeline::text
