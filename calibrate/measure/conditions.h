// The conditions on a machine at a moment: measured times can be compared only with times taken under the same conditions.
//
// A virtual machine's cores are moved between caches, clocks drop with heat, neighbours take bandwidth, and none of it can be
// switched off from here. What moves a machine between states (how fast its cores synchronise, its clock) is read beside every
// sample, so that only samples of one state are combined. What scatters within a state (a neighbour's traffic) is left to
// quantiles of samples that are spread over the whole run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/gpu_sensors.h"
#include "calibrate/measure/kernel_timer.h"

namespace treeline::calibrate {

struct Conditions {
    double read = 0.0;                  ///< s: reading a block of main memory; 0: not read
    double launch = 0.0;                ///< s: an empty launch; on a CPU, how fast its cores synchronise; 0: not read
    double clock = 0.0;                 ///< Hz; 0: not known
    std::optional<double> temperature;  ///< °C
    double load = 0.0;                  ///< as load_per_core(); 0 if the system does not say
    double power = 0.0;                 ///< W of a GPU; 0: not known
    bool throttles = false;             ///< a GPU whose clock is held down by power or heat
};

/// How far apart conditions of one state may be.
struct ConditionLimits {
    double most_launch = 1.4;       ///< factor: readings scatter by a fifth; moving cores apart doubles them
    double most_clock_drop = 0.10;  ///< share
};

/// Reads the conditions of one device.
class Sentinel {
public:
    /// Reads `bytes` of memory of its own, a gigabyte at most; they should exceed the last-level cache by far. Throws
    /// KernelError or std::bad_alloc if the device has no room for it.
    Sentinel(const MeasuredDevice& device, std::size_t bytes);
    /// All conditions; takes some tens of milliseconds.
    [[nodiscard]] Conditions read() const;
    /// Launch and clock alone, in a fraction of a millisecond; a reading a few milliseconds old is repeated.
    Conditions glance();
    /// Of a GPU, none of a CPU.
    [[nodiscard]] GpuMonitor* monitor() const { return monitor_.get(); }

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] double seconds_of_reading() const;
    [[nodiscard]] double seconds_of_launching(int launches) const;
    void ask_gpu(Conditions& conditions) const;

    MeasuredDevice device_;
    std::unique_ptr<GpuMonitor> monitor_;
    DeviceBlock block_, sum_;
    std::optional<Clock::time_point> glanced_;
    Conditions last_;
};

/// Clock of the core that this runs on: steps per second of a chain of dependent one-cycle operations. The best of several
/// `attempts`, since an interruption spoils one.
double core_clock(int attempts, int steps);

/// Whether two readings are at most this factor apart; one that is not known is.
inline bool is_within(double a, double b, double factor) {
    return !(a > 0.0 && b > 0.0) || (a <= factor * b && b <= factor * a);
}

/// Whether conditions belong to this state. Unknown values count as equal.
bool is_of_state(const Conditions& conditions, const Conditions& state, const ConditionLimits& limits);

/// The states that a machine was seen in, the most frequent first: each the medians over readings whose launches are within a
/// factor of most_launch of each other. Rare states (less than a twentieth of the readings) are left out. Not one median over
/// all readings: a machine that changes between two states would appear to be in the middle, where it never is.
std::vector<Conditions> states_of(std::vector<Conditions> seen, const ConditionLimits& limits);

}  // namespace treeline::calibrate
