#include "kernels/cpu/state_products.h"

#include <algorithm>

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

namespace treeline::kernels::cpu {
namespace {

/// Beyond so many tokens, sums over the lanes cost more than lanes that hold no token.
constexpr int most_tokens_as_rows = 5;
/// Rows whose results are put in order together.
constexpr int block_rows = 16;

/// `vectors` vectors of each of four rows against as many of C of each token.
template <class Vector, int vectors, class Element, int tokens>
[[gnu::always_inline]] inline void add_products(Vector (&sum)[tokens][4], const Element* state, int size, const float* c,
                                                Ahead& ahead) {
    ahead.ask(4 * vectors * Lanes<Vector>::count * int{sizeof(Element)});
    Vector h[4][vectors];
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row) {
        load_vectors(h[row], state + std::int64_t{row} * size);
    }
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i) {
#pragma GCC unroll 8
        for (int token = 0; token < tokens; ++token) {
            Vector of_token;
            load_vector(of_token, c + std::int64_t{token} * size + i * Lanes<Vector>::count);
#pragma GCC unroll 4
            for (int row = 0; row < 4; ++row) {
                sum[token][row] += h[row][i] * of_token;
            }
        }
    }
}

/// Four rows of a state against a few tokens, elements n in the lanes: the state streams from memory, C is in the cache,
/// 4 x `tokens` sums stay in registers. sums[token][...] receives sums over parts of four lanes.
template <class Vector, class Element, int tokens>
[[gnu::always_inline]] inline void multiply_four_rows(const Element* state, int size, const float* c, float* sums,
                                                      int sums_stride, Ahead& ahead) {
    constexpr int lanes = Lanes<Vector>::count;
    Vector sum[tokens][4] = {};
    int n = 0;
    for (; n + 2 * lanes <= size; n += 2 * lanes) {
        add_products<Vector, 2>(sum, state + n, size, c + n, ahead);
    }
    if (n < size) {
        add_products<Vector, 1>(sum, state + n, size, c + n, ahead);
    }
#pragma GCC unroll 8
    for (int token = 0; token < tokens; ++token) {
        Vector parts;
        sum_parts(parts, sum[token]);
        store_vector(sums + token * sums_stride, parts);
    }
}

template <class Vector, class Element, int tokens>
[[gnu::always_inline]] inline void multiply_as_rows(const Element* state, int rows, int size, const float* c, float* y,
                                                    std::int64_t y_stride, RowsAhead& rows_ahead) {
    alignas(64) float sums[tokens][4][16];
    Ahead ahead(state, rows_ahead);
    for (int first = 0; first < rows; first += block_rows) {
        for (int quarter = 0; quarter < 4; ++quarter) {
            multiply_four_rows<Vector, Element, tokens>(state + std::int64_t{first + 4 * quarter} * size, size, c,
                                                        sums[0][quarter], 4 * 16, ahead);
        }
#pragma GCC unroll 8
        for (int token = 0; token < tokens; ++token) {
            Vector parts[4];
#pragma GCC unroll 4
            for (int quarter = 0; quarter < 4; ++quarter) {
                load_vector(parts[quarter], sums[token][quarter]);
            }
            add_parts(y + token * y_stride + first, parts);
        }
    }
}

template <class Element>
[[gnu::always_inline]] inline void choose_tokens(const Element* state, int rows, int size, const float* c, int tokens, float* y,
                                                 std::int64_t y_stride, RowsAhead& rows_ahead, bool wide) {
    if (!wide) {
        return multiply_as_rows<Vector8, Element, 1>(state, rows, size, c, y, y_stride, rows_ahead);
    }
    switch (tokens) {
        case 1:
            return multiply_as_rows<Vector16, Element, 1>(state, rows, size, c, y, y_stride, rows_ahead);
        case 2:
            return multiply_as_rows<Vector16, Element, 2>(state, rows, size, c, y, y_stride, rows_ahead);
        case 3:
            return multiply_as_rows<Vector16, Element, 3>(state, rows, size, c, y, y_stride, rows_ahead);
        case 4:
            return multiply_as_rows<Vector16, Element, 4>(state, rows, size, c, y, y_stride, rows_ahead);
        default:
            return multiply_as_rows<Vector16, Element, most_tokens_as_rows>(state, rows, size, c, y, y_stride, rows_ahead);
    }
}

