// The device that is emulated, and what it refuses to launch.
#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "cache.h"
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
    properties->multiProcessorCount = emulation::multiprocessors;
    properties->totalGlobalMem = emulation::memory_bytes();
    properties->l2CacheSize = static_cast<int>(emulation::cache_bytes());
    properties->sharedMemPerBlockOptin = emulation::shared_of_block();
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

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (device != 0) {
        return emulation::refuse(cudaErrorInvalidDevice, "there is one device");
    }
    *value = attribute == cudaDevAttrMultiProcessorCount ? emulation::multiprocessors
                                                         : static_cast<int>(emulation::shared_of_block());
    return cudaSuccess;
}

namespace emulation {
namespace {

std::size_t from_environment(const char* name, std::size_t unit, std::size_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? unit * std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

std::size_t memory_bytes() { return from_environment("TREELINE_EMULATED_MEMORY", 1 << 20, std::size_t{1} << 30); }

std::size_t shared_of_multiprocessor() {
    return from_environment("TREELINE_EMULATED_SHARED", 1 << 10, most_shared_bytes + (1 << 10));
}
std::size_t shared_of_block() { return std::min(most_shared_bytes, shared_of_multiprocessor() - (1 << 10)); }

std::size_t cache_bytes() {
    return Cache::device().is_on() ? Cache::device().bytes()
                                   : from_environment("TREELINE_EMULATED_CACHE", 1 << 10, std::size_t{50} << 20);
}

int blocks_of_multiprocessor(int threads, std::size_t shared_bytes) {
    constexpr int most_threads = 2048, most_blocks = 32;
    constexpr std::size_t reserved = 1 << 10;  // of each block
    const int by_threads = std::min(most_blocks, most_threads / std::max(threads, 1));
    return std::min(by_threads, static_cast<int>(shared_of_multiprocessor() / (shared_bytes + reserved)));
}

cudaError_t allow_shared_bytes(const void* kernel, std::size_t bytes) {
    if (bytes > shared_of_block()) {
        return refuse(cudaErrorInvalidValue,
                      "a block has at most " + std::to_string(shared_of_block() >> 10) + " KB of shared memory");
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
    if (const char* failing = std::getenv("TREELINE_EMULATED_FAILURE");
        failing != nullptr && readable(type).find(failing) != std::string::npos) {
        return refuse(cudaErrorLaunchFailure, "a failure that TREELINE_EMULATED_FAILURE asks for");
    }
    const auto allowed = allowed_shared_bytes().find(kernel);
    // More than the 48 KB that all may use is granted to dynamic memory; what the kernel declares comes on top.
    const bool asked = allowed != allowed_shared_bytes().end() && config.dynamicSmemBytes <= allowed->second;
    const std::size_t granted = asked ? shared_of_block() : granted_shared_bytes;
    if (config.dynamicSmemBytes > granted) {
        return refuse(cudaErrorInvalidValue,
                      "shared memory of " + std::to_string(config.dynamicSmemBytes) + " bytes, which nobody asked for before");
    }
    const Launch launch{
        readable(type), kernel, grid, block, config.dynamicSmemBytes, granted, {arguments.begin(), arguments.end()}, call};
    return put(config.stream, [launch] { return run(launch); });
}

}  // namespace emulation
