// The device that is emulated, and what it refuses to launch.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "device_limits.h"
#include "grid.h"
#include "streams.h"

namespace {

std::map<const void*, std::size_t>& allowed_shared_bytes() {
    static std::map<const void*, std::size_t> of_kernels;
    return of_kernels;
}

std::string readable(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                           std::free);
    return status == 0 ? name.get() : type.name();
}

}  // namespace

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device != 0) {
        return emulation::refuse(cudaErrorInvalidDevice, "there is one device");
    }
    *properties = {};
    std::snprintf(properties->name, sizeof(properties->name), "emulated device, TREELINE_TEST_SEED=%llu",
                  static_cast<unsigned long long>(emulation::seed()));
    properties->major = 9;
    properties->multiProcessorCount = 132;
    properties->totalGlobalMem = std::size_t{1} << 30;
    properties->l2CacheSize = 50 << 20;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return device == 0 ? cudaSuccess : emulation::refuse(cudaErrorInvalidDevice, "there is one device");
}

cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : emulation::refuse(cudaErrorInvalidDevice, "there is one device");
}

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}

namespace emulation {

cudaError_t allow_shared_bytes(const void* kernel, std::size_t bytes) {
    if (bytes > most_shared_bytes) {
        return refuse(cudaErrorInvalidValue, "a block has at most 227 KB of shared memory");
    }
    allowed_shared_bytes()[kernel] = bytes;
    return cudaSuccess;
}

cudaError_t queue_kernel(const cudaLaunchConfig_t& config, const void* kernel, const std::type_info& type,
                         std::span<const std::byte> arguments, void (*call)(const void* kernel, const void* arguments)) {
    const dim3 &grid = config.gridDim, &block = config.blockDim;
    const unsigned long long threads = 1ULL * block.x * block.y * block.z;
    if (threads == 0 || threads > most_threads_of_block || 1ULL * grid.x * grid.y * grid.z == 0 || grid.x > most_blocks_x ||
        grid.y > most_blocks_yz || grid.z > most_blocks_yz) {
        return refuse(cudaErrorInvalidConfiguration, "a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) +
                                                         " x " + std::to_string(grid.z) + " blocks of " +
                                                         std::to_string(threads) + " threads");
    }
    if (arguments.size() > most_argument_bytes) {
        return refuse(cudaErrorInvalidValue, "arguments of " + std::to_string(arguments.size()) + " bytes");
    }
    const auto allowed = allowed_shared_bytes().find(kernel);
    // More than the 48 KB that all may use is granted to dynamic memory; what the kernel declares comes on top.
    const bool asked = allowed != allowed_shared_bytes().end() && config.dynamicSmemBytes <= allowed->second;
    const std::size_t granted = asked ? most_shared_bytes : granted_shared_bytes;
    if (config.dynamicSmemBytes > granted) {
        return refuse(cudaErrorInvalidValue,
                      "shared memory of " + std::to_string(config.dynamicSmemBytes) + " bytes, which nobody asked for before");
    }
    const Launch launch{
        readable(type), kernel, grid, block, config.dynamicSmemBytes, granted, {arguments.begin(), arguments.end()}, call};
    return put(config.stream, [launch] { return run(launch); });
}

}  // namespace emulation
