// In place of the .cu files where Treeline is built without a CUDA compiler: says so.
#include "kernels/backend.h"
#include "kernels/cuda_queue.h"
#include "kernels/peer_ranks.h"

namespace treeline::kernels {
namespace {

constexpr const char* reason = "this Treeline was built without CUDA";

template <class Result, class... Arguments>
Result refuse(Arguments... /*unused*/) {
    throw KernelError(reason);
}

}  // namespace

CudaDevices available_devices() { return {{}, reason}; }

const Backend& cuda_backend() {
    static const Backend backend = {
        .name = "cuda",
        .allocate = refuse,
        .release = refuse,
        .upload = refuse,
        .download = refuse,
        .wait = refuse,
        .scan = refuse,
        .tree_scan = refuse,
        .chunk_scan = refuse,
        .channel_scan = refuse,
        .delta_scan = refuse,
        .convolution_update = refuse,
        .convolution_advance = refuse,
        .attention = refuse,
        .latent_attention = refuse,
        .head_linear = refuse,
        .repeat_heads = refuse,
        .linear = refuse,
        .add_bias = refuse,
        .rms_norm = refuse,
        .gated_rms_norm = refuse,
        .gated_activation = refuse,
        .rotary = refuse,
        .expert_choice = refuse,
        .expert_linear = refuse,
        .expert_sum = refuse,
        .top_choices = refuse,
        .greedy_verification = refuse,
        .rejection_verification = refuse,
        .gather_rows = refuse,
        .read_probe = refuse,
        .write_probe = refuse,
        .copy_probe = refuse,
        .empty = refuse,
    };
    return backend;
}

void select_cuda_device(int /*index*/) { throw KernelError(reason); }

CudaQueue::CudaQueue() { throw KernelError(reason); }
CudaQueue::~CudaQueue() = default;

CudaGraph::CudaGraph(const CudaQueue& /*queue*/, const std::function<void(Queue)>& /*work*/) { throw KernelError(reason); }
CudaGraph::~CudaGraph() = default;
void CudaGraph::replay(Queue /*queue*/) const { throw KernelError(reason); }

CudaTimer::CudaTimer() { throw KernelError(reason); }
CudaTimer::~CudaTimer() = default;
void CudaTimer::start(Queue /*queue*/) { throw KernelError(reason); }
void CudaTimer::stop(Queue /*queue*/) { throw KernelError(reason); }
double CudaTimer::seconds() const { throw KernelError(reason); }

PeerRanks::PeerRanks(std::size_t /*bytes*/) { throw KernelError(reason); }
PeerRanks::~PeerRanks() = default;
void PeerRanks::select(int /*rank*/) const { throw KernelError(reason); }
void PeerRanks::all_reduce(int /*rank*/, std::size_t /*bytes*/, Queue /*queue*/) const { throw KernelError(reason); }
void PeerRanks::wait() const { throw KernelError(reason); }
void PeerRanks::release() {}

}  // namespace treeline::kernels
