// Products of a state's rows with many tokens at a time, written on vectors of 8 and 16 floats that the compiler maps to
// whatever registers there are (GCC's vector extension): as plain loops their sums would not stay in registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/vector_loops.h"
#include "kernels/state_scan.h"

namespace treeline::kernels::cpu {

/// Tokens are the lanes of a vector; there are whole vectors of 8 up to 8 tokens, else of 16.
constexpr int padded_tokens(int tokens) { return tokens <= 8 ? 8 : (tokens + 15) / 16 * 16; }

/// to[n][token] = from[token][n] for `tokens` rows of `size` elements; rows of `to` are padded_tokens() wide, padded with
/// zeros.
void transpose_tokens(const float* from, int tokens, int size, float* to);

/// Memory that will be wanted soon: as many elements as the rows in hand have.
struct Ahead {
    const void* from;
    int element_bytes;
};

/// What of the states comes 8 KB after this element, which is far enough for memory to answer meanwhile.
inline Ahead ahead_of(ConstStates states, std::int64_t element) {
    const std::size_t size = bytes_of(states.type);
    return {static_cast<const char*>(states.data) + std::size_t(element) * size + 8192, static_cast<int>(size)};
}

/// y[token][row] = <state row, token>: `tokens` as transpose_tokens() leaves them, rows of y `y_stride` apart; `rows` is a
/// multiple of 8, `size` of 16. `products` has room for rows * padded_tokens(count).
void multiply_rows_with_tokens(const float* state, int rows, int size, const float* tokens, int count, float* products,
                               float* y, std::int64_t y_stride, Ahead ahead);

/// to[row] = decay * from[row] + sum over tokens of weights[row][token] * b[token], rows of `size` elements, a multiple of 16.
/// `to` may be `from`.
void advance_rows_over_tokens(const float* from, float* to, int rows, int size, float decay, const float* weights,
                              const float* b, int count);

/// As stream_copy(), without waiting for the end: end_streams() does, once for many.
void stream_block(void* to, const void* from, std::size_t bytes);
void end_streams();

}  // namespace treeline::kernels::cpu
