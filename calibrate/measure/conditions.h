// What a machine is like at a moment: measured times mean something only beside times taken under the same conditions.
//
// A virtual machine's cores are moved between caches, clocks fall with heat, neighbours take bandwidth. None of it can be
// switched off from here, so it is read before and after each block of measurements, and blocks that ran under other conditions
// than most are measured again.
#pragma once

#include <optional>
#include <string>

#include "calibrate/measure/kernel_timer.h"

namespace treeline {

struct Conditions {
    double read = 0.0;                  ///< s: reading a block of main memory
    double launch = 0.0;                ///< s: a launch of nothing; on a CPU, how fast its cores meet
    double clock = 0.0;                 ///< Hz; 0: not known
    std::optional<double> temperature;  ///< °C
    double load = 0.0;                  ///< as load_per_core(); 0 where the system does not say
};

/// How far conditions may be apart.
struct ConditionLimits {
    double most_read = 0.04;        ///< relative change of reading over a block (the readings themselves scatter by 1 to 2 %)
    double most_shift = 0.06;       ///< of reading, from what most blocks saw
    double most_launch = 0.20;      ///< of launching, likewise: cores that are moved apart double it
    double most_clock_drop = 0.10;  ///< over a block, or below what most blocks saw
};

/// Reads the conditions of one device.
class Sentinel {
public:
    /// Reads `bytes` of memory of its own, a gigabyte at most; they should exceed the last-level cache by far. Throws
    /// KernelError or std::bad_alloc where the device has no room for it.
    Sentinel(const MeasuredDevice& device, std::size_t bytes);
    [[nodiscard]] Conditions read() const;
    /// Until conditions are typical, `seconds` at most; whether they are.
    [[nodiscard]] bool wait_for(const Conditions& typical, const ConditionLimits& limits, double seconds) const;

private:
    [[nodiscard]] double seconds_of_reading() const;
    [[nodiscard]] double seconds_of_launching() const;

    MeasuredDevice device_;
    DeviceBlock block_, sum_;
};

/// What a GPU's driver library says of one GPU: its clock in Hz (0: nothing) and temperature.
struct GpuSensors {
    double clock = 0.0;
    std::optional<double> temperature;
};

/// Asks the management library of NVIDIA's driver (loaded while running; `library` is its file name) for the GPU with this PCI
/// bus id. Nothing is known where the library or one of its functions is missing.
GpuSensors gpu_sensors(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");

/// Steps of a chain of dependent operations that take a cycle each, a second: the clock of the core that this runs on.
double core_clock();

/// Whether a block that began and ended so was measured steadily.
bool is_steady(const Conditions& before, const Conditions& after, const ConditionLimits& limits);

/// Whether conditions are the typical ones. What is not known is typical.
bool is_typical(const Conditions& conditions, const Conditions& typical, const ConditionLimits& limits);

/// Both: what was measured between these two readings can be compared with what was measured under typical conditions.
inline bool is_comparable(const Conditions& before, const Conditions& after, const Conditions& typical,
                          const ConditionLimits& limits) {
    return is_steady(before, after, limits) && is_typical(before, typical, limits) && is_typical(after, typical, limits);
}

/// Those that most others resemble: medians over the largest set of which each is_typical() of one of them. Not medians over
/// all: a machine that changes between two states would be found in the middle, where it never is.
Conditions typical_of(const std::vector<Conditions>& all, const ConditionLimits& limits);

}  // namespace treeline
