// What a machine is like at a moment: measured times mean something only beside times taken under the same conditions.
//
// A virtual machine's cores are moved between caches, clocks fall with heat, neighbours take bandwidth. None of it can be
// switched off from here. What moves a machine between states (how fast its cores meet, its clock) is read beside every sample,
// so that only samples of one state are put together. What scatters within a state (a neighbour's traffic) is left to medians
// of samples that are spread over the whole run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/kernel_timer.h"

namespace treeline {

struct Conditions {
    double read = 0.0;                  ///< s: reading a block of main memory; 0: not asked
    double launch = 0.0;                ///< s: a launch of nothing; on a CPU, how fast its cores meet; 0: not asked
    double clock = 0.0;                 ///< Hz; 0: not known
    std::optional<double> temperature;  ///< °C
    double load = 0.0;                  ///< as load_per_core(); 0 where the system does not say
};

/// How far conditions of one state may be apart.
struct ConditionLimits {
    double most_launch = 1.4;       ///< factor: readings scatter by a fifth, cores that are moved apart double them
    double most_clock_drop = 0.10;  ///< share
};

/// Reads the conditions of one device.
class Sentinel {
public:
    /// Reads `bytes` of memory of its own, a gigabyte at most; they should exceed the last-level cache by far. Throws
    /// KernelError or std::bad_alloc where the device has no room for it.
    Sentinel(const MeasuredDevice& device, std::size_t bytes);
    /// All of them; takes some tens of milliseconds.
    [[nodiscard]] Conditions read() const;
    /// Launch and clock alone, in a fraction of a millisecond; what was read a few milliseconds ago is still told.
    Conditions glance();

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] double seconds_of_reading() const;
    [[nodiscard]] double seconds_of_launching(int launches) const;

    MeasuredDevice device_;
    DeviceBlock block_, sum_;
    std::optional<Clock::time_point> glanced_;
    Conditions last_;
};

/// What a GPU's driver library says of one GPU: its clock in Hz (0: nothing) and temperature.
struct GpuSensors {
    double clock = 0.0;
    std::optional<double> temperature;
};

/// Asks the management library of NVIDIA's driver (loaded while running; `library` is its file name) for the GPU with this PCI
/// bus id. Nothing is known where the library or one of its functions is missing.
GpuSensors gpu_sensors(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");

/// Steps of a chain of dependent operations that take a cycle each, a second: the clock of the core that this runs on. The best
/// of `attempts`, which an interruption would spoil.
double core_clock(int attempts, int steps);

/// Whether conditions are of this state. What is not known does not differ.
bool is_of_state(const Conditions& conditions, const Conditions& state, const ConditionLimits& limits);

/// The states that a machine was seen in, the most frequent first: each the medians over readings whose launches are within a
/// factor of most_launch of each other. Rare states (less than a twentieth of the readings) are left out. Not one median over
/// all: a machine that changes between two states would be found in the middle, where it never is.
std::vector<Conditions> states_of(std::vector<Conditions> seen, const ConditionLimits& limits);

}  // namespace treeline
