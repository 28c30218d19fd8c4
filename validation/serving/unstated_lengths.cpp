// Whether lengths that a row does not state decide what is predicted for it.
#include <cmath>
#include <initializer_list>

#include "validation/serving/predict.h"

namespace treeline::validation {
namespace {

constexpr double may_be_off = 3.0;  // lengths that stand in for those that are not stated, either way
constexpr double matters = 0.1;     // of a speed-up

MeasuredPoint with_answers(MeasuredPoint point, double factor) {
    point.context += 0.5 * point.output_tokens * (factor - 1.0);
    point.output_tokens *= factor;
    return point;
}

MeasuredPoint with_prompts(MeasuredPoint point, double factor) {
    point.context += point.prompt_tokens * (factor - 1.0);
    point.prompt_tokens *= factor;
    return point;
}

}  // namespace

bool unstated_lengths_matter(const MeasuredPoint& point, const UnstatedLengths& unstated, const ServingParts& parts) {
    const double length = point.accept_length.value_or(1.0 + 0.5 * draft_depth(point));
    const auto speed_up = [&](const MeasuredPoint& at) {
        return SpeculativePoint(at, parts, sim::CostMode::calibrated).speed_up(length);
    };
    const auto moves = [&](MeasuredPoint (*with)(MeasuredPoint, double)) {
        const double before = speed_up(point);
        for (const double factor : {1.0 / may_be_off, may_be_off}) {
            if (std::abs(std::log(speed_up(with(point, factor)) / before)) > matters) {
                return true;
            }
        }
        return false;
    };
    return (unstated.answer && moves(with_answers)) || (unstated.prompt && moves(with_prompts));
}

}  // namespace treeline::validation
