// What executes a model: the silicon. What software adds is in sim/stack.h; together they are a platform (sim/platform.h).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/kernel_law.h"
#include "sim/precision.h"
#include "sim/units.h"

namespace treeline::sim {

/// An engine's own all-reduces. Up to `limit` bytes in one step, in which every rank reads what all others hold: t − 1
/// messages of S bytes, where a ring moves 2·(t − 1)/t of them. Beyond, in two steps that move as much as a ring, or by the
/// library.
struct OwnAllReduce {
    Seconds latency;                              ///< of a few bytes, in one step
    BytesPerSecond bandwidth;                     ///< at which one rank reads from the others
    Bytes limit;                                  ///< of a message. 0 = the link has none of its own
    Seconds two_step_latency;                     ///< of a few bytes, in two steps
    BytesPerSecond two_step_bandwidth;            ///< 0 = the library's beyond the limit
    std::map<std::string, std::string> asked_by;  ///< with which setting an engine ("sglang") is told to run it
};

/// What a library's collective takes where it was measured, with B bytes that a rank receives: the less of
/// latency + B/bandwidth and bulk_latency + B/bulk_bandwidth, its protocols for small and for large messages.
struct ProtocolCosts {
    Seconds latency, bulk_latency;
    BytesPerSecond bandwidth, bulk_bandwidth;  ///< 0 = not measured

    [[nodiscard]] bool measured() const { return bandwidth > BytesPerSecond(0.0); }
};

/// A link between the devices of a tensor-parallel group.
struct Interconnect {
    std::string name;            ///< short, as users select it ("nvlink", "pcie")
    BytesPerSecond bandwidth;    ///< one device, one direction
    Seconds latency;             ///< of one all-reduce of a few bytes
    double domain = 0.0;         ///< the most devices it joins (those of a host, or of a switch); 0 = any number
    std::string all_reduces_of;  ///< measured device whose all-reduces over its fastest link stand in; empty = none
    OwnAllReduce own{};          ///< an engine's, which the link's name picks
    ProtocolCosts all_reduce{};  ///< if not measured: `latency` and `bandwidth`
    ProtocolCosts gather{};      ///< all-gathers and reduce-scatters; if not measured, each is half an all-reduce

    [[nodiscard]] bool joins(double ranks) const { return domain <= 0.0 || ranks <= domain; }
};

enum class DeviceKind { gpu, cpu, fpga };

/// What a device still does under a limit of its power (`nvidia-smi -pl`), over what it does without. Clocks of the compute
/// units fall, that of the memory stays: what computes loses more than what reads.
struct PowerPoint {
    Watts limit;
    double memory = 1.0;   ///< of the bandwidth that kernels reach
    double compute = 1.0;  ///< of the FLOP/s
};

/// Numbers that a description may leave out are 0, meaning unknown: reports then say so instead of computing with them.
struct Device {
    std::string name;   ///< catalogue name ("h100-sxm")
    std::string title;  ///< as people write it ("NVIDIA H100 SXM 80GB")
    DeviceKind kind = DeviceKind::gpu;
    Bytes memory;
    BytesPerSecond bandwidth;  ///< peak of the main memory
    Bytes cache;               ///< last level; 0 = unknown
    /// Single-thread speed of the host that such devices come with, over a fast desktop's (Stack::scales_with_host).
    double host_speed = 1.0;
    double compute_capability = 0.0;  ///< NVIDIA's (8.6); 0 = unknown, or of another maker
    double devices_per_host = 8.0;    ///< on the boards or trays that they are sold in
    double multiprocessors = 0.0;     ///< streaming multiprocessors, compute units or cores; 0 = unknown
    /// Query heads of one token for which attention over a latent cache reads it, where an engine's kernels take one token at a
    /// time (CacheReading::takes_latent_tokens_apart); 0 where they read it once for all heads and new tokens.
    double latent_heads_per_read = 0.0;
    double gpu_generation = 0.0;  ///< of Apple's GPUs: 13 is the M1's, 17 the M5's; 0 = none or unknown
    /// From the end of a kernel to the start of one that needs what it wrote, where that is longer than a stack's own gap.
    Seconds kernel_gap;
    bool metal = false;  ///< its kernels are written in Metal: stacks may have others for it (Stack::metal)
    /// Dense matrix peak by format, in the order of all_number_formats; 0 = not native. fp32 is always stated.
    std::array<FlopsPerSecond, all_number_formats.size()> peak{};
    std::optional<FlopsPerByte> operational_intensity;  ///< HOI, if stated rather than peak / bandwidth
    Bytes reserved;                           ///< driver, context and framework workspace that no tensor can use; 0 if left out
    Watts idle_power;                         ///< 0 = unknown
    Watts active_power;                       ///< beside it, while it serves: clocks up, units that wait
    Watts board_power;                        ///< 0 = unknown: energy is then not capped
    Watts power_limit;                        ///< that holds; 0 = none
    std::vector<PowerPoint> power_limits;     ///< by rising limit; above the last one nothing is lost; empty = unknown
    JoulesPerByte energy_per_byte;            ///< main memory to registers; 0 = unknown
    JoulesPerFlop energy_per_flop;            ///< 0 = unknown
    DollarsPerSecond price;                   ///< 0 = unknown
    std::vector<Interconnect> interconnects;  ///< fastest first; empty = one device alone
    std::string usual_stack;                  ///< that it is priced on where none is asked for; empty = the general one
    std::string calibration_file;             ///< as the description names it; empty = none
    std::string laws_of;                      ///< measured device whose laws stand in for what was not measured; empty = none
    /// Chains over recurrent states as published for this device; they come before those of its calibration, by family.
    std::vector<RecurrentVerificationLaw> recurrent_verification = {};
    std::optional<Calibration> calibration;  ///< what that file holds: measured kernels, which CostMode::calibrated needs

    /// Format whose units compute products of `format`: its own, or the next wider one that has any (fp16 and bf16 stand in for
    /// each other; 8-bit and 4-bit integers may run as fp8, never the other way round). fp4 goes straight to 16 bits: engines
    /// widen its weights there and leave the activations alone (Marlin kernels on Ampere, Ada and Hopper), since the scales of
    /// 16 or 32 values do not fit an fp8 product.
    [[nodiscard]] NumberFormat computed_in(NumberFormat format) const;

    /// Peak for products in `format`, that of the format they are computed in. Above zero for a valid device.
    [[nodiscard]] FlopsPerSecond peak_for(NumberFormat format) const;

    /// True when power and both energies are stated (of an accelerator: its power), so that energy can be computed.
    [[nodiscard]] bool knows_energy() const;

    /// FLOP that the device can do while it moves one byte: the stated value, or peak / bandwidth.
    [[nodiscard]] FlopsPerByte intensity_for(NumberFormat format) const;
};

/// Why what the device does under this limit of its power is not known; empty where it is.
std::string power_limit_problem(const Device& device, Watts limit);

/// The device under a limit of its power (that has no problem): bandwidth, peaks and board power, linear between its points.
Device under_power_limit(Device device, Watts limit);

/// " at 400 W" for a device under a limit of its power, to go behind its name; else empty.
std::string power_limit_text(const Device& device);

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Device& device);

}  // namespace treeline::sim
