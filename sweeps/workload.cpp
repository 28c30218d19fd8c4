#include "sweeps/workload.h"

#include <map>
#include <tuple>

namespace treeline::sweeps {

std::vector<std::string> problems_of(const Workload& workload) {
    DesignSpace space;
    space.variants = workload.variants;
    space.speculations = workload.speculations;
    for (std::size_t i = 0; i < space.speculations.size(); ++i) {
        space.speculation.push_back(static_cast<int>(i));
    }
    for (const TrafficPoint& point : workload.traffic.points) {
        space.batch.push_back(point.batch);
        space.context.push_back(point.context);
    }
    std::vector<std::string> problems = space.problems();
    for (const TrafficPoint& point : workload.traffic.points) {
        if (!(point.share > 0.0)) {
            problems.emplace_back("every share of the traffic must be above 0");
            break;
        }
    }
    std::map<std::tuple<std::size_t, std::size_t, std::optional<std::size_t>>, std::string> known;
    for (const Variant& variant : workload.variants) {
        VariantLabels labels = variant.labels;
        labels.rollback.clear();
        const VariantOrigin& origin = variant.origin;
        const auto [first, is_new] = known.try_emplace({origin.target, origin.platform, origin.drafter}, labels.text());
        if (!is_new && first->second != labels.text()) {
            problems.push_back("variants \"" + first->second + "\" and \"" + labels.text() +
                               "\" state the same origin; number what they were made of");
        }
    }
    const Limits& limits = workload.limits;
    const bool positive = (!limits.time_per_token || limits.time_per_token->value() > 0.0) &&
                          (!limits.time_to_first_token || limits.time_to_first_token->value() > 0.0) &&
                          (!limits.memory || limits.memory->value() > 0.0) && limits.minimum_gain > 0.0;
    if (!positive) {
        problems.emplace_back("every limit must be above 0");
    }
    return problems;
}

}  // namespace treeline::sweeps
