#include "requests/adaptive/shapes_reader.h"

#include <cmath>

#include <fmt/format.h>
#include "requests/keys/adaptive_keys.h"
#include "requests/keys/setup_keys.h"
#include "text/number_text.h"

namespace treeline::requests {

sweeps::ShapesPoint read_shapes_point(json::Reader at, Descriptions& descriptions) {
    sweeps::ShapesPoint point;
    point.target = read_target(at.object_or_text(design_point_keys::target, "model"), descriptions);
    point.platform = read_platform(at.object_or_text(design_point_keys::platform, "device"), descriptions);
    point.drafter = read_drafter(at.object_or_text(design_point_keys::drafter, drafter_keys::published), descriptions,
                                 {&point.target.model, {}, true});
    SpeculationAxis axis = read_speculations(at, descriptions);
    point.speculations = std::move(axis.speculations);
    point.plain_asked_for = std::find(axis.asked_for.begin(), axis.asked_for.end(), 0) != axis.asked_for.end();
    point.rollback = read_rollback(at, design_point_keys::rollback);
    point.decoding = read(at, design_point_keys::decoding);
    point.context = read<double>(at, design_point_keys::context);
    at.finish();
    return point;
}

std::vector<double> read_accepted_exactly(json::Reader& at, std::string_view key) {
    constexpr double rounding = 1e-3;
    std::vector<double> exactly = at.numbers(key, 0.0, 1.0);
    double sum = 0.0;
    for (const double probability : exactly) {
        sum += probability;
    }
    if (!exactly.empty() && std::abs(sum - 1.0) > rounding) {
        at.problem(key, fmt::format("sums to {}, but the probabilities of accepting exactly 0, 1, 2, ... drafts must sum to 1",
                                    text::short_text(sum)));
    }
    for (double& probability : exactly) {
        probability /= sum > 0.0 ? sum : 1.0;
    }
    return exactly;
}

}  // namespace treeline::requests