TREELINE_VECTORISED void multiply_few_tokens(const float* state, int rows, int size, const float* c, int tokens, float* y,
                                             std::int64_t y_stride, RowsAhead& rows_ahead, bool wide) {
    choose_tokens(state, rows, size, c, tokens, y, y_stride, rows_ahead, wide);
}
TREELINE_VECTORISED void multiply_few_tokens(const Bf16* state, int rows, int size, const float* c, int tokens, float* y,
                                             std::int64_t y_stride, RowsAhead& rows_ahead, bool wide) {
    choose_tokens(state, rows, size, c, tokens, y, y_stride, rows_ahead, wide);
}

/// `sets` sets of `rows` rows of a state against `vectors` vectors of tokens: an element of each row after another is
/// broadcast, a vector of tokens is loaded from the cache once for all rows, and all sums stay in registers.
template <class Vector, int sets, int rows, int vectors>
[[gnu::always_inline]] inline void multiply_rows_with_lanes(const float* state, int size, const float* tokens, float* products,
                                                            Ahead& ahead, int ahead_bytes) {
    Vector sums[sets][rows][vectors] = {};
    for (int first = 0; first < size; first += 16) {
        ahead.ask(sets * rows * 16 * ahead_bytes);
        for (int n = first; n < first + 16; ++n) {
            Vector of_tokens[vectors];
#pragma GCC unroll 4
            for (int i = 0; i < vectors; ++i) {
                load_vector(of_tokens[i], tokens + (std::int64_t{n} * vectors + i) * Lanes<Vector>::count);
            }
#pragma GCC unroll 2
            for (int set = 0; set < sets; ++set) {
                const float* elements = state + std::int64_t{set} * rows * size + n;
#pragma GCC unroll 8
                for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
                    for (int i = 0; i < vectors; ++i) {
                        sums[set][row][i] += elements[std::int64_t{row} * size] * of_tokens[i];
                    }
                }
            }
        }
    }
#pragma GCC unroll 2
    for (int set = 0; set < sets; ++set) {
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
            for (int i = 0; i < vectors; ++i) {
                store_vector(products + ((set * rows + row) * vectors + i) * Lanes<Vector>::count, sums[set][row][i]);
            }
        }
    }
}

/// A group of tokens against the rows of a state.
struct GroupOfTokens {
    const float* c;
    int lanes, tokens;
};

/// y[token][row] = products[row][lane] for a block of rows. A function of its own: inlined, its reads of half a vector would
/// make the compiler keep all sums in memory.
TREELINE_VECTORISED void put_in_order(const float* products, int lanes, int tokens, float* y, std::int64_t y_stride) {
    alignas(64) float in_order[8 * block_rows];
    for (int lane = 0; lane < tokens; lane += 8) {
        const bool whole = lane + 8 <= tokens;
        for (int row = 0; row < block_rows; row += 8) {
            const float* tile = products + row * lanes + lane;
            whole ? transpose_tile(tile, lanes, y + lane * y_stride + row, y_stride)
                  : transpose_tile(tile, lanes, in_order + row, block_rows);
        }
        for (int token = lane; !whole && token < tokens; ++token) {
            std::memcpy(y + token * y_stride, in_order + (token - lane) * block_rows, block_rows * sizeof(float));
        }
    }
}

/// A block of rows against a group. `ahead_bytes` are those that an element of the state has in memory, 0 where it does not
/// come from there.
template <class Vector, int sets, int rows_of_set, int vectors>
[[gnu::always_inline]] inline void multiply_block(const float* block, int size, const GroupOfTokens& group, float* y,
                                                  std::int64_t y_stride, Ahead& ahead, int ahead_bytes) {
    constexpr int lanes = vectors * Lanes<Vector>::count, rows_at_once = sets * rows_of_set;
    alignas(64) float products[block_rows * lanes];
    for (int row = 0; row < block_rows; row += rows_at_once) {
        multiply_rows_with_lanes<Vector, sets, rows_of_set, vectors>(block + std::int64_t{row} * size, size, group.c,
                                                                     products + row * lanes, ahead, ahead_bytes);
    }
    put_in_order(products, lanes, group.tokens, y, y_stride);
}

