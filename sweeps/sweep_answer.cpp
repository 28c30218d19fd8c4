#include "sweeps/sweep_answer.h"

#include <algorithm>

namespace treeline::sweeps {

std::vector<std::string> devices_without(const SweepColumn& column, const SweepInput& input) {
    std::vector<std::string> devices;
    for (const Variant& variant : input.space.variants) {
        if (!column.known_of(variant) && std::find(devices.begin(), devices.end(), variant.labels.device) == devices.end()) {
            devices.push_back(variant.labels.device);
        }
    }
    return devices;
}

}  // namespace treeline::sweeps
