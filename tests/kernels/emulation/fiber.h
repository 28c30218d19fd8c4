// Stacks between which one thread of the host switches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulation {

/// Saves the registers that functions keep on the running stack and its pointer in `*from`, and goes on where `to` was saved.
extern "C" void emulation_switch_stack(void** from, void* to);

/// So many stacks of equal size, reserved once.
class Stacks {
public:
    explicit Stacks(std::size_t count);
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;
    ~Stacks();

    /// A saved stack pointer: switching to it calls `entry`, which must never return.
    [[nodiscard]] void* fresh(std::size_t number, void (*entry)()) const;
    [[nodiscard]] bool holds(const void* address) const {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory_) < bytes_;
    }

private:
    std::size_t bytes_;
    std::byte* memory_;
};

}  // namespace emulation
