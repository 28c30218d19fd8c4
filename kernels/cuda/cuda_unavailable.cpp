// In place of the .cu files where Treeline is built without a CUDA compiler: says so.
#include "kernels/backend.h"

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
        .convolution_update = refuse,
        .convolution_advance = refuse,
        .attention = refuse,
        .linear = refuse,
        .rms_norm = refuse,
        .gated_rms_norm = refuse,
        .gated_activation = refuse,
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

}  // namespace treeline::kernels
