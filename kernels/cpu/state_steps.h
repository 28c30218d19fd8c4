// States advanced over tokens: to the last of them at once, or one after another.
#pragma once

#include <cstdint>

#include "kernels/cpu/ahead.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// Adds the tokens' inputs to a state, the decays between them in the weights.
struct Advance {
    int rows, size;  ///< of one state: multiples of 16
    int tokens;
    float decay;           ///< of the initial state
    const float* weights;  ///< [tokens][rows], tokens `weights_stride` apart
    std::int64_t weights_stride;
    const float* b;  ///< [tokens][size]
};

/// to[row] = decay * from[row] + sum over tokens of weights[token][row] * b[token], for the states that begin at an element of
/// each. They are of one type and may be the same. `rows_ahead` are prefetched meanwhile, as below.
void advance_state(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const Advance& advance,
                   RowsAhead& rows_ahead);

/// Goes over the tokens one by one: for each h = decay * h + input * b and, where c is given, y = <h, c>.
struct Steps {
    int rows, size;  ///< as above
    int tokens;
    const float* decay;  ///< [tokens]
    const float* input;  ///< [tokens][rows]
    const float* b;      ///< [tokens][size]
    const float* c;      ///< [tokens][size], or null
    float* y;            ///< [tokens][rows], written where c is given
    float* sums;         ///< room for 64 floats per token
};

/// Where the states of a scan go: after each token `token_stride` elements further, or (0) that after the last alone.
struct StepTarget {
    States states;  ///< null: nowhere
    std::int64_t first;
    std::int64_t token_stride;
    bool stream;  ///< past the caches; the states are aligned to 16 bytes, and end_streams() follows
};

void step_state(ConstStates from, std::int64_t first, const Steps& steps, const StepTarget& target, RowsAhead& rows_ahead);

}  // namespace treeline::kernels::cpu
