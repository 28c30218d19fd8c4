// Runs the grid of one launch on one thread of the host: blocks one after the other, the threads of a block in turns that are
// drawn anew at every barrier and collective. What would hang, race or fault on a device ends the launch with a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device_functions.h"

namespace emulation {

struct Launch {
    int device = 0;
    std::string kernel;              ///< for messages
    const void* function = nullptr;  ///< its library's thread-local storage is the shared memory that it declares
    dim3 grid, block;
    std::size_t shared_bytes = 0;   ///< dynamic shared memory
    std::size_t granted_bytes = 0;  ///< of all shared memory of a block
    std::vector<std::byte> arguments;
    void (*call)(const void* kernel, const void* arguments) = nullptr;
};

/// What went wrong, or nothing. After an error the rest of the grid is left out. While its threads wait for a flag of another
/// device, that one's launch goes on, or its next work begins.
std::optional<std::string> run(const Launch& launch);

/// Of the order in which threads take turns: TREELINE_TEST_SEED, or drawn from the machine.
std::uint64_t seed();

/// Who touches memory: its place in the launch, and how many barriers its block has passed.
struct Toucher {
    std::uint32_t launch, block, passed, thread;
};

/// The thread that runs, or nothing where the host itself does.
std::optional<Toucher> running_thread();
/// The device on which it runs.
int running_device();
/// Lets others go on until the flag has come to the value.
void wait_for_flag(const unsigned* flag, unsigned value, int line);
[[nodiscard]] bool is_on_stack(const void* address);
/// Ends the launch from within a kernel.
[[noreturn]] void fail(const std::string& reason);

}  // namespace emulation
