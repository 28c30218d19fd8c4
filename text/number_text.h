// Numbers as text, the same in every locale: short for people (with a unit), exact for programs.
#pragma once

#include <string>
#include <string_view>

#include "sim/units.h"

namespace treeline {

/// Three significant digits, an SI prefix and the unit ("4.56 ms"). Bytes are decimal (1 GB = 1e9 bytes). They stand beside the
/// quantities, so a call finds them by its argument.
std::string text_of(Seconds value);
std::string text_of(Bytes value);
std::string text_of(Flops value);
std::string text_of(BytesPerSecond value);
std::string text_of(FlopsPerSecond value);
std::string text_of(FlopsPerByte value);
std::string text_of(Watts value);
std::string text_of(Joules value);

}  // namespace treeline

namespace treeline::text {

/// Milliseconds per second; people read pass times in milliseconds.
inline constexpr double to_ms = 1e3;

/// Shown for a value that a description leaves out.
inline constexpr std::string_view unknown_text = "unknown";

/// The shortest decimal that reads back as the same double ("0.1", "1e-07"); "nan", "inf", "-inf" for what is not finite.
std::string exact_text(double value);

/// `decimals` places after the point ("4.560").
std::string fixed_text(double value, int decimals);

/// About three significant digits and an SI prefix: "4.56 ms", "19.4 GB", "512 FLOP", "0 s".
std::string engineering_text(double value, std::string_view unit);

/// "1.98x"
std::string ratio_text(double value);
/// "12.3 %" of a share in [0, 1].
std::string percent_text(double share);
/// The same in two digits, for drawings: ".63", "1", "<.01".
std::string share_text(double share);
/// Three significant digits, without exponent up to a million; whole numbers as such: "0.0123", "4.56", "4", "12346".
std::string short_text(double value);

/// The same of a positive value, never above it: for the most that is served.
std::string short_text_below(double value);
/// The double that so many significant digits name: 0.3333 for a third and 4.
double rounded(double value, int digits);
/// A count with thousands separators: "8,030,261,248".
std::string grouped_text(long long value);
/// A parameter count as the field writes it, with three significant digits: "8.03 B", "129 M".
std::string parameters_text(double count);
/// "$2.31"; below ten cents three significant digits: "$0.0123".
std::string dollars_text(double dollars);

}  // namespace treeline::text
