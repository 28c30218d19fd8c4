// The shared memory of the block that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "touches.h"

namespace emulation {

/// Memory that every block finds poisoned: as a float each word is a NaN.
class PoisonedMemory {
public:
    void cover(std::span<std::byte> memory);
    [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
    /// Of what was written since it was last done.
    void poison_again();
    /// Bytes that hold something else.
    [[nodiscard]] std::size_t written_bytes() const;
    /// Whether the access was here; a race ends the launch.
    bool touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& toucher);

private:
    std::span<std::byte> memory_;
    std::vector<bool> is_written_;      ///< of each line
    std::vector<std::size_t> written_;  ///< lines
    Touches touches_;
};

/// What a kernel declares lies in the thread-local storage of its library; what a launch asks for, in a buffer beside it.
class SharedMemory {
public:
    /// Of the library that holds the function, from now on.
    static SharedMemory& of(const void* function);
    static SharedMemory& current();

    void start_block(std::size_t dynamic_bytes);
    /// Bytes that the last block wrote of what its kernel declares.
    [[nodiscard]] std::size_t declared_bytes() const { return declared_.written_bytes(); }
    /// Accesses so far that were not reads.
    [[nodiscard]] std::uint64_t writes() const { return writes_; }
    [[nodiscard]] void* dynamic_memory() { return dynamic_.memory().data(); }
    /// As of PoisonedMemory.
    bool touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& toucher);

private:
    PoisonedMemory declared_, dynamic_;
    std::uint32_t blocks_ = 0;  ///< so far
    std::uint64_t writes_ = 0;
};

}  // namespace emulation
