// What kernels use of CUDA's language: keywords, vector types, places in the grid, and functions of the device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
// The library of the kernels has no other thread-local variables, so its thread-local storage is the block's shared memory.
#define __shared__ static thread_local

struct uint2 {
    unsigned x, y;
} __attribute__((aligned(8)));
struct uint3 {
    unsigned x, y, z;
};
struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16)));
struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16)));
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// The emulation sets them whenever it turns to another thread; for that thread they are constants.
extern const uint3 threadIdx, blockIdx;
extern const uint3 blockDim, gridDim;

namespace emulation {

enum class Collective : std::uint8_t { shuffle_xor, shuffle_up, ballot, product };

void barrier(int line);
/// What a lane gets of the values that the lanes of `mask` bring.
std::uint32_t collective(Collective kind, std::uint32_t mask, std::uint32_t value, unsigned distance, int line);

/// A lane's part of the matrices of mma.m16n8k16 (kernels/cuda/warp_product.cuh).
struct Fragment {
    std::uint32_t a[4], b[2];
    float sum[4];
};
/// Takes all lanes of a warp.
void warp_product(Fragment& fragment, int line);

/// Copies of 16 bytes that the running thread has started, the oldest first; whether there was one to take.
void note_copy(void* to, const void* from);
bool take_copy(void*& to, const void*& from);

enum class Atomic : std::uint8_t { add, smaller, larger };
void atomic(Atomic kind, unsigned* at, unsigned value);
void atomic(Atomic kind, int* at, int value);

/// A flag in any device's memory, and a thread that waits until it has come to the value; whoever never gets there ends the
/// launch with a sentence.
void raise_flag(unsigned* flag, unsigned value);
void await_flag(const unsigned* flag, unsigned value, int line);

void* dynamic_shared_memory();

}  // namespace emulation

#define __syncthreads() ::emulation::barrier(__LINE__)
#define __shfl_xor_sync(mask, value, distance) ::emulation::shuffle_xor(mask, value, distance, __LINE__)
#define __shfl_up_sync(mask, value, distance) ::emulation::shuffle_up(mask, value, distance, __LINE__)
#define __ballot_sync(mask, predicate) \
    ::emulation::collective(::emulation::Collective::ballot, mask, (predicate) ? 1U : 0U, 0, __LINE__)

namespace emulation {

template <class Value>
Value shuffle_xor(std::uint32_t mask, Value value, int distance, int line) {
    return std::bit_cast<Value>(
        collective(Collective::shuffle_xor, mask, std::bit_cast<std::uint32_t>(value), static_cast<unsigned>(distance), line));
}
template <class Value>
Value shuffle_up(std::uint32_t mask, Value value, unsigned distance, int line) {
    return std::bit_cast<Value>(collective(Collective::shuffle_up, mask, std::bit_cast<std::uint32_t>(value), distance, line));
}

}  // namespace emulation

inline void atomicAdd(unsigned* at, unsigned value) { emulation::atomic(emulation::Atomic::add, at, value); }
inline void atomicMax(int* at, int value) { emulation::atomic(emulation::Atomic::larger, at, value); }
inline void atomicMin(int* at, int value) { emulation::atomic(emulation::Atomic::smaller, at, value); }

inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
/// Byte i of the result is the one that digit i of `selector` numbers: 0 to 3 of the first word, 4 to 7 of the second.
inline unsigned __byte_perm(unsigned first, unsigned second, unsigned selector) {
    const std::uint64_t both = std::uint64_t{second} << 32 | first;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        result |= static_cast<unsigned>(both >> (selector >> 4 * i & 7U) * 8 & 0xffU) << 8 * i;
    }
    return result;
}
inline float __expf(float value) { return expf(value); }
inline float __fdividef(float value, float by) { return value / by; }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float rsqrtf(float value) { return 1.0F / sqrtf(value); }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
