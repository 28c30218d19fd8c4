// Memory that cudaMalloc gave out, and what may be done with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "device_limits.h"
#include "touches.h"

namespace emulation {

class DeviceMemory {
public:
    static DeviceMemory& all();

    /// Of the current device; aligned to 256 bytes and poisoned: NaNs in fp32 and bf16, large negative integers.
    void* allocate(std::size_t bytes);
    /// Whether it had been given out.
    bool release(void* memory);
    /// Whether all of it lies in one piece that was given out.
    [[nodiscard]] bool holds(const void* memory, std::size_t bytes) const;
    /// Bytes given out of the current device's.
    [[nodiscard]] std::size_t allocated() const { return allocated_[current_device()]; }
    /// A kernel's access; ends the launch where it must not be.
    void touch(std::uintptr_t address, std::size_t bytes, Touch touch, const Toucher& toucher);

private:
    struct Piece {
        std::uintptr_t begin = 0;
        std::size_t bytes = 0;
        int device = 0;
        Touches touches;
    };
    [[nodiscard]] Piece* piece_of(std::uintptr_t address) const;

    std::map<std::uintptr_t, std::unique_ptr<Piece>> pieces_;  ///< by first address
    std::size_t allocated_[most_devices] = {};                 ///< by device
    Piece* last_[2] = {};                                      ///< found, the latest first
};

}  // namespace emulation
