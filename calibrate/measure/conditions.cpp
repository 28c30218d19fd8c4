#include "calibrate/measure/conditions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>

#include "calibrate/measure/machine.h"
#include "calibrate/timings.h"
#include "numerics/quantile.h"

namespace treeline::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The first sensor that the system shows, in thousandths of a degree.
std::optional<double> core_temperature() {
    std::ifstream file("/sys/class/thermal/thermal_zone0/temp");
    double value = 0.0;
    return file >> value && value > 0.0 ? std::optional(value / 1000.0) : std::nullopt;
}

}  // namespace

Sentinel::Sentinel(const MeasuredDevice& device, std::size_t bytes)
    : device_(device),
      monitor_(device.on_gpu ? std::make_unique<GpuMonitor>(device.pci_bus_id) : nullptr),
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
    return numerics::quantile(samples, 0.5);
}

double Sentinel::seconds_of_launching(int launches) const {
    std::vector<double> samples;
    // The first one wakes sleeping threads.
    for (int i = 0; i < 4; ++i) {
        const Clock::time_point start = Clock::now();
        for (int j = 0; j < launches; ++j) {
            device_.backend->empty({});
        }
        device_.backend->wait({});
        if (i > 0) {
            samples.push_back(seconds_since(start) / launches);
        }
    }
    return numerics::quantile(samples, 0.5);
}

void Sentinel::ask_gpu(Conditions& conditions) const {
    const GpuSensors sensors = monitor_->read();
    conditions.clock = sensors.clock;
    conditions.temperature = sensors.temperature;
    conditions.power = sensors.power;
    conditions.throttles = sensors.throttles;
}

Conditions Sentinel::read() const {
    Conditions conditions;
    conditions.read = seconds_of_reading();
    // Launches from the host say nothing about kernels that a GPU runs from a graph.
    conditions.launch = device_.on_gpu ? 0.0 : seconds_of_launching(200);
    if (device_.on_gpu) {
        ask_gpu(conditions);
    } else {
        conditions.clock = core_clock(5, 200'000);
        conditions.temperature = core_temperature();
    }
    conditions.load = load_per_core().value_or(0.0);
    return conditions;
}

Conditions Sentinel::glance() {
    // A GPU's library takes some milliseconds to answer, and its clock moves slowly.
    const auto kept_for = std::chrono::milliseconds(device_.on_gpu ? 100 : 5);
    if (!glanced_ || Clock::now() - *glanced_ > kept_for) {
        if (device_.on_gpu) {
            ask_gpu(last_);
        } else {
            last_.launch = seconds_of_launching(50);
            last_.clock = core_clock(3, 10'000);
        }
        glanced_ = Clock::now();
    }
    return last_;
}

double core_clock(int attempts, int steps) {
    double fastest = 0.0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
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

namespace {

/// Medians of the readings from `first` to `last`.
Conditions medians(const Conditions* first, const Conditions* last) {
    const auto median = [&](double Conditions::*member) {
        std::vector<double> values;
        for (const Conditions* each = first; each != last; ++each) {
            values.push_back(each->*member);
        }
        return numerics::quantile(values, 0.5);
    };
    Conditions result;
    result.read = median(&Conditions::read);
    result.launch = median(&Conditions::launch);
    result.clock = median(&Conditions::clock);
    result.load = median(&Conditions::load);
    result.power = median(&Conditions::power);
    return result;
}

}  // namespace

std::vector<Conditions> states_of(std::vector<Conditions> seen, const ConditionLimits& limits) {
    const std::size_t fewest = seen.size() / 20 + 1;
    std::sort(seen.begin(), seen.end(), [](const Conditions& a, const Conditions& b) { return a.launch < b.launch; });
    std::vector<Conditions> states;
    while (!seen.empty()) {
        // The longest run of neighbours that are within the factor of each other.
        std::size_t best = 0, most = 0;
        for (std::size_t first = 0, last = 0; first < seen.size(); ++first) {
            while (last < seen.size() && seen[last].launch <= limits.most_launch * seen[first].launch) {
                ++last;
            }
            if (last - first > most) {
                best = first;
                most = last - first;
            }
        }
        if (most < fewest) {
            break;
        }
        states.push_back(medians(seen.data() + best, seen.data() + best + most));
        // Other readings of this state do not form a state of their own.
        std::erase_if(seen,
                      [&](const Conditions& each) { return is_within(each.launch, states.back().launch, limits.most_launch); });
    }
    return states;
}

}  // namespace treeline::calibrate
