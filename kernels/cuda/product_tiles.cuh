// Tiles of matrices in shared memory, and their fragments for tensor cores. A tile keeps its elements as they are in memory;
// fragments are bf16, fp32 as the sum of two. Pieces of 16 bytes are swapped within a row such that the eight threads whose
// pieces leave shared memory together read all 32 banks once.
#pragma once

#include "kernels/cuda/async_copy.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/warp_product.cuh"

namespace treeline::kernels::cuda {

/// bf16 numbers that an element is the sum of: an fp32 of `MostParts`, each of which leaves 2^-9 of it.
template <class Element, int MostParts>
constexpr int parts_of = sizeof(Element) == 2 ? 1 : MostParts;

template <class Element>
constexpr int elements_of_piece = 16 / static_cast<int>(sizeof(Element));

/// Two neighbours along the inner dimension of a product, the first in the lower halves.
template <int Parts>
struct Pair {
    unsigned part[Parts];
};

template <int Parts>
__device__ Pair<Parts> split(float first, float second) {
    Pair<Parts> pair;
#pragma unroll
    for (int i = 0; i < Parts; ++i) {
        pair.part[i] = round_pair(first, second);
        first -= lower_half(pair.part[i]);
        second -= upper_half(pair.part[i]);
    }
    return pair;
}

/// sum += a b of all parts but those products that are as small as what the parts leave.
template <int LeftParts, int RightParts>
__device__ void multiply_add(float (&sum)[4], const Pair<LeftParts> (&a)[4], const Pair<RightParts>& b0,
                             const Pair<RightParts>& b1) {
#pragma unroll
    for (int i = 0; i < LeftParts; ++i) {
        const unsigned left[4] = {a[0].part[i], a[1].part[i], a[2].part[i], a[3].part[i]};
#pragma unroll
        for (int j = 0; j < RightParts; ++j) {
            if (i + j < (LeftParts > RightParts ? LeftParts : RightParts)) {
                const unsigned right[2] = {b0.part[j], b1.part[j]};
                multiply_add(sum, left, right);
            }
        }
    }
}

/// Eight neighbours in memory.
template <class Element>
struct Eight {
    uint4 pieces[8 / elements_of_piece<Element>];

    __device__ void to_floats(float (&values)[8]) const {
        if constexpr (sizeof(Element) == 2) {
            const unsigned words[4] = {pieces[0].x, pieces[0].y, pieces[0].z, pieces[0].w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                values[2 * i] = lower_half(words[i]);
                values[2 * i + 1] = upper_half(words[i]);
            }
        } else {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                values[4 * i] = __uint_as_float(pieces[i].x);
                values[4 * i + 1] = __uint_as_float(pieces[i].y);
                values[4 * i + 2] = __uint_as_float(pieces[i].z);
                values[4 * i + 3] = __uint_as_float(pieces[i].w);
            }
        }
    }
    template <int Parts>
    __device__ void to_pairs(Pair<Parts> (&pairs)[4]) const {
        if constexpr (Parts == 1) {
            pairs[0].part[0] = pieces[0].x;
            pairs[1].part[0] = pieces[0].y;
            pairs[2].part[0] = pieces[0].z;
            pairs[3].part[0] = pieces[0].w;
        } else {
            float values[8];
            to_floats(values);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                pairs[i] = split<Parts>(values[2 * i], values[2 * i + 1]);
            }
        }
    }
};

/// 16 bytes, however they are aligned.
template <class Element>
__device__ uint4 gather_piece(const Element* from) {
    if constexpr (sizeof(Element) == 2) {
        const auto pair = [&](int at) {
            return static_cast<unsigned>(from[at].bits) | static_cast<unsigned>(from[at + 1].bits) << 16;
        };
        return make_uint4(pair(0), pair(2), pair(4), pair(6));
    } else {
        return make_uint4(__float_as_uint(from[0]), __float_as_uint(from[1]), __float_as_uint(from[2]),
                          __float_as_uint(from[3]));
    }
}

template <class Element>
__device__ Eight<Element> read_eight(const Element* from, bool aligned) {
    Eight<Element> eight;
#pragma unroll
    for (int i = 0; i < 8 / elements_of_piece<Element>; ++i) {
        const Element* piece = from + i * elements_of_piece<Element>;
        eight.pieces[i] = aligned ? *reinterpret_cast<const uint4*>(piece) : gather_piece(piece);
    }
    return eight;
}

