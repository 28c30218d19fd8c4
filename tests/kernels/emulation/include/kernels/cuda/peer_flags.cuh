// In place of the kernels' own header: a thread that waits lets the other device go on.
#pragma once

#include "device_functions.h"

namespace treeline::kernels::cuda {

inline void raise_flag(unsigned* flag, unsigned value) { emulation::raise_flag(flag, value); }
inline bool await_flag(const unsigned* flag, unsigned value, int line = __builtin_LINE()) {
    emulation::await_flag(flag, value, line);
    return true;
}

}  // namespace treeline::kernels::cuda
