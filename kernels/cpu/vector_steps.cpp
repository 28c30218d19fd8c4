// Compiled so that sums may be taken in any order, as vector_sums.cpp (kernels/CMakeLists.txt).
#include "kernels/cpu/vector_steps.h"

#include <cstdint>

#include "kernels/cpu/instruction_sets.h"

namespace treeline::kernels::cpu {

TREELINE_VECTORISED void step_channels(const float* state, float* next, int channels, int size, const float* decay,
                                       const float* input, const float* b, const float* c_row, float* y) {
    for (int channel = 0; channel < channels; ++channel) {
        const std::int64_t first = std::int64_t{channel} * size;
        const float in = input[channel];
        float sum = 0.0F;
#pragma GCC ivdep  // `next` is `state` itself or apart from it
        for (int n = 0; n < size; ++n) {
            const float value = decay[first + n] * state[first + n] + in * b[n];
            next[first + n] = value;
            sum += value * (c_row != nullptr ? c_row[n] : 0.0F);
        }
        if (c_row != nullptr) {
            y[channel] = sum;
        }
    }
}

TREELINE_VECTORISED void step_delta_rows(const float* state, float* next, int rows, int size, float decay, float beta,
                                         const float* k, const float* v, const float* q, float* y) {
    for (int row = 0; row < rows; ++row) {
        const float* __restrict from = state + std::int64_t{row} * size;
        float seen = 0.0F;
        for (int i = 0; i < size; ++i) {
            seen += from[i] * k[i];
        }
        const float change = beta * (v[row] - decay * seen);
        float* to = next + std::int64_t{row} * size;
        float sum = 0.0F;
#pragma GCC ivdep
        for (int i = 0; i < size; ++i) {
            const float value = decay * from[i] + change * k[i];
            to[i] = value;
            sum += value * (q != nullptr ? q[i] : 0.0F);
        }
        if (q != nullptr) {
            y[row] = sum;
        }
    }
}

}  // namespace treeline::kernels::cpu
