#include "text/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "text/parse_number.h"

// fmt ignores the locale unless told otherwise ({:L}).

namespace treeline::text {
namespace {

struct Prefix {
    double factor;
    std::string_view text;
};

constexpr std::array<Prefix, 12> prefixes = {{{1e18, "E"},
                                              {1e15, "P"},
                                              {1e12, "T"},
                                              {1e9, "G"},
                                              {1e6, "M"},
                                              {1e3, "k"},
                                              {1.0, ""},
                                              {1e-3, "m"},
                                              {1e-6, "u"},
                                              {1e-9, "n"},
                                              {1e-12, "p"},
                                              {1e-15, "f"}}};

std::string not_finite(double value) { return std::isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf"; }

/// Three significant digits of a magnitude below 1000, trailing zeros kept ("4.50", "45.0", "450").
std::string three_digits(double value) {
    const double magnitude = std::abs(value);
    return fmt::format("{:.{}f}", value, magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0);
}

}  // namespace

std::string exact_text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : not_finite(value); }

std::string fixed_text(double value, int decimals) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : not_finite(value);
}

std::string engineering_text(double value, std::string_view unit) {
    if (!std::isfinite(value)) {
        return fmt::format("{} {}", not_finite(value), unit);
    }
    if (value == 0.0) {
        return fmt::format("0 {}", unit);
    }
    for (const Prefix& prefix : prefixes) {
        if (std::abs(value) >= 0.9995 * prefix.factor) {
            const bool whole = prefix.factor == 1.0 && value == std::floor(value);
            const double scaled = value / prefix.factor;
            return fmt::format("{} {}{}", whole ? fmt::format("{:.0f}", value) : three_digits(scaled), prefix.text, unit);
        }
    }
    return fmt::format("{:.2e} {}", value, unit);
}

std::string ratio_text(double value) { return fixed_text(value, std::abs(value) < 99.5 ? 2 : 0) + "x"; }

std::string percent_text(double share) { return fixed_text(100.0 * share, 1) + " %"; }

std::string share_text(double share) {
    return share >= 0.995 ? "1" : share == 0.0 ? "0" : share < 0.01 ? "<.01" : fixed_text(share, 2).substr(1);
}

std::string short_text(double value) {
    if (!std::isfinite(value)) {
        return not_finite(value);
    }
    const double magnitude = std::abs(value);
    if (value == std::floor(value) && magnitude < 1e6) {
        return fmt::format("{:.0f}", value);
    }
    if (magnitude >= 1e6 || magnitude < 1e-4) {
        return fmt::format("{:.2e}", value);
    }
    const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(magnitude))));
    return fmt::format("{:.{}f}", value, decimals);
}

std::string short_text_below(double value) {
    if (!std::isfinite(value) || value <= 0.0) {
        return short_text(value);
    }
    const double step = std::pow(10.0, std::floor(std::log10(value)) - 2.0);
    return short_text(std::floor(value / step) * step);
}

double rounded(double value, int digits) { return parse_number(fmt::format("{:.{}g}", value, digits)).value_or(value); }

std::string grouped_text(long long value) {
    const auto magnitude = static_cast<unsigned long long>(value);  // of the least number, too, which has no opposite
    std::string digits = fmt::format("{}", value < 0 ? -magnitude : magnitude);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return value < 0 ? "-" + digits : digits;
}

std::string parameters_text(double count) {
    for (const auto& [factor, text] : {Prefix{1e12, " T"}, Prefix{1e9, " B"}, Prefix{1e6, " M"}, Prefix{1e3, " k"}}) {
        if (count >= 0.9995 * factor) {
            return three_digits(count / factor) + std::string(text);
        }
    }
    return fmt::format("{:.0f}", count);
}

std::string dollars_text(double dollars) {
    return std::isfinite(dollars) && dollars >= 0.0995 ? fmt::format("${:.2f}", dollars) : "$" + short_text(dollars);
}

}  // namespace treeline::text

namespace treeline {

std::string text_of(Seconds value) { return text::engineering_text(value.value(), "s"); }
std::string text_of(Bytes value) { return text::engineering_text(value.value(), "B"); }
std::string text_of(Flops value) { return text::engineering_text(value.value(), "FLOP"); }
std::string text_of(BytesPerSecond value) { return text::engineering_text(value.value(), "B/s"); }
std::string text_of(FlopsPerSecond value) { return text::engineering_text(value.value(), "FLOP/s"); }
std::string text_of(FlopsPerByte value) { return fmt::format("{} FLOP/B", text::short_text(value.value())); }
std::string text_of(Watts value) { return text::engineering_text(value.value(), "W"); }
std::string text_of(Joules value) { return text::engineering_text(value.value(), "J"); }

}  // namespace treeline
