// The hypotenuse as every C library computes it: std::hypot differs between them in the last digit, square roots do not.
#pragma once

#include <cmath>

namespace treeline::numerics {

/// For values whose squares neither overflow nor vanish.
inline double root_of_squares(double a, double b) { return std::sqrt(a * a + b * b); }

}  // namespace treeline::numerics
