// A state read once, row after row, for what a scan does with all its tokens at once: the outputs of one token, and
// the state after the last of them.
#pragma once

#include <cstdint>

#include "kernels/cpu/ahead.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

struct RowPass {
    int rows, size;  ///< of one state: multiples of 16

    const float* c;  ///< [size], or null: no output
    float* y;        ///< [rows]: <state row, c>

    bool advances;         ///< to[row] = decay * from[row] + sum over tokens of weights[token][row] * b[token]
    int inputs;            ///< tokens
    float decay;           ///< of the initial state
    const float* weights;  ///< [inputs][rows], tokens `weights_stride` apart
    std::int64_t weights_stride;
    const float* b;  ///< [inputs][size]
};

/// From the state that begins at an element of `from` to that of `to`, which has the same type and may be the same state.
/// `rows_ahead` are asked for meanwhile.
void pass_over_rows(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const RowPass& pass,
                    RowsAhead& rows_ahead);

}  // namespace treeline::kernels::cpu
