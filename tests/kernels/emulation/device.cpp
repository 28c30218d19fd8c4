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

int current = 0;
bool reached[emulation::most_devices][emulation::most_devices] = {};

bool is_device(int device) { return device >= 0 && device < emulation::devices(); }
cudaError_t no_such_device() { return emulation::refuse(cudaErrorInvalidDevice, "there is no such device"); }

}  // namespace

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = emulation::devices();
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (!is_device(device)) {
        return no_such_device();
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
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:%02d.0", device);
    return is_device(device) ? cudaSuccess : no_such_device();
}

cudaError_t cudaSetDevice(int device) {
    if (!is_device(device)) {
        return no_such_device();
    }
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!is_device(device) || !is_device(peer)) {
        return no_such_device();
    }
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
    if (!is_device(peer) || peer == current) {
        return no_such_device();
    }
    return reached[current][peer] ? emulation::refuse(cudaErrorPeerAccessAlreadyEnabled, "peer access was let before")
                                  : (reached[current][peer] = true, cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (!is_device(device)) {
        return no_such_device();
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

int devices() {
    return static_cast<int>(
        std::clamp<std::size_t>(from_environment("TREELINE_EMULATED_DEVICES", 1, most_devices), 1, most_devices));
}
int current_device() { return current; }
void forget_peers() {
    for (auto& from : reached) {
        std::fill(std::begin(from), std::end(from), false);
    }
}
bool may_reach(int device, int other) { return device == other || reached[device][other]; }

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
    if (config.stream != nullptr && device_of(config.stream) != current) {
        return refuse(cudaErrorInvalidValue, "a stream of another device");
    }
    const auto allowed = allowed_shared_bytes().find(kernel);
    // More than the 48 KB that all may use is granted to dynamic memory; what the kernel declares comes on top.
    const bool asked = allowed != allowed_shared_bytes().end() && config.dynamicSmemBytes <= allowed->second;
    const std::size_t granted = asked ? shared_of_block() : granted_shared_bytes;
    if (config.dynamicSmemBytes > granted) {
        return refuse(cudaErrorInvalidValue,
                      "shared memory of " + std::to_string(config.dynamicSmemBytes) + " bytes, which nobody asked for before");
    }
    const Launch launch{current, readable(type),          kernel,  grid,
                        block,   config.dynamicSmemBytes, granted, {arguments.begin(), arguments.end()},
                        call};
    return put(config.stream, [launch] { return run(launch); });
}

}  // namespace emulation
