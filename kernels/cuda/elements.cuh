// Elements of memory as floats, and sums over a warp or a block.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

__device__ inline float get(const float* data, std::int64_t at) { return data[at]; }
__device__ inline float get(const Bf16* data, std::int64_t at) {
    return __uint_as_float(static_cast<unsigned>(data[at].bits) << 16);
}
__device__ inline void put(float* data, std::int64_t at, float value) { data[at] = value; }
__device__ inline void put(Bf16* data, std::int64_t at, float value) {
    data[at].bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

/// Two neighbours in bf16, the first in the lower half of a word.
__device__ inline unsigned round_pair(float first, float second) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return static_cast<unsigned>(__bfloat16_as_ushort(pair.x)) | static_cast<unsigned>(__bfloat16_as_ushort(pair.y)) << 16;
}
__device__ inline float lower_half(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float upper_half(unsigned pair) { return __uint_as_float(pair & 0xffff0000U); }

/// Four neighbours at once; `at` is a multiple of 4 and the array aligned to 16 bytes.
__device__ inline float4 get4(const float* data, std::int64_t at) { return *reinterpret_cast<const float4*>(data + at); }
__device__ inline float4 get4(const Bf16* data, std::int64_t at) {
    const uint2 pair = *reinterpret_cast<const uint2*>(data + at);
    return make_float4(lower_half(pair.x), upper_half(pair.x), lower_half(pair.y), upper_half(pair.y));
}
__device__ inline void put4(float* data, std::int64_t at, float4 value) { *reinterpret_cast<float4*>(data + at) = value; }
__device__ inline void put4(Bf16* data, std::int64_t at, float4 value) {
    *reinterpret_cast<uint2*>(data + at) = make_uint2(round_pair(value.x, value.y), round_pair(value.z, value.w));
}
/// 1, 4 or 8 neighbours, 16 bytes at a time where they are so many; 4 and 8 are aligned as for get4, 8 of bf16 to 16 bytes.
template <class Element, int Count>
__device__ void get_neighbours(const Element* data, std::int64_t at, float (&values)[Count]) {
    if constexpr (Count == 1) {
        values[0] = get(data, at);
    } else if constexpr (Count == 8 && sizeof(Element) == 2) {
        const uint4 eight = *reinterpret_cast<const uint4*>(data + at);
        const unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            values[2 * i] = lower_half(pairs[i]);
            values[2 * i + 1] = upper_half(pairs[i]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < Count; i += 4) {
            const float4 four = get4(data, at + i);
            values[i] = four.x;
            values[i + 1] = four.y;
            values[i + 2] = four.z;
            values[i + 3] = four.w;
        }
    }
}
template <class Element, int Count>
__device__ void put_neighbours(Element* data, std::int64_t at, const float (&values)[Count]) {
    if constexpr (Count == 1) {
        put(data, at, values[0]);
    } else if constexpr (Count == 8 && sizeof(Element) == 2) {
        *reinterpret_cast<uint4*>(data + at) = make_uint4(round_pair(values[0], values[1]), round_pair(values[2], values[3]),
                                                          round_pair(values[4], values[5]), round_pair(values[6], values[7]));
    } else {
#pragma unroll
        for (int i = 0; i < Count; i += 4) {
            put4(data, at + i, make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]));
        }
    }
}

/// Rows with their element type.
template <class Element>
struct Matrix {
    Element* data;
    std::int64_t stride;

    __device__ Element* row(std::int64_t number) const { return data + number * stride; }
    __device__ explicit operator bool() const { return data != nullptr; }
};

/// Whether pieces of 16 bytes of all rows can be read at once; also of rows that are not there.
inline bool is_aligned(ConstRows rows) {
    return reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 &&
           static_cast<std::size_t>(rows.stride) * bytes_of(rows.type) % 16 == 0;
}

template <class Element>
Matrix<const Element> typed(ConstRows rows) {
    return {static_cast<const Element*>(rows.data), rows.stride};
}
template <class Element>
Matrix<Element> typed(Rows rows) {
    return {static_cast<Element*>(rows.data), rows.stride};
}

/// Calls `use` with a value of the C++ type of an element type: one instance of a kernel for each.
template <class Use>
void with_type(ElementType type, Use use) {
    if (type == ElementType::bf16) {
        use(Bf16{});
    } else if (type == ElementType::fp32) {
        use(float{});
    } else {
        throw std::invalid_argument("this kernel takes fp32 and bf16 only");
    }
}

__device__ inline float sigmoid(float value) { return 1.0F / (1.0F + expf(-value)); }
__device__ inline float silu(float value) { return value / (1.0F + expf(-value)); }

/// Over the aligned groups of `lanes` (a power of 2) threads of a warp; every thread gets the sum.
__device__ inline float sum_over_lanes(float value, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, distance);
    }
    return value;
}

__device__ inline float largest_over_lanes(float value, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, distance));
    }
    return value;
}

/// Over a block of up to 1024 threads, whole warps; every thread gets the sum. All threads must call it.
__device__ inline float sum_over_block(float value) {
    __shared__ float of_warp[32];
    value = sum_over_lanes(value, 32);
    __syncthreads();  // an earlier call's readers are done
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return sum_over_lanes(threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : 0.0F, 32);
}

__device__ inline float largest_over_block(float value) {
    __shared__ float of_warp[32];
    value = largest_over_lanes(value, 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return largest_over_lanes(threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : -INFINITY, 32);
}

/// Threads of a block that walks along a row of so many elements: eight elements a thread, so that few rows have loads enough
/// in flight, in whole warps.
inline unsigned threads_along(std::int64_t elements) {
    constexpr std::int64_t of_a_thread = 8, fewest = 128, most = 1024, warp = 32;
    const std::int64_t wanted = (elements + of_a_thread * warp - 1) / (of_a_thread * warp) * warp;
    return static_cast<unsigned>(wanted < fewest ? fewest : wanted > most ? most : wanted);
}

inline unsigned blocks_for(std::int64_t items, std::int64_t per_block) {
    return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace treeline::kernels::cuda