TREELINE_VECTORISED void multiply_block_with_group(const float* block, int size, const GroupOfTokens& group, float* y,
                                                   std::int64_t y_stride, Ahead& ahead, int ahead_bytes, bool wide) {
    if (group.lanes == 8) {
        multiply_block<Vector8, 1, 8, 1>(block, size, group, y, y_stride, ahead, ahead_bytes);
    } else if (group.lanes == 32) {
        multiply_block<Vector16, 1, 8, 2>(block, size, group, y, y_stride, ahead, ahead_bytes);
    } else if (wide) {
        multiply_block<Vector16, 2, 8, 1>(block, size, group, y, y_stride, ahead, ahead_bytes);
    } else {
        multiply_block<Vector8, 1, 4, 2>(block, size, group, y, y_stride, ahead, ahead_bytes);
    }
}

}  // namespace

TokenMatrix::TokenMatrix(int most_tokens, int state_size)
    : state_size_(state_size), by_lane_(std::size_t(most_tokens + 31) * std::size_t(state_size)) {}

bool TokenMatrix::as_rows() const { return tokens_ == 1 || (has_wide_registers() && tokens_ <= most_tokens_as_rows); }

int TokenMatrix::lanes(int first) const {
    const int left = tokens_ - first;
    return left > 24 && has_wide_registers() ? 32 : left > 8 ? 16 : 8;
}

void TokenMatrix::set(const float* rows, int tokens) {
    rows_ = rows;
    tokens_ = tokens;
    for (int first = 0; !as_rows() && first < tokens; first += lanes(first)) {
        const int width = lanes(first), count = std::min(width, tokens - first);
        float* to = by_lane_ + std::int64_t{first} * state_size_;
        for (int n = 0; n < state_size_; ++n, to += width) {
            for (int lane = 0; lane < count; ++lane) {
                to[lane] = rows[std::int64_t{first + lane} * state_size_ + n];
            }
            std::fill(to + count, to + width, 0.0F);
        }
    }
}

void multiply_state(ConstStates states, std::int64_t first, int rows, const TokenMatrix& tokens, float* wide, float* y,
                    std::int64_t y_stride, RowsAhead& rows_ahead) {
    const int size = tokens.state_size();
    if (tokens.as_rows()) {
        if (states.type == ElementType::fp32) {
            multiply_few_tokens(static_cast<const float*>(states.data) + first, rows, size, tokens.rows(), tokens.tokens(), y,
                                y_stride, rows_ahead, has_wide_registers());
        } else {
            multiply_few_tokens(static_cast<const Bf16*>(states.data) + first, rows, size, tokens.rows(), tokens.tokens(), y,
                                y_stride, rows_ahead, has_wide_registers());
        }
        return;
    }
    // The first group of tokens brings a block of rows from memory; it is in the nearest cache for the others.
    const auto element_bytes = static_cast<int>(bytes_of(states.type));
    Ahead ahead(static_cast<const char*>(states.data) + first * element_bytes, rows_ahead);
    for (int row = 0; row < rows; row += block_rows) {
        const std::int64_t begin = first + std::int64_t{row} * size;
        const float* block = view({states.data, states.type, 0}, 0, begin, std::int64_t{block_rows} * size, wide);
        for (int token = 0; token < tokens.tokens(); token += tokens.lanes(token)) {
            const GroupOfTokens group{tokens.group(token), tokens.lanes(token),
                                      std::min(tokens.lanes(token), tokens.tokens() - token)};
            multiply_block_with_group(block, size, group, y + token * y_stride + row, y_stride, ahead,
                                      token == 0 ? element_bytes : 0, has_wide_registers());
        }
    }
}

}  // namespace treeline::kernels::cpu
