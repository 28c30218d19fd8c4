// What records of measurements say of themselves. Nothing here measures, so builds without kernels have it, too.
#include <algorithm>

#include "calibrate/measure/own_device.h"

namespace treeline::calibrate {

std::string KernelCase::name() const {
    std::string text = table;
    for (const auto& [column, value] : columns) {
        text += " " + column + "=" + value;
    }
    return text;
}

std::size_t ProtocolRun::drifted() const {
    return static_cast<std::size_t>(
        std::count_if(measurements.begin(), measurements.end(), [](const Measurement& each) { return each.drifted; }));
}

bool is_of_state(const Conditions& conditions, const Conditions& state, const ConditionLimits& limits) {
    const bool clock_is_known = conditions.clock > 0.0 && state.clock > 0.0;
    return is_within(conditions.launch, state.launch, limits.most_launch) &&
           (!clock_is_known || conditions.clock >= (1.0 - limits.most_clock_drop) * state.clock);
}

bool names_own_device(const std::string& device) {
    return device == "cpu" || device == "cuda" || device.compare(0, 5, "cuda:") == 0;
}

double OwnMeasurement::widening() const { return 1.0 + std::max(0.0, load - most_load); }

}  // namespace treeline::calibrate
