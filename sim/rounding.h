// Rounding for inner loops.
#pragma once

namespace treeline::sim {

/// Rounds up to a whole number. No libm call, so that loops vectorise; exact below 2^51.
inline double rounded_up(double value) {
    constexpr double rounder = 4503599627370496.0;  // 2^52: adding and subtracting it rounds to the nearest whole number
    const double nearest = (value + rounder) - rounder;
    return nearest < value ? nearest + 1.0 : nearest;
}

}  // namespace treeline::sim
