// The one place where kernels are launched and CUDA's errors become exceptions.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "kernels/backend.h"

namespace treeline::kernels::cuda {

inline void succeed(cudaError_t error, const char* call) {
    if (error != cudaSuccess) {
        throw KernelError(std::string(call) + ": " + cudaGetErrorString(error));
    }
}

inline cudaStream_t stream_of(Queue queue) { return static_cast<cudaStream_t>(queue.stream); }

/// 48 KB are granted to every kernel, the arrays that it declares itself included: less than 4 KB where it asks for so much.
inline constexpr std::size_t granted_to_all = 44 * 1024;

/// Of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    succeed(cudaGetDevice(&device), "cudaGetDevice");
    succeed(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
    return value;
}

inline unsigned multiprocessors() { return static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount)); }

struct LaunchShape {
    dim3 blocks;
    unsigned threads = 0;          ///< of a block
    std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// Blocks of the kernel that a multiprocessor of the current device holds at once, at these threads and dynamic shared memory;
/// 0 if it cannot hold one. Asked once for each.
template <class... Parameters>
int blocks_at_once(const char* name, void (*kernel)(Parameters...), unsigned threads, std::size_t shared_bytes) {
    static std::mutex mutex;
    static std::map<std::tuple<const void*, int, unsigned, std::size_t>, int> known;
    int device = 0;
    succeed(cudaGetDevice(&device), "cudaGetDevice");
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace({reinterpret_cast<const void*>(kernel), device, threads, shared_bytes}, 0);
    if (is_new && shared_bytes <= static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))) {
        if (shared_bytes > granted_to_all) {
            succeed(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
                    name);
        }
        succeed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found->second, kernel, static_cast<int>(threads), shared_bytes),
                name);
    }
    return found->second;
}

/// Queues a kernel; `name` goes into the message of an error.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), LaunchShape shape, Queue queue, const Arguments&... arguments) {
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
