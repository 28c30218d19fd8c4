// In place of the kernels' own header: what the instruction of a tensor core computes.
#pragma once

#include "device_functions.h"

namespace treeline::kernels::cuda {

inline void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2], int line = __builtin_LINE()) {
    emulation::Fragment fragment{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {sum[0], sum[1], sum[2], sum[3]}};
    emulation::warp_product(fragment, line);
    for (int i = 0; i < 4; ++i) {
        sum[i] = fragment.sum[i];
    }
}

}  // namespace treeline::kernels::cuda
