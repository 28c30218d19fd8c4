#include "reports/recommend/loads_json.h"

namespace treeline::reports {

using Json = nlohmann::ordered_json;

Json capacity_json(const sweeps::Capacity& capacity) {
    Json parts = Json::array();
    for (const sim::MemoryPart& part : capacity.parts) {
        parts.push_back({{"part", part.part}, {"gb", 1e-9 * part.bytes.value()}});
    }
    return {{"plain", capacity.plain},
            {"recommended", capacity.drafting},
            {"off", capacity.off},
            {"context", capacity.context},
            {"allowed_gb", 1e-9 * capacity.allowed.value()},
            {"parts", parts}};
}

Json loads_json(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    Json loads = Json::array();
    for (std::size_t i = 0; i < found.traffic.points.size(); ++i) {
        const sweeps::TrafficPoint& point = found.traffic.points[i];
        const int speculation = best.plan.at(i);
        const bool off = speculation <= 0;
        loads.push_back({{"load", point.load},
                         {"context", point.context},
                         {"share", point.share},
                         {"batch", found.settled.points[i].load},
                         {"shape", off ? Json() : Json(found.speculations[static_cast<std::size_t>(speculation)].label)}});
    }
    for (const sweeps::UnservedLoad& load : found.unserved) {
        loads.push_back({{"load", load.point.load},
                         {"context", load.point.context},
                         {"share", load.point.share},
                         {"batch", nullptr},
                         {"shape", nullptr},
                         {"left_out", load.reason}});
    }
    return loads;
}

Json saturation_json(const sweeps::Recommendation& found) {
    if (!found.saturation) {
        return nullptr;
    }
    return {{"requests_per_s_asked", found.saturation->asked},
            {"requests_per_s_plain", found.saturation->plain},
            {"requests_per_s_recommended", found.saturation->best},
            {"ttft_limit_ms",
             found.saturation->first_token_limit ? Json(1e3 * found.saturation->first_token_limit->value()) : Json()},
            {"objective_was_latency", found.saturation->was_for_latency}};
}

}  // namespace treeline::reports
