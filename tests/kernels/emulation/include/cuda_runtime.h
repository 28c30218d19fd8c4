// Stands in for the CUDA toolkit's header where the kernels are compiled for the emulation: what Treeline uses of the run-time
// library, with its documented behaviour. Work is put into streams and runs when something waits for it, as late as it may.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "device_functions.h"

// No toolkit has this number, so that no other library than the emulation's is found under it.
#define CUDART_VERSION 999000

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
    cudaErrorInvalidDevice,
    cudaErrorInsufficientDriver,
    cudaErrorPeerAccessAlreadyEnabled,
    cudaErrorLaunchFailure,
    cudaErrorStreamCaptureUnsupported,
    cudaErrorStreamCaptureInvalidated
};

using cudaStream_t = struct CUstream_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaEvent_t = struct CUevent_st*;

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum : unsigned { cudaStreamNonBlocking = 1 };

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, l2CacheSize;
    std::size_t totalGlobalMem, sharedMemPerBlockOptin;
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
};

/// With a detail of what the emulation found, for the last error.
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

namespace emulation {

int blocks_of_multiprocessor(int threads, std::size_t shared_bytes);
cudaError_t allow_shared_bytes(const void* kernel, std::size_t bytes);
/// `arguments` are copied; a thread of the kernel is `call` of a copy of its own.
cudaError_t queue_kernel(const cudaLaunchConfig_t& config, const void* kernel, const std::type_info& type,
                         std::span<const std::byte> arguments, void (*call)(const void* kernel, const void* arguments));

}  // namespace emulation

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute /*attribute*/, int value) {
    return emulation::allow_shared_bytes(reinterpret_cast<const void*>(kernel), static_cast<std::size_t>(value));
}

/// By threads and shared memory; registers are not known here.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* /*kernel*/, int threads,
                                                          std::size_t shared_bytes) {
    *blocks = emulation::blocks_of_multiprocessor(threads, shared_bytes);
    return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    using Values = std::tuple<Parameters...>;
    static_assert((std::is_trivially_copyable_v<Parameters> && ...));
    const Values values(std::forward<Arguments>(arguments)...);
    return emulation::queue_kernel(*config, reinterpret_cast<const void*>(kernel), typeid(kernel),
                                   std::as_bytes(std::span(&values, 1)), [](const void* of_kernel, const void* of_thread) {
                                       std::apply(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(of_kernel)),
                                                  *static_cast<const Values*>(of_thread));
                                   });
}
