// One token of the scans by steps, on states in the cache (kernels/channel_scan.h, kernels/delta_scan.h).
#pragma once

namespace treeline::kernels::cpu {

/// next = decay * state + input[c] * b[n], and, where there is c_row, y[c] = <next_c, c_row>, for `channels` channels of `size`
/// numbers; a decay for each. `next` may be `state`.
void step_channels(const float* state, float* next, int channels, int size, const float* decay, const float* input,
                   const float* b, const float* c_row, float* y);

/// For `rows` rows of `size` numbers: next = decay * state + beta * (v[r] - decay * <state_r, k>) * k, and, where there is q,
/// y[r] = <next_r, q>. `next` may be `state`.
void step_delta_rows(const float* state, float* next, int rows, int size, float decay, float beta, const float* k,
                     const float* v, const float* q, float* y);

}  // namespace treeline::kernels::cpu
