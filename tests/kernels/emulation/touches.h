// Who last wrote and read each half word of a piece of memory: two threads that touch the same one without a barrier between
// them, one of them writing, race.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grid.h"

namespace emulation {

enum class Touch : std::uint8_t { read, write, atomic };

class Touches {
public:
    Touches() = default;
    Touches(const Touches&) = delete;
    Touches& operator=(const Touches&) = delete;
    ~Touches();

    /// Forgets everything, and is about this memory from now on.
    void cover(std::span<const std::byte> memory);
    /// Ends the launch where the access races with an earlier one; `where` names the memory.
    void note(std::size_t offset, std::size_t bytes, Touch touch, const Toucher& toucher, const char* where);

private:
    /// Toucher and flags in one word; see touches.cpp.
    struct Cell {
        std::uint64_t written, read;
    };
    Cell* cells_ = nullptr;
    std::size_t bytes_ = 0;  ///< of the cells
};

}  // namespace emulation
