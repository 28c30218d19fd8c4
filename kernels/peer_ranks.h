// Sums over two devices, as engines with tensor parallelism need them twice a layer. Plain C++, as cuda_queue.h.
#pragma once

#include <array>
#include <memory>

#include "kernels/cuda_queue.h"

namespace treeline::kernels {

/// There is no second device, or the two do not read each other's memory. The message goes on a sentence: "needs two devices
/// …".
class NoPeer : public KernelError {
    using KernelError::KernelError;
};

/// Two CUDA devices of this process that read each other's memory: the current one is rank 0, the first other one with which it
/// can be done is rank 1. All-reduces run in one step, as engines' own do for few ranks (vLLM's cross_device_reduce_1stage,
/// SGLang's and TensorRT-LLM's like it): each rank waits until the other has come to the same point, reads both inputs over the
/// link, and waits again before its input may be changed.
class PeerRanks {
public:
    static constexpr int count = 2;

    /// Each rank has memory for `bytes` (a multiple of 16) of input and of sums. Throws NoPeer, or KernelError for want of
    /// memory.
    explicit PeerRanks(std::size_t bytes);
    PeerRanks(const PeerRanks&) = delete;
    PeerRanks& operator=(const PeerRanks&) = delete;
    ~PeerRanks();

    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// Makes the rank's device the current one; whatever is recorded, replayed or put into its queue needs that.
    void select(int rank) const;
    [[nodiscard]] const CudaQueue& queue(int rank) const { return *ranks_[static_cast<std::size_t>(rank)].queue; }
    /// Numbers in bf16, in memory of the rank's device.
    [[nodiscard]] void* input(int rank) const { return ranks_[static_cast<std::size_t>(rank)].input; }
    [[nodiscard]] void* sum(int rank) const { return ranks_[static_cast<std::size_t>(rank)].sum; }

    /// Puts the rank's part into a queue of its device: its sum becomes both inputs added in fp32 and rounded, over the first
    /// `bytes` (a multiple of 16). The rank waits for the other's part, which somebody must put into a queue there.
    void all_reduce(int rank, std::size_t bytes, Queue queue) const;

    /// Waits for both ranks' queues. Throws KernelError if a rank waited for the other in vain.
    void wait() const;

private:
    struct Rank {
        int device = 0;
        std::unique_ptr<CudaQueue> queue;
        void* input = nullptr;
        void* sum = nullptr;
        unsigned* flags = nullptr;
    };
    void release();

    std::size_t bytes_ = 0;
    std::array<Rank, count> ranks_;
};

}  // namespace treeline::kernels
