#include "kernels/cpu/state_rows.h"

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

// Rows are read two at a time and each from end to end: such a stream is what the prefetchers of processors follow best, better
// than addresses that a program asks for.

namespace treeline::kernels::cpu {
namespace {

constexpr int most_wide_tokens = 5;
constexpr int rows_ahead_of_halves = 8;
/// Rows whose outputs are put in order together.
constexpr int block_rows = 16;

/// Sums of a block of rows on their way.
struct BlockSums {
    /// Of a pair of rows that does not fit in the registers at a time.
    alignas(64) float so_far[most_wide_tokens][2][16];
    /// What sum_pair() left of each pair.
    alignas(64) float pairs[most_wide_tokens][block_rows / 2][16];
};

/// `vectors` vectors of two rows, from column n on, against C of `tokens` tokens.
template <class Vector, int vectors, int tokens>
[[gnu::always_inline]] inline void multiply_pair(const Vector (&h)[2][vectors], const RowPass& pass, int n, int token, int pair,
                                                 BlockSums& sums) {
    constexpr int lanes = Lanes<Vector>::count;
    Vector sum[tokens][2] = {};
    if (n > 0) {
#pragma GCC unroll 8
        for (int i = 0; i < tokens; ++i) {
            load_vector(sum[i][0], sums.so_far[token + i][0]);
            load_vector(sum[i][1], sums.so_far[token + i][1]);
        }
    }
    const float* c = pass.c + std::int64_t{token} * pass.size + n;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
#pragma GCC unroll 8
        for (int i = 0; i < tokens; ++i) {
            Vector of_token;
            load_vector(of_token, c + std::int64_t{i} * pass.size + j * lanes);
            if constexpr (lanes == 16) {
                TREELINE_KEEP_IN_REGISTER(of_token);
            }
            sum[i][0] += h[0][j] * of_token;
            sum[i][1] += h[1][j] * of_token;
        }
    }
    const bool last = n + vectors * lanes == pass.size;
#pragma GCC unroll 8
    for (int i = 0; i < tokens; ++i) {
        if (last) {
            Vector both;
            sum_pair(both, sum[i][0], sum[i][1]);
            store_vector(sums.pairs[token + i][pair], both);
        } else {
            store_vector(sums.so_far[token + i][0], sum[i][0]);
            store_vector(sums.so_far[token + i][1], sum[i][1]);
        }
    }
}

/// The same for all tokens, as many at a time as there are registers for sums.
template <class Vector, int vectors>
[[gnu::always_inline]] inline void multiply_tokens(const Vector (&h)[2][vectors], const RowPass& pass, int n, int pair,
                                                   BlockSums& sums) {
    if constexpr (Lanes<Vector>::count == 8) {
        return multiply_pair<Vector, vectors, 1>(h, pass, n, 0, pair, sums);
    }
    int token = 0;
    for (; token + 5 <= pass.outputs; token += 5) {
        multiply_pair<Vector, vectors, 5>(h, pass, n, token, pair, sums);
    }
    switch (pass.outputs - token) {
        case 1:
            return multiply_pair<Vector, vectors, 1>(h, pass, n, token, pair, sums);
        case 2:
            return multiply_pair<Vector, vectors, 2>(h, pass, n, token, pair, sums);
        case 3:
            return multiply_pair<Vector, vectors, 3>(h, pass, n, token, pair, sums);
        case 4:
            return multiply_pair<Vector, vectors, 4>(h, pass, n, token, pair, sums);
        default:
            return;
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
                                                  BlockSums& sums) {
    const std::int64_t at = std::int64_t{row} * pass.size + n;
    Vector h[2][vectors];
    load_vectors(h[0], from + at);
    load_vectors(h[1], from + at + pass.size);
    if constexpr (sizeof(Element) == 2) {
        ask_for_rows<vectors * Lanes<Vector>::count>(from + at + pass.size * rows_ahead_of_halves, pass.size);
    }
    multiply_tokens(h, pass, n, row % block_rows / 2, sums);
    if (pass.advances) {
        advance_pair(h, to + at, pass, row, n);
    }
}

template <class Vector>
[[gnu::always_inline]] inline void put_block_in_order(const RowPass& pass, int first, const BlockSums& sums) {
    for (int token = 0; token < pass.outputs; ++token) {
        Vector parts[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            Vector ab, cd;
            load_vector(ab, sums.pairs[token][2 * i]);
            load_vector(cd, sums.pairs[token][2 * i + 1]);
            sum_pairs(parts[i], ab, cd);
        }
        add_parts(pass.y + token * pass.y_stride + first, parts);
    }
}

template <class Vector, class Element>
[[gnu::always_inline]] inline void pass_over_all(const Element* from, Element* to, const RowPass& pass, RowsAhead& rows_ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    constexpr int most = lanes == 16 ? 8 : 4;
    BlockSums sums;
    for (int row = 0; row < pass.rows; row += 2) {
        rows_ahead.ask_for_one();
        int n = 0;
        for (; n + most * lanes <= pass.size; n += most * lanes) {
            pass_over_pair<Vector, Element, most>(from, to, pass, row, n, sums);
        }
        if (most == 8 && n + 4 * lanes <= pass.size) {
            pass_over_pair<Vector, Element, 4>(from, to, pass, row, n, sums);
            n += 4 * lanes;
        }
        if (n + 2 * lanes <= pass.size) {
            pass_over_pair<Vector, Element, 2>(from, to, pass, row, n, sums);
            n += 2 * lanes;
        }
        if (n < pass.size) {
            pass_over_pair<Vector, Element, 1>(from, to, pass, row, n, sums);
        }
        if (row % block_rows == block_rows - 2) {
            put_block_in_order<Vector>(pass, row + 2 - block_rows, sums);
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

int most_tokens_of_row_pass() { return has_wide_registers() ? most_wide_tokens : 1; }

void pass_over_rows(ConstStates from, std::int64_t first_from, States to, std::int64_t first_to, const RowPass& pass,
                    RowsAhead& rows_ahead) {
    from.type == ElementType::fp32 ? pass_over<float>(from, first_from, to, first_to, pass, rows_ahead)
                                   : pass_over<Bf16>(from, first_from, to, first_to, pass, rows_ahead);
}

}  // namespace treeline::kernels::cpu
