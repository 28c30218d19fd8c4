// Vectors of 8 and 16 floats (the vector extension of GCC and Clang), which the compiler maps to whatever registers there are,
// and what the kernels over states do with them: as plain loops their sums would not stay in registers.
//
// All is inlined into functions compiled for several instruction sets (cpu/instruction_sets.h), and vectors are passed by
// reference: passed by value they would be part of a calling convention that differs between those.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/element.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace treeline::kernels::cpu {

using Vector8 [[gnu::vector_size(32)]] = float;
using Vector16 [[gnu::vector_size(64)]] = float;

/// Which lanes of two vectors (those of the second count on) a merged one has. Part of a type, since compilers permute vectors
/// by constants alone.
template <int... lanes>
struct Pick {};

template <class Vector, int... lanes>
[[gnu::always_inline]] inline void merge(Vector& to, const Vector& first, const Vector& second, Pick<lanes...>) {
    to = __builtin_shufflevector(first, second, lanes...);
}
/// The sum of two merged vectors.
template <class Vector, int... lanes, int... others>
[[gnu::always_inline]] inline void merge_sum(Vector& to, const Vector& first, const Vector& second, Pick<lanes...>,
                                             Pick<others...>) {
    to = __builtin_shufflevector(first, second, lanes...) + __builtin_shufflevector(first, second, others...);
}

/// Integers of as many lanes, and how two vectors are merged.
template <class Vector>
struct Lanes;

template <>
struct Lanes<Vector8> {
    using Words [[gnu::vector_size(32)]] = std::uint32_t;
    using Halves [[gnu::vector_size(16)]] = std::uint16_t;
    static constexpr int count = 8;
    using Low = Pick<0, 8, 1, 9, 4, 12, 5, 13>;
    using High = Pick<2, 10, 3, 11, 6, 14, 7, 15>;
    using LowPairs = Pick<0, 1, 8, 9, 4, 5, 12, 13>;
    using HighPairs = Pick<2, 3, 10, 11, 6, 7, 14, 15>;
    using FirstHalf = Pick<0, 1, 2, 3, 8, 9, 10, 11>;
    using SecondHalf = Pick<4, 5, 6, 7, 12, 13, 14, 15>;
};

template <>
struct Lanes<Vector16> {
    using Words [[gnu::vector_size(64)]] = std::uint32_t;
    using Halves [[gnu::vector_size(32)]] = std::uint16_t;
    static constexpr int count = 16;
    using Low = Pick<0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29>;
    using High = Pick<2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31>;
    using LowPairs = Pick<0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29>;
    using HighPairs = Pick<2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31>;
    using FirstHalf = Pick<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23>;
    using SecondHalf = Pick<8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31>;
    using EvenQuarters = Pick<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>;
    using OddQuarters = Pick<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>;
};

// Rows begin anywhere: these become unaligned loads and stores.
template <class Vector>
[[gnu::always_inline]] inline void load_vector(Vector& to, const float* from) {
    std::memcpy(&to, from, sizeof(Vector));
}

/// Words of 16 bits: those of a Vector16, every other of which is the upper half of a float.
using Halves32 [[gnu::vector_size(64)]] = std::uint16_t;

template <class Vector>
[[gnu::always_inline]] inline void load_vector(Vector& to, const Bf16* from) {
    typename Lanes<Vector>::Halves halves;
    std::memcpy(&halves, from, sizeof(halves));
    to = reinterpret_cast<Vector>(__builtin_convertvector(halves, typename Lanes<Vector>::Words) << 16);
}

/// `count` vectors, one after another in memory.
template <int count, class Vector, class Element>
[[gnu::always_inline]] inline void load_vectors(Vector (&to)[count], const Element* from) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
        load_vector(to[i], from + i * Lanes<Vector>::count);
    }
}
/// The conversion from 16 to 32 bits is one instruction for Vector8, but many for Vector16 (GCC 12), for which a permutation of
/// words is one. That takes whole vectors of them: pairs.
template <int count>
[[gnu::always_inline]] inline void load_vectors(Vector16 (&to)[count], const Bf16* from) {
    if constexpr (count == 1) {
        load_vector(to[0], from);
    } else {
        using First = Pick<32, 0, 32, 1, 32, 2, 32, 3, 32, 4, 32, 5, 32, 6, 32, 7, 32, 8, 32, 9, 32, 10, 32, 11, 32, 12, 32, 13,
                           32, 14, 32, 15>;
        using Second = Pick<32, 16, 32, 17, 32, 18, 32, 19, 32, 20, 32, 21, 32, 22, 32, 23, 32, 24, 32, 25, 32, 26, 32, 27, 32,
                            28, 32, 29, 32, 30, 32, 31>;
        static_assert(count % 2 == 0);
#pragma GCC unroll 4
        for (int i = 0; i < count; i += 2) {
            Halves32 halves;
            std::memcpy(&halves, from + 16 * i, sizeof(halves));
            Halves32 words;
            merge(words, halves, Halves32{}, First());
            to[i] = reinterpret_cast<Vector16>(words);
            merge(words, halves, Halves32{}, Second());
            to[i + 1] = reinterpret_cast<Vector16>(words);
        }
    }
}

