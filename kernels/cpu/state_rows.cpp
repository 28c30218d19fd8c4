#include "kernels/cpu/state_rows.h"

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

// Rows are read two at a time and each from end to end: such a stream is what the prefetchers of processors follow best, better
// than addresses that a program asks for.

namespace treeline::kernels::cpu {
namespace {

constexpr int rows_ahead_of_halves = 8;
/// Rows whose outputs are put in order together.
constexpr int block_rows = 16;

/// `vectors` vectors of two rows against as many of C.
template <class Vector, int vectors>
[[gnu::always_inline]] inline void multiply_pair(Vector (&sum)[2], const Vector (&h)[2][vectors], const float* c) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
        Vector of_token;
        load_vector(of_token, c + j * Lanes<Vector>::count);
        if constexpr (Lanes<Vector>::count == 16) {
            TREELINE_KEEP_IN_REGISTER(of_token);
        }
        sum[0] += h[0][j] * of_token;
        sum[1] += h[1][j] * of_token;
    }
}

template <class Vector, class Element, int vectors>
[[gnu::always_inline]] inline void advance_pair(Vector (&h)[2][vectors], Element* to, const RowPass& pass, int row, int n) {
    constexpr int lanes = Lanes<Vector>::count;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
        h[0][j] *= pass.decay;
        h[1][j] *= pass.decay;
    }
    const float* weights = pass.weights + row;
    const float* b = pass.b + n;
    for (int token = 0; token < pass.inputs; ++token, weights += pass.weights_stride, b += pass.size) {
#pragma GCC unroll 8
        for (int j = 0; j < vectors; ++j) {
            Vector of_token;
            load_vector(of_token, b + j * lanes);
            if constexpr (lanes == 16) {
                TREELINE_KEEP_IN_REGISTER(of_token);
            }
            h[0][j] += weights[0] * of_token;
            h[1][j] += weights[1] * of_token;
        }
    }
    store_vectors(to, h[0]);
    store_vectors(to + pass.size, h[1]);
}

/// Two rows of halves in memory. Floats need no such help: the prefetchers keep up with them.
template <int count>
[[gnu::always_inline]] inline void ask_for_rows(const Bf16* from, int size) {
#pragma GCC unroll 4
    for (int i = 0; i < count; i += 32) {
        __builtin_prefetch(from + i);
        __builtin_prefetch(from + size + i);
    }
}

template <class Vector, class Element, int vectors>
[[gnu::always_inline]] inline void pass_over_pair(const Element* from, Element* to, const RowPass& pass, int row, int n,
                                                  Vector (&sum)[2]) {
    const std::int64_t at = std::int64_t{row} * pass.size + n;
    Vector h[2][vectors];
    load_vectors(h[0], from + at);
    load_vectors(h[1], from + at + pass.size);
    if constexpr (sizeof(Element) == 2) {
        ask_for_rows<vectors * Lanes<Vector>::count>(from + at + pass.size * rows_ahead_of_halves, pass.size);
    }
    if (pass.c != nullptr) {
        multiply_pair(sum, h, pass.c + n);
    }
    if (pass.advances) {
        advance_pair(h, to + at, pass, row, n);
    }
}

/// y of a block of rows from what sum_pair() left of each pair.
template <class Vector>
[[gnu::always_inline]] inline void put_block_in_order(float* y, const float (&pairs)[block_rows / 2][16]) {
    Vector parts[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        Vector ab, cd;
        load_vector(ab, pairs[2 * i]);
        load_vector(cd, pairs[2 * i + 1]);
        sum_pairs(parts[i], ab, cd);
    }
    add_parts(y, parts);
}

template <class Vector, class Element>
[[gnu::always_inline]] inline void pass_over_all(const Element* from, Element* to, const RowPass& pass, RowsAhead& rows_ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    constexpr int most = lanes == 16 ? 8 : 4;
    alignas(64) float pairs[block_rows / 2][16];
    for (int row = 0; row < pass.rows; row += 2) {
        rows_ahead.ask_for_one();
        Vector sum[2] = {};
        int n = 0;
        for (; n + most * lanes <= pass.size; n += most * lanes) {
            pass_over_pair<Vector, Element, most>(from, to, pass, row, n, sum);
        }
        if (most == 8 && n + 4 * lanes <= pass.size) {
            pass_over_pair<Vector, Element, 4>(from, to, pass, row, n, sum);
            n += 4 * lanes;
        }
        if (n + 2 * lanes <= pass.size) {
            pass_over_pair<Vector, Element, 2>(from, to, pass, row, n, sum);
            n += 2 * lanes;
        }
        if (n < pass.size) {
            pass_over_pair<Vector, Element, 1>(from, to, pass, row, n, sum);
        }
        Vector both;
        sum_pair(both, sum[0], sum[1]);
        store_vector(pairs[row % block_rows / 2], both);
        if (pass.c != nullptr && row % block_rows == block_rows - 2) {
            put_block_in_order<Vector>(pass.y + row + 2 - block_rows, pairs);
        }
    }
}

TREELINE_WIDE void pass_wide(const float* from, float* to, const RowPass& pass, RowsAhead& rows_ahead) {
    pass_over_all<Vector16>(from, to, pass, rows_ahead);
}
TREELINE_WIDE void pass_wide(const Bf16* from, Bf16* to, const RowPass& pass, RowsAhead& rows_ahead) {
    pass_over_all<Vector16>(from, to, pass, rows_ahead);
}
TREELINE_VECTORISED void pass_narrow(const float* from, float* to, const RowPass& pass, RowsAhead& rows_ahead) {
    pass_over_all<Vector8>(from, to, pass, rows_ahead);
}
TREELINE_VECTORISED void pass_narrow(const Bf16* from, Bf16* to, const RowPass& pass, RowsAhead& rows_ahead) {
    pass_over_all<Vector8>(from, to, pass, rows_ahead);
}

template <class Element>
void pass_over(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const RowPass& pass,
               RowsAhead& rows_ahead) {
    const Element* begin = static_cast<const Element*>(from.data) + first_from;
    Element* target = pass.advances ? static_cast<Element*>(to.data) + first_to : nullptr;
    has_wide_registers() ? pass_wide(begin, target, pass, rows_ahead) : pass_narrow(begin, target, pass, rows_ahead);
}

}  // namespace

void pass_over_rows(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const RowPass& pass,
                    RowsAhead& rows_ahead) {
    from.type == ElementType::fp32 ? pass_over<float>(from, first_from, to, first_to, pass, rows_ahead)
                                   : pass_over<Bf16>(from, first_from, to, first_to, pass, rows_ahead);
}

}  // namespace treeline::kernels::cpu
