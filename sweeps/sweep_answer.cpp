#include "sweeps/sweep_answer.h"

#include <algorithm>
#include <cmath>

namespace treeline::sweeps {

std::vector<std::string> devices_without(const SweepColumn& column, const SweepInput& input) {
    std::vector<std::string> devices;
    for (const Variant& variant : input.space.variants) {
        const sim::RoundEstimate nothing;
        const bool missing = std::isnan(column.value({variant, 0.0, 1.0, 0.0, nothing}));
        if (missing && std::find(devices.begin(), devices.end(), variant.labels.device) == devices.end()) {
            devices.push_back(variant.labels.device);
        }
    }
    return devices;
}

}  // namespace treeline::sweeps
