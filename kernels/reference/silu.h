#pragma once

#include <cmath>

namespace treeline::kernels::reference {

inline double sigmoid(double value) { return 1.0 / (1.0 + std::exp(-value)); }
inline double silu(double value) { return value * sigmoid(value); }

}  // namespace treeline::kernels::reference
