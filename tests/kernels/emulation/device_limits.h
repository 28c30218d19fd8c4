// Limits of a device of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
#pragma once

#include <cstddef>

namespace emulation {

inline constexpr std::size_t granted_shared_bytes = 48 << 10;  ///< of a block, without asking for more
inline constexpr std::size_t most_shared_bytes = 227 << 10;    ///< of a block
inline constexpr unsigned most_threads_of_block = 1024, most_blocks_x = 0x7fffffff, most_blocks_yz = 65535;
inline constexpr std::size_t most_argument_bytes = 4096;  ///< before CUDA 12.1; a kernel that needs more would not start

/// Of the device, in MB and KB by TREELINE_EMULATED_MEMORY and TREELINE_EMULATED_CACHE, where those are set. The cache is the
/// one that is emulated if one is.
std::size_t memory_bytes();
std::size_t cache_bytes();
/// Shared memory of a multiprocessor, in KB by TREELINE_EMULATED_SHARED: 100 as of an RTX 3090, 4090, A10G or L40S, 228 as of
/// an H100; and what a block may have of it.
std::size_t shared_of_multiprocessor();
std::size_t shared_of_block();
inline constexpr int multiprocessors = 132;

/// As many devices as TREELINE_EMULATED_DEVICES says, two at most and unless it is set, each of which can read the other's
/// memory once it was let.
inline constexpr int most_devices = 2;
int devices();
/// The one that calls are about, and whether a device was let read and write another's memory.
int current_device();
bool may_reach(int device, int other);
/// No device was let reach another, as in a new process.
void forget_peers();

}  // namespace emulation
