// What executes a model: a device (silicon), a software stack (what it adds), and together a platform.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/precision.h"
#include "sim/units.h"

namespace treeline {

/// A link between the devices of a tensor-parallel group.
struct Interconnect {
    std::string name;
    BytesPerSecond bandwidth;  ///< one device, one direction
    Seconds latency;           ///< of one all-reduce of a few bytes
};

enum class DeviceKind { gpu, cpu };

struct Device {
    std::string name;   ///< catalogue name ("h100-sxm")
    std::string title;  ///< as people write it ("NVIDIA H100 SXM 80GB")
    DeviceKind kind = DeviceKind::gpu;
    Bytes memory;
    BytesPerSecond bandwidth;                                      ///< peak of the main memory
    Bytes cache;                                                   ///< last level
    std::array<FlopsPerSecond, all_number_formats.size()> peak{};  ///< dense matrix peak by format; 0 = not native
    std::optional<FlopsPerByte> operational_intensity;             ///< HOI where it is stated rather than peak / bandwidth
    Bytes reserved;  ///< driver, context and framework workspace that no tensor can use
    Watts idle_power;
    Watts board_power;
    JoulesPerByte energy_per_byte;
    JoulesPerFlop energy_per_flop;
    DollarsPerSecond price;
    std::vector<Interconnect> interconnects;  ///< fastest first

    /// Peak for products in `format`; formats without units of their own run in the next wider one that has them.
    [[nodiscard]] FlopsPerSecond peak_for(NumberFormat format) const;

    /// FLOP that the device can do while it moves one byte: the stated value, or peak / bandwidth.
    [[nodiscard]] FlopsPerByte intensity_for(NumberFormat format) const;
};

/// What software adds to a device. A pass costs max(device time + launches·node_cost, launches·host_launch) + host_per_pass.
struct Stack {
    std::string name;
    std::string title;
    Seconds host_launch;          ///< host time of one kernel launch (0 where a graph is replayed)
    Seconds node_cost;            ///< device-side gap of one kernel
    Seconds host_per_pass;        ///< scheduling, metadata and graph replay of one pass of the target (an engine step)
    Seconds host_per_draft_pass;  ///< the same of one pass of the drafter, which the engine does not schedule anew
    Seconds host_per_round;       ///< what a speculation round adds: tree building, verification bookkeeping, state updates
    double launch_factor = 1.0;   ///< kernels launched per operation of the model (eager frameworks split operations)
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Device& device);
std::vector<std::string> problems_of(const Stack& stack);

}  // namespace treeline
