#include "requests/adaptive/shapes_reader.h"

#include <cmath>

#include <fmt/format.h>
#include "text/number_text.h"

namespace treeline {
namespace {

constexpr std::int64_t default_context = 2048;

}  // namespace

ShapesPoint read_shapes_point(json::Reader at, Descriptions& descriptions) {
    ShapesPoint point;
    point.target = read_target(at.object_or_text("target", "model"), descriptions);
    point.platform = read_platform(at.object_or_text("platform", "device"), descriptions);
    point.drafter = read_drafter(at.object("drafter"), descriptions);
    SpeculationAxis axis = read_speculations(at, descriptions);
    point.speculations = std::move(axis.speculations);
    point.plain_asked_for = std::find(axis.asked_for.begin(), axis.asked_for.end(), 0) != axis.asked_for.end();
    point.rollback = read_rollback(at, "rollback");
    point.decoding = read_decoding(at);
    point.context = static_cast<double>(at.count_or("context", default_context, 0, longest_context));
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
                                    short_text(sum)));
    }
    for (double& probability : exactly) {
        probability /= sum > 0.0 ? sum : 1.0;
    }
    return exactly;
}

}  // namespace treeline
