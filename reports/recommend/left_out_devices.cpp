#include "reports/recommend/left_out_devices.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace treeline::reports {

std::vector<std::string> left_out_devices(const sweeps::Answer& answer) {
    if (!answer.result.recommendation) {
        return {};
    }
    const sweeps::Recommendation& found = *answer.result.recommendation;
    std::set<std::string> seen;
    for (const sweeps::Candidate& candidate : found.candidates) {
        seen.insert(found.variants[candidate.variant].setup.platform.device.name);
    }
    const std::vector<sweeps::Exclusion>& excluded = answer.result.excluded;
    std::vector<std::string> sentences;
    for (const sweeps::Variant& variant : answer.input.workload.variants) {
        const std::string &device = variant.setup.platform.device.name, on_it = "on " + variant.labels.platform();
        if (variant.setup.platform.accelerator || !seen.insert(device).second) {
            continue;
        }
        const auto names = [&](const std::string& text) {
            return std::find_if(excluded.begin(), excluded.end(), [&](const sweeps::Exclusion& exclusion) {
                return exclusion.label.find(text) != std::string::npos;
            });
        };
        const auto plain = names("plain decoding " + on_it);
        const auto reason = plain == excluded.end() ? names(on_it) : plain;
        sentences.push_back(reason == excluded.end()
                                ? fmt::format("{} is left out: nothing runs there within the limits.", device)
                                : fmt::format("{} is left out: {}: {}.", device, reason->label, reason->reason));
    }
    return sentences;
}

}  // namespace treeline::reports
