// A state read once, row after row, for what a scan does with all its tokens at once: outputs of a few tokens, and the state
// after the last of them.
#pragma once

#include <cstdint>

#include "kernels/cpu/ahead.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// Beyond so many tokens, products with states are cheaper with tokens in the lanes (cpu/state_products.h).
int most_tokens_of_row_pass();

struct RowPass {
    int rows, size;  ///< of one state: multiples of 16

    int outputs;     ///< tokens whose outputs are wanted, at most most_tokens_of_row_pass()
    const float* c;  ///< [outputs][size]
    float* y;        ///< [outputs][rows], tokens `y_stride` apart: <state row, C of the token>
    std::int64_t y_stride;

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