/// The upper halves of the words become the floats rounded as to_bf16() does.
template <class Vector>
[[gnu::always_inline]] inline void round_to_upper_half(typename Lanes<Vector>::Words& to, const Vector& from) {
    using Words = typename Lanes<Vector>::Words;
    const auto bits = reinterpret_cast<Words>(from);
    const Words rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
    to = from == from ? rounded : (bits | 0x400000U);
}
[[gnu::always_inline]] inline void narrow_vector(Lanes<Vector8>::Halves& to, const Vector8& from) {
    Lanes<Vector8>::Words words;
    round_to_upper_half(words, from);
    to = __builtin_convertvector(words >> 16, Lanes<Vector8>::Halves);
}
[[gnu::always_inline]] inline void narrow_vector(Lanes<Vector16>::Halves& to, const Vector16& from) {
    using Upper = Pick<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25,
                       27, 29, 31>;
    Lanes<Vector16>::Words words;
    round_to_upper_half(words, from);
    const auto both = reinterpret_cast<Halves32>(words);
    Halves32 halves;
    merge(halves, both, both, Upper());
    std::memcpy(&to, &halves, sizeof(to));
}

template <class Vector>
[[gnu::always_inline]] inline void store_vector(float* to, const Vector& from) {
    std::memcpy(to, &from, sizeof(Vector));
}
template <class Vector>
[[gnu::always_inline]] inline void store_vector(Bf16* to, const Vector& from) {
    typename Lanes<Vector>::Halves halves;
    narrow_vector(halves, from);
    std::memcpy(static_cast<void*>(to), &halves, sizeof(halves));
}

/// Stores past the caches where the processor can; `to` is aligned to 16 bytes. end_streams() waits for the end of many.
template <class Value>
[[gnu::always_inline]] inline void stream_bytes(void* to, const Value& from) {
#if defined(__SSE2__)
    constexpr std::size_t parts = sizeof(Value) / sizeof(__m128i);
    __m128i values[parts];
    std::memcpy(values, &from, sizeof(Value));
#pragma GCC unroll 4
    for (std::size_t i = 0; i < parts; ++i) {
        _mm_stream_si128(static_cast<__m128i*>(to) + i, values[i]);
    }
#else
    std::memcpy(to, &from, sizeof(Value));
#endif
}
template <class Vector>
[[gnu::always_inline]] inline void stream_vector(float* to, const Vector& from) {
    stream_bytes(to, from);
}
template <class Vector>
[[gnu::always_inline]] inline void stream_vector(Bf16* to, const Vector& from) {
    typename Lanes<Vector>::Halves halves;
    narrow_vector(halves, from);
    stream_bytes(to, halves);
}
inline void end_streams() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/// Part i (four lanes) of `to` holds the sums of part i of each of four vectors.
template <class Vector>
[[gnu::always_inline]] inline void sum_parts(Vector& to, const Vector (&of)[4]) {
    using Of = Lanes<Vector>;
    Vector ab, cd;
    merge_sum(ab, of[0], of[1], typename Of::Low(), typename Of::High());
    merge_sum(cd, of[2], of[3], typename Of::Low(), typename Of::High());
    merge_sum(to, ab, cd, typename Of::LowPairs(), typename Of::HighPairs());
}

/// What sum_parts() left of four times four vectors becomes their 16 sums.
[[gnu::always_inline]] inline void add_parts(float* sums, const Vector16 (&of)[4]) {
    using Of = Lanes<Vector16>;
    Vector16 ab, cd, all;
    merge_sum(ab, of[0], of[1], Of::FirstHalf(), Of::SecondHalf());
    merge_sum(cd, of[2], of[3], Of::FirstHalf(), Of::SecondHalf());
    merge_sum(all, ab, cd, Of::EvenQuarters(), Of::OddQuarters());
    store_vector(sums, all);
}
[[gnu::always_inline]] inline void add_parts(float* sums, const Vector8 (&of)[4]) {
    using Of = Lanes<Vector8>;
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        Vector8 pair;
        merge_sum(pair, of[i], of[i + 1], Of::FirstHalf(), Of::SecondHalf());
        store_vector(sums + 4 * i, pair);
    }
}

/// to[j][i] = from[i][j] for 8 x 8 floats, rows so many apart.
[[gnu::always_inline]] inline void transpose_tile(const float* from, std::int64_t from_stride, float* to,
                                                  std::int64_t to_stride) {
    using Of = Lanes<Vector8>;
    Vector8 rows[8], pairs[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
        load_vector(rows[i], from + i * from_stride);
    }
    // Pairs of rows, then of pairs, then of quarters are interleaved within halves of a vector.
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        merge(pairs[i], rows[i], rows[i + 1], Of::Low());
        merge(pairs[i + 1], rows[i], rows[i + 1], Of::High());
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        merge(rows[i], pairs[i], pairs[i + 2], Of::LowPairs());
        merge(rows[i + 1], pairs[i], pairs[i + 2], Of::HighPairs());
        merge(rows[i + 2], pairs[i + 1], pairs[i + 3], Of::LowPairs());
        merge(rows[i + 3], pairs[i + 1], pairs[i + 3], Of::HighPairs());
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        Vector8 low, high;
        merge(low, rows[i], rows[i + 4], Of::FirstHalf());
        merge(high, rows[i], rows[i + 4], Of::SecondHalf());
        store_vector(to + i * to_stride, low);
        store_vector(to + (i + 4) * to_stride, high);
    }
}

}  // namespace treeline::kernels::cpu
