#pragma once

#include <cmath>

namespace treeline::kernels::reference {

inline double silu(double value) { return value / (1.0 + std::exp(-value)); }

}  // namespace treeline::kernels::reference
