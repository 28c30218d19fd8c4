// All-reduces of two devices in one step: each block meets the other device's block of its number, adds, and meets it again.
#include "kernels/peer_ranks.h"

#include <algorithm>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/peer_flags.cuh"

namespace treeline::kernels {
namespace cuda {
namespace {

constexpr unsigned threads = 512, most_blocks = 36;  // all of which run at once on any device
constexpr int of_vector = 8;                         // numbers in 16 bytes

/// What a rank's flags are: where the other's blocks have come to, where its own have, and whether one waited in vain.
struct Flags {
    unsigned *of_other, *of_own, *in_vain;
};
constexpr std::size_t flag_count = 2 * most_blocks + 1;

Flags flags_at(unsigned* first) { return {first, first + most_blocks, first + 2 * most_blocks}; }

/// No block goes on before the other device's has come here.
__device__ inline void meet(unsigned* others_flag, const Flags& own, unsigned step) {
    __syncthreads();
    if (threadIdx.x == 0) {
        raise_flag(others_flag + blockIdx.x, step);
        if (!await_flag(own.of_other + blockIdx.x, step)) {
            *own.in_vain = 1;
        }
    }
    __syncthreads();
}

/// `of_first` and `of_second` are the inputs of rank 0 and rank 1: both ranks add in the same order.
__global__ void __launch_bounds__(threads) all_reduce_kernel(const Bf16* of_first, const Bf16* of_second, Bf16* sum,
                                                             std::int64_t vectors, unsigned* others_flag, Flags own) {
    const unsigned step = own.of_own[blockIdx.x];
    meet(others_flag, own, step + 1);
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < vectors; i += stride) {
        float first[of_vector], second[of_vector];
        get_neighbours(of_first, i * of_vector, first);
        get_neighbours(of_second, i * of_vector, second);
#pragma unroll
        for (int k = 0; k < of_vector; ++k) {
            first[k] += second[k];
        }
        put_neighbours(sum, i * of_vector, first);
    }
    meet(others_flag, own, step + 2);
    if (threadIdx.x == 0) {
        own.of_own[blockIdx.x] = step + 2;
    }
}

int current_device() {
    int device = 0;
    succeed(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

bool reach_each_other(int one, int other) {
    int there = 0, back = 0;
    succeed(cudaDeviceCanAccessPeer(&there, one, other), "cudaDeviceCanAccessPeer");
    succeed(cudaDeviceCanAccessPeer(&back, other, one), "cudaDeviceCanAccessPeer");
    return there != 0 && back != 0;
}

/// The device that is to be rank 1; throws NoPeer.
int peer_of(int device) {
    int count = 0;
    succeed(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (int other = 0; other < count; ++other) {
        if (other != device && reach_each_other(device, other)) {
            return other;
        }
    }
    throw NoPeer(count == 1 ? "needs two devices that read each other's memory, and there is one"
                            : "needs two devices that read each other's memory (peer access), and no other device does");
}

/// Lets the current device read and write the other's memory.
void let_reach(int other) {
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    static_cast<void>(cudaGetLastError());  // it may have been let before
    if (error != cudaErrorPeerAccessAlreadyEnabled) {
        succeed(error, "cudaDeviceEnablePeerAccess");
    }
}

}  // namespace
}  // namespace cuda

PeerRanks::PeerRanks(std::size_t bytes) : bytes_(bytes) {
    ranks_[0].device = cuda::current_device();
    ranks_[1].device = cuda::peer_of(ranks_[0].device);
    try {
        for (const int rank : {1, 0}) {  // the device that was the current one is so afterwards
            Rank& made = ranks_[static_cast<std::size_t>(rank)];
            select(rank);
            cuda::let_reach(ranks_[static_cast<std::size_t>(1 - rank)].device);
            made.queue = std::make_unique<CudaQueue>();
            void* flags = nullptr;
            cuda::succeed(cudaMalloc(&made.input, bytes), "cudaMalloc");
            cuda::succeed(cudaMalloc(&made.sum, bytes), "cudaMalloc");
            cuda::succeed(cudaMalloc(&flags, cuda::flag_count * sizeof(unsigned)), "cudaMalloc");
            made.flags = static_cast<unsigned*>(flags);
            cuda::succeed(cudaMemsetAsync(flags, 0, cuda::flag_count * sizeof(unsigned), cuda::stream_of(made.queue->queue())),
                          "cudaMemsetAsync");
            cuda_backend().wait(made.queue->queue());
        }
    } catch (...) {
        release();
        throw;
    }
}

PeerRanks::~PeerRanks() { release(); }

// Of a device that has failed nothing more can be said.
void PeerRanks::release() {
    for (const int rank : {1, 0}) {
        Rank& released = ranks_[static_cast<std::size_t>(rank)];
        static_cast<void>(cudaSetDevice(released.device));
        released.queue.reset();
        for (void* memory : {released.input, released.sum, static_cast<void*>(released.flags)}) {
            static_cast<void>(cudaFree(memory));
        }
    }
}

void PeerRanks::select(int rank) const { select_cuda_device(ranks_[static_cast<std::size_t>(rank)].device); }

void PeerRanks::all_reduce(int rank, std::size_t bytes, Queue queue) const {
    if (bytes == 0 || bytes % 16 != 0 || bytes > bytes_) {
        throw std::invalid_argument("an all-reduce takes a multiple of 16 bytes, up to those that its ranks were made for");
    }
    const auto vectors = static_cast<std::int64_t>(bytes / 16);
    const unsigned blocks = std::min(cuda::most_blocks, cuda::blocks_for(vectors, cuda::threads));
    const auto own = static_cast<std::size_t>(rank), other = static_cast<std::size_t>(1 - rank);
    cuda::launch("all-reduce", cuda::all_reduce_kernel, {dim3(blocks), cuda::threads}, queue,
                 static_cast<const Bf16*>(ranks_[0].input), static_cast<const Bf16*>(ranks_[1].input),
                 static_cast<Bf16*>(ranks_[own].sum), vectors, cuda::flags_at(ranks_[other].flags).of_other,
                 cuda::flags_at(ranks_[own].flags));
}

void PeerRanks::wait() const {
    bool in_vain = false;
    for (const int rank : {1, 0}) {
        const Rank& waited = ranks_[static_cast<std::size_t>(rank)];
        select(rank);
        unsigned of_rank = 0;
        cuda_backend().download(&of_rank, cuda::flags_at(waited.flags).in_vain, sizeof(of_rank), waited.queue->queue());
        in_vain = in_vain || of_rank != 0;
    }
    if (in_vain) {
        throw KernelError("a rank of an all-reduce waited for the other in vain");
    }
}

}  // namespace treeline::kernels
