#include "kernels/cpu/vector_tokens.h"

#include <cstring>

#include "kernels/cpu/instruction_sets.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace treeline::kernels::cpu {
namespace {

using Vector8 [[gnu::vector_size(32)]] = float;
using Vector16 [[gnu::vector_size(64)]] = float;

// Rows begin anywhere: these become unaligned loads and stores.
template <class Vector>
[[gnu::always_inline]] inline void load_vector(Vector& to, const float* from) {
    std::memcpy(&to, from, sizeof(Vector));
}
template <class Vector>
[[gnu::always_inline]] inline void store_vector(float* to, const Vector& from) {
    std::memcpy(to, &from, sizeof(Vector));
}

constexpr int line = 64;  ///< bytes of a cache line
constexpr int step = 16;  ///< elements of a row between two requests for memory

/// `block` rows of a state against one vector of tokens: `block` independent sums hide the latency of multiply-adds, and a
/// vector of tokens is loaded once for all of them. Meanwhile `ahead` is asked for, `lines` lines a step: all at once would
/// fill the queues of the memory and stop the products.
template <class Vector, int block>
[[gnu::always_inline]] inline void multiply_block(const float* state, int size, const float* tokens, int padded,
                                                  float* products, const char* ahead, int lines) {
    Vector sums[block] = {};
    for (int first = 0; first < size; first += step) {
        for (int i = 0; i < lines; ++i) {
            __builtin_prefetch(ahead);
            ahead += line;
        }
        for (int n = first; n < first + step; ++n) {
            Vector of_tokens;
            load_vector(of_tokens, tokens + std::int64_t{n} * padded);
#pragma GCC unroll 8
            for (int row = 0; row < block; ++row) {
                sums[row] += state[std::int64_t{row} * size + n] * of_tokens;
            }
        }
    }
#pragma GCC unroll 8
    for (int row = 0; row < block; ++row) {
        store_vector(products + std::int64_t{row} * padded, sums[row]);
    }
}

/// `vectors` times 16 elements of a row, in registers over all tokens.
template <int vectors>
[[gnu::always_inline]] inline void advance_part(const float* from, float* to, int size, float decay, const float* weights,
                                                const float* b, int count) {
    Vector16 sums[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
        load_vector(sums[i], from + 16 * i);
        sums[i] *= decay;
    }
    for (int token = 0; token < count; ++token) {
        const float weight = weights[token];
        const float* row = b + std::int64_t{token} * size;
#pragma GCC unroll 4
        for (int i = 0; i < vectors; ++i) {
            Vector16 of_row;
            load_vector(of_row, row + 16 * i);
            sums[i] += weight * of_row;
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
        store_vector(to + 16 * i, sums[i]);
    }
}

}  // namespace

void transpose_tokens(const float* from, int tokens, int size, float* to) {
    const int padded = padded_tokens(tokens);
    for (int n = 0; n < size; ++n) {
        float* row = to + std::int64_t{n} * padded;
        for (int token = 0; token < tokens; ++token) {
            row[token] = from[std::int64_t{token} * size + n];
        }
        for (int token = tokens; token < padded; ++token) {
            row[token] = 0.0F;
        }
    }
}

TREELINE_VECTORISED void multiply_rows_with_tokens(const float* state, int rows, int size, const float* tokens, int count,
                                                   float* products, float* y, std::int64_t y_stride, Ahead ahead) {
    const int padded = padded_tokens(count);
    const int rows_at_once = padded == 8 ? 8 : 4;
    const int lines = rows_at_once * step * ahead.element_bytes / line;
    const char* next = static_cast<const char*>(ahead.from);
    for (int row = 0; row < rows; row += rows_at_once) {
        const float* block = state + std::int64_t{row} * size;
        if (padded == 8) {
            multiply_block<Vector8, 8>(block, size, tokens, padded, products + row * padded, next, lines);
        } else {
            for (int first = 0; first < padded; first += 16) {
                multiply_block<Vector16, 4>(block, size, tokens + first, padded, products + row * padded + first, next,
                                            first == 0 ? lines : 0);
            }
        }
        next += std::int64_t{rows_at_once} * size * ahead.element_bytes;
    }
    for (int token = 0; token < count; ++token) {
        for (int row = 0; row < rows; ++row) {
            y[token * y_stride + row] = products[row * padded + token];
        }
    }
}

TREELINE_VECTORISED void advance_rows_over_tokens(const float* from, float* to, int rows, int size, float decay,
                                                  const float* weights, const float* b, int count) {
    for (int row = 0; row < rows; ++row) {
        const float* source = from + std::int64_t{row} * size;
        float* target = to + std::int64_t{row} * size;
        int n = 0;
        for (; n + 64 <= size; n += 64) {
            advance_part<4>(source + n, target + n, size, decay, weights + row * count, b + n, count);
        }
        for (; n < size; n += 16) {
            advance_part<1>(source + n, target + n, size, decay, weights + row * count, b + n, count);
        }
    }
}

void stream_block(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
    auto* out = static_cast<__m128i*>(to);
    const auto* in = static_cast<const __m128i*>(from);
    for (std::size_t i = 0; i < bytes / 16; ++i) {
        _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
    }
#else
    std::memcpy(to, from, bytes);
#endif
}

void end_streams() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace treeline::kernels::cpu
