// Limits of a device of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
#pragma once

#include <cstddef>

namespace emulation {

inline constexpr std::size_t granted_shared_bytes = 48 << 10;  ///< of a block, without asking for more
inline constexpr std::size_t most_shared_bytes = 227 << 10;    ///< of a block
inline constexpr unsigned most_threads_of_block = 1024, most_blocks_x = 0x7fffffff, most_blocks_yz = 65535;
inline constexpr std::size_t most_argument_bytes = 4096;  ///< before CUDA 12.1; a kernel that needs more would not start

}  // namespace emulation