template <class Element>
__device__ void write_eight(Element* to, const float (&values)[8], bool aligned) {
    if (aligned) {
        put_neighbours(to, 0, values);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        put(to, i, values[i]);
    }
}

/// Starts to bring a piece into a tile; zeros from null.
template <class Element>
__device__ void fetch_piece(uint4* to, const Element* from, bool aligned) {
    if (from != nullptr && aligned) {
        start_copy(to, from);
    } else {
        *to = from != nullptr ? gather_piece(from) : make_uint4(0, 0, 0, 0);
    }
}

/// Rows along the inner dimension of a product, of either side.
template <class Element, int Columns>
struct RowTile {
    static constexpr int pieces_of_row = Columns / elements_of_piece<Element>;
    uint4* data;

    __device__ uint4* piece(int row, int number) const {
        return data + row * pieces_of_row + (number ^ (row & 1) * (sizeof(Element) == 2 ? 4 : 1));
    }
    /// Columns 8 number … + 7.
    __device__ Eight<Element> eight(int row, int number) const {
        Eight<Element> result;
        constexpr int count = 8 / elements_of_piece<Element>;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            result.pieces[i] = *piece(row, number * count + i);
        }
        return result;
    }
};

/// Rows of `Columns` = 64 across the inner dimension of a product, whose right side it is.
template <class Element>
struct ColumnTile {
    static constexpr int columns = 64, pieces_of_row = columns / elements_of_piece<Element>;
    uint4* data;

    __device__ uint4* piece(int row, int number) const {
        const int pair = row >> 1 & 3, odd = row & 1;
        const int place = sizeof(Element) == 2 ? number ^ pair ^ 4 * odd : number ^ 2 * pair ^ odd ^ number >> 3;
        return data + row * pieces_of_row + place;
    }
    __device__ Eight<Element> eight(int row, int number) const {
        Eight<Element> result;
        constexpr int count = 8 / elements_of_piece<Element>;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            result.pieces[i] = *piece(row, number * count + i);
        }
        return result;
    }
    /// Rows row and row + 1 in the columns of a piece.
    template <int Parts>
    __device__ void pairs(int row, int number, Pair<Parts> (&pairs)[elements_of_piece<Element>]) const {
        const uint4 first = *piece(row, number), second = *piece(row + 1, number);
        const unsigned a[4] = {first.x, first.y, first.z, first.w}, b[4] = {second.x, second.y, second.z, second.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if constexpr (Parts == 1) {
                pairs[2 * i].part[0] = __byte_perm(a[i], b[i], 0x5410);
                pairs[2 * i + 1].part[0] = __byte_perm(a[i], b[i], 0x7632);
            } else {
                pairs[i] = split<Parts>(__uint_as_float(a[i]), __uint_as_float(b[i]));
            }
        }
    }
};

/// sum[n] += rows first_row … + 15 of `left` times rows 8 n … + 7 of `right`, n below `count`, for a warp. The inner dimension
/// is taken in the order in which threads read 16 bytes and more: of 32 columns a thread has 8 neighbours.
template <int MostParts, class Left, class Right, int Columns>
__device__ void multiply_rows(RowTile<Left, Columns> left, int first_row, RowTile<Right, Columns> right, int count,
                              float (&sum)[8][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, quad = lane % 4;
#pragma unroll 1
    for (int window = 0; window < Columns / 32; ++window) {
        Pair<parts_of<Left, MostParts>> upper[4], lower[4];
        left.eight(first_row + group, 4 * window + quad).to_pairs(upper);
        left.eight(first_row + group + 8, 4 * window + quad).to_pairs(lower);
        const Pair<parts_of<Left, MostParts>> first[4] = {upper[0], lower[0], upper[1], lower[1]};
        const Pair<parts_of<Left, MostParts>> second[4] = {upper[2], lower[2], upper[3], lower[3]};
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            if (n < count) {
                Pair<parts_of<Right, MostParts>> of_right[4];
                right.eight(8 * n + group, 4 * window + quad).to_pairs(of_right);
                multiply_add(sum[n], first, of_right[0], of_right[1]);
                multiply_add(sum[n], second, of_right[2], of_right[3]);
            }
        }
    }
}

}  // namespace treeline::kernels::cuda
