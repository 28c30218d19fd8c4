// Rows moved by index, the bandwidth probes and the empty kernel.
#include <algorithm>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 256;
constexpr int vectors_of_thread = 4;  // of 16 bytes, in flight together

/// blockIdx = (row, part of the row); strides and width in words, of 4 or of 16 bytes.
template <class Word>
__global__ void __launch_bounds__(threads)
    gather_kernel(std::int64_t width, const Word* from, std::int64_t from_stride, const int* from_row, Word* to,
                  std::int64_t to_stride, const int* to_row) {
    const int row = static_cast<int>(blockIdx.x);
    const std::int64_t source = from_row != nullptr ? from_row[row] : row, target = to_row != nullptr ? to_row[row] : row;
    if (source < 0 || target < 0) {
        return;
    }
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * threads * vectors_of_thread + threadIdx.x;
    Word words[vectors_of_thread];
#pragma unroll
    for (int i = 0; i < vectors_of_thread; ++i) {
        if (first + i * threads < width) {
            words[i] = from[source * from_stride + first + i * threads];
        }
    }
#pragma unroll
    for (int i = 0; i < vectors_of_thread; ++i) {
        if (first + i * threads < width) {
            to[target * to_stride + first + i * threads] = words[i];
        }
    }
}

/// The thread's vectors: `vectors_of_thread` of them a block's width apart.
__device__ inline std::int64_t vector_at(int i) {
    return (static_cast<std::int64_t>(blockIdx.x) * vectors_of_thread + i) * threads + threadIdx.x;
}

__device__ inline unsigned warp_sum(unsigned words) {
    for (int distance = 16; distance > 0; distance /= 2) {
        words += __shfl_xor_sync(0xffffffffU, words, distance);
    }
    return words;
}

/// Blocks walk over the memory side by side and add to the sum once each: thousands of additions to one address would take
/// longer than the memory.
__global__ void __launch_bounds__(threads) read_kernel(const uint4* from, std::int64_t vectors, unsigned* sum) {
    __shared__ unsigned parts[threads / 32];
    unsigned words = 0;
    const std::int64_t of_block = std::int64_t{threads} * vectors_of_thread;
    for (std::int64_t first = blockIdx.x * of_block; first < vectors; first += gridDim.x * of_block) {
        uint4 values[vectors_of_thread];
#pragma unroll
        for (int i = 0; i < vectors_of_thread; ++i) {
            const std::int64_t at = first + i * threads + threadIdx.x;
            values[i] = at < vectors ? from[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < vectors_of_thread; ++i) {
            words += values[i].x + values[i].y + values[i].z + values[i].w;
        }
    }
    words = warp_sum(words);
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = words;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        words = warp_sum(threadIdx.x < threads / 32 ? parts[threadIdx.x] : 0);
        if (threadIdx.x == 0) {
            atomicAdd(sum, words);
        }
    }
}

__global__ void __launch_bounds__(threads) write_kernel(uint4* to, std::int64_t vectors, unsigned word) {
#pragma unroll
    for (int i = 0; i < vectors_of_thread; ++i) {
        if (vector_at(i) < vectors) {
            to[vector_at(i)] = make_uint4(word, word, word, word);
        }
    }
}

__global__ void __launch_bounds__(threads) copy_kernel(uint4* to, const uint4* from, std::int64_t vectors) {
    uint4 values[vectors_of_thread];
#pragma unroll
    for (int i = 0; i < vectors_of_thread; ++i) {
        values[i] = vector_at(i) < vectors ? from[vector_at(i)] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < vectors_of_thread; ++i) {
        if (vector_at(i) < vectors) {
            to[vector_at(i)] = values[i];
        }
    }
}

__global__ void empty_kernel() {}

LaunchShape shape_for(std::size_t bytes) {
    return {dim3(blocks_for(static_cast<std::int64_t>(bytes / 16), threads * vectors_of_thread)), threads};
}

/// As many blocks of the read probe as the device runs at once, unless fewer cover the memory.
LaunchShape walking_shape(std::size_t bytes) {
    const int at_once = std::max(1, blocks_at_once("read probe", read_kernel, threads, 0));
    LaunchShape shape = shape_for(bytes);
    shape.blocks.x = std::min(shape.blocks.x, static_cast<unsigned>(at_once) * multiprocessors());
    return shape;
}

bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

template <class Word>
void gather_words(const GatherRows& gather, Queue queue) {
    const auto words = [&](std::int64_t elements) {
        return elements * static_cast<std::int64_t>(bytes_of(gather.from.type)) / static_cast<std::int64_t>(sizeof(Word));
    };
    const dim3 blocks(static_cast<unsigned>(gather.rows), blocks_for(words(gather.width), threads * vectors_of_thread));
    launch("gather rows", gather_kernel<Word>, {blocks, threads}, queue, words(gather.width),
           static_cast<const Word*>(gather.from.data), words(gather.from.stride), gather.from_row,
           static_cast<Word*>(gather.to.data), words(gather.to.stride), gather.to_row);
}

}  // namespace

void gather_rows(const GatherRows& gather, Queue queue) {
    check(gather);
    const auto bytes = static_cast<std::int64_t>(bytes_of(gather.from.type));
    const bool whole_vectors = gather.width * bytes % 16 == 0 && gather.from.stride * bytes % 16 == 0 &&
                               gather.to.stride * bytes % 16 == 0 && is_aligned(gather.from.data) && is_aligned(gather.to.data);
    if (whole_vectors) {
        gather_words<uint4>(gather, queue);
    } else {
        gather_words<unsigned>(gather, queue);
    }
}

void read_probe(const ReadProbe& probe, Queue queue) {
    check(probe);
    succeed(cudaMemsetAsync(probe.sum, 0, sizeof(unsigned), stream_of(queue)), "cudaMemsetAsync");
    launch("read probe", read_kernel, walking_shape(probe.bytes), queue, static_cast<const uint4*>(probe.from),
           static_cast<std::int64_t>(probe.bytes / 16), probe.sum);
}

void write_probe(const WriteProbe& probe, Queue queue) {
    check(probe);
    launch("write probe", write_kernel, shape_for(probe.bytes), queue, static_cast<uint4*>(probe.to),
           static_cast<std::int64_t>(probe.bytes / 16), probe.word);
}

void copy_probe(const CopyProbe& probe, Queue queue) {
    check(probe);
    launch("copy probe", copy_kernel, shape_for(probe.bytes), queue, static_cast<uint4*>(probe.to),
           static_cast<const uint4*>(probe.from), static_cast<std::int64_t>(probe.bytes / 16));
}

void empty(Queue queue) { launch("empty kernel", empty_kernel, {dim3(1), 32}, queue); }

}  // namespace treeline::kernels::cuda
