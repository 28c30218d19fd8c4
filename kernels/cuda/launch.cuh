// The one place where kernels are launched and CUDA's errors become exceptions.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

inline void succeed(cudaError_t error, const char* call) {
    if (error != cudaSuccess) {
        throw KernelError(std::string(call) + ": " + cudaGetErrorString(error));
    }
}

inline cudaStream_t stream_of(Queue queue) { return static_cast<cudaStream_t>(queue.stream); }

struct LaunchShape {
    dim3 blocks;
    unsigned threads = 0;          ///< of a block
    std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// Queues a kernel; `name` goes into the message of an error.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), LaunchShape shape, Queue queue, const Arguments&... arguments) {
    // 48 KB are granted to every kernel, the arrays that it declares itself included: less than 4 KB where it asks for so much.
    constexpr std::size_t granted_to_all = 44 * 1024;
    if (shape.shared_bytes > granted_to_all) {
        succeed(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)),
                name);
    }
    cudaLaunchConfig_t config{};
    config.gridDim = shape.blocks;
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream_of(queue);
    succeed(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

}  // namespace treeline::kernels::cuda
