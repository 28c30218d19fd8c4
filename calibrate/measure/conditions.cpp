#include "calibrate/measure/conditions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>

#include "calibrate/measure/machine.h"
#include "calibrate/timings.h"

namespace treeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Of the first sensor that the system shows, in thousandths of a degree.
std::optional<double> core_temperature() {
    std::ifstream file("/sys/class/thermal/thermal_zone0/temp");
    double value = 0.0;
    return file >> value && value > 0.0 ? std::optional(value / 1000.0) : std::nullopt;
}

double relative_change(double value, double reference) { return reference > 0.0 ? std::abs(value / reference - 1.0) : 0.0; }

}  // namespace

Sentinel::Sentinel(const MeasuredDevice& device, std::size_t bytes)
    : device_(device),
      block_(*device.backend, std::min(bytes, std::size_t{1} << 30) / 16 * 16),
      sum_(*device.backend, sizeof(unsigned)) {
    device_.backend->write_probe({block_.data(), block_.bytes(), 1}, {});
    device_.backend->wait({});
}

double Sentinel::seconds_of_reading() const {
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point start = Clock::now();
        device_.backend->read_probe({block_.data(), block_.bytes(), reinterpret_cast<unsigned*>(sum_.data())}, {});
        device_.backend->wait({});
        samples.push_back(seconds_since(start));
    }
    return quantile(samples, 0.5);
}

double Sentinel::seconds_of_launching() const {
    constexpr int launches = 200;
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point start = Clock::now();
        for (int j = 0; j < launches; ++j) {
            device_.backend->empty({});
        }
        device_.backend->wait({});
        samples.push_back(seconds_since(start) / launches);
    }
    return quantile(samples, 0.5);
}

Conditions Sentinel::read() const {
    Conditions conditions;
    conditions.read = seconds_of_reading();
    // Launches from the host say nothing of kernels that a GPU runs from a graph.
    conditions.launch = device_.on_gpu ? 0.0 : seconds_of_launching();
    if (device_.on_gpu) {
        const GpuSensors sensors = gpu_sensors(device_.pci_bus_id);
        conditions.clock = sensors.clock;
        conditions.temperature = sensors.temperature;
    } else {
        conditions.clock = core_clock();
        conditions.temperature = core_temperature();
    }
    conditions.load = load_per_core().value_or(0.0);
    return conditions;
}

bool Sentinel::wait_for(const Conditions& typical, const ConditionLimits& limits, double seconds) const {
    const Clock::time_point start = Clock::now();
    while (!is_typical(read(), typical, limits)) {
        if (seconds_since(start) > seconds) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
}

double core_clock() {
    constexpr int steps = 200'000;
    double fastest = 0.0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::uint64_t value = 88172645463325252U;
        const Clock::time_point start = Clock::now();
        for (int i = 0; i < steps; ++i) {
            value ^= value << 7U;  // two dependent steps of a cycle each
            asm volatile("" : "+r"(value));
        }
        fastest = std::max(fastest, 2.0 * steps / seconds_since(start));
    }
    return fastest;
}

bool is_steady(const Conditions& before, const Conditions& after, const ConditionLimits& limits) {
    return relative_change(after.read, before.read) <= limits.most_read &&
           relative_change(after.launch, before.launch) <= limits.most_launch &&
           after.clock >= (1.0 - limits.most_clock_drop) * before.clock;
}

bool is_typical(const Conditions& conditions, const Conditions& typical, const ConditionLimits& limits) {
    return relative_change(conditions.read, typical.read) <= limits.most_shift &&
           relative_change(conditions.launch, typical.launch) <= limits.most_launch &&
           conditions.clock >= (1.0 - limits.most_clock_drop) * typical.clock;
}

Conditions typical_of(const std::vector<Conditions>& all, const ConditionLimits& limits) {
    std::vector<Conditions> largest;
    for (const Conditions& centre : all) {
        std::vector<Conditions> alike;
        std::copy_if(all.begin(), all.end(), std::back_inserter(alike),
                     [&](const Conditions& each) { return is_typical(each, centre, limits); });
        if (alike.size() > largest.size()) {
            largest = std::move(alike);
        }
    }
    const auto median = [&](double Conditions::*member) {
        std::vector<double> values;
        for (const Conditions& each : largest) {
            values.push_back(each.*member);
        }
        return values.empty() ? 0.0 : quantile(values, 0.5);
    };
    Conditions result;
    result.read = median(&Conditions::read);
    result.launch = median(&Conditions::launch);
    result.clock = median(&Conditions::clock);
    result.load = median(&Conditions::load);
    return result;
}

}  // namespace treeline
