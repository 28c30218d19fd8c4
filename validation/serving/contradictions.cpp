// Measured rows that cannot all be right, whatever is predicted.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "sim/operations.h"
#include "sim/traits.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"

namespace treeline::validation {
namespace {

constexpr double rounding = 1.02;  // of accept lengths and speed-ups that are printed with two digits
constexpr double twofold = 2.0;
constexpr double faster_by = 1.25;  // runs of the same load scatter by less

using Points = std::map<std::string, std::vector<MeasuredPoint*>>;

void mark(MeasuredPoint& point, const char* contradiction) {
    if (point.contradiction.empty()) {
        point.contradiction = contradiction;
    }
}

/// Plain steps of the same deployment, load and class of contexts: of three or more, the odd ones are known.
void mark_other_plain_steps(const Points& deployments) {
    for (const auto& [name, points] : deployments) {
        std::vector<double> steps;
        for (const MeasuredPoint* point : points) {
            steps.push_back(point->plain_step);
        }
        if (steps.size() < 3) {
            continue;
        }
        const double median = numerics::quantile(steps, 0.5);
        for (MeasuredPoint* point : points) {
            if (point->plain_step > twofold * median || median > twofold * point->plain_step) {
                mark(*point, "its plain step is twofold off that of the other rows of its deployment and load");
            }
        }
    }
}

/// Of a series, in which loads alone differ.
void mark_slower_at_smaller_loads(const Points& series) {
    const auto slower = [](const MeasuredPoint& a, const MeasuredPoint& b) {
        const double plain = a.plain_step / b.plain_step;
        return std::max(plain, plain * b.measured / a.measured) > faster_by;
    };
    for (const auto& [name, points] : series) {
        for (MeasuredPoint* point : points) {
            if (std::any_of(points.begin(), points.end(), [&](const MeasuredPoint* other) {
                    return other->batch > point->batch && slower(*point, *other);
                })) {
                mark(*point, "a request is served more slowly than at a larger load of its series");
            }
        }
    }
}

/// Whether the prompts of plain decoding are more than the devices can compute in the time that their answers took. Looks at
/// models without experts alone, as which experts a token visits says how much it computes.
bool reads_prompts_too_fast(const MeasuredPoint& point, const ServingParts& parts) {
    const sim::Model& model = parts.models.at(point.model);
    if (point.quantity != MeasuredQuantity::throughput_gain || point.output_tokens <= 0.0 || sim::has_experts(model)) {
        return false;
    }
    const double tokens = point.prompt_tokens * (1.0 - point.prefix_hit) - point.shared_prefix;
    const double requests_per_second = point.batch / (point.plain_step * point.output_tokens);
    const double embedding = static_cast<double>(model.vocabulary_size * model.width);
    const double flops = 2.0 * (static_cast<double>(sim::parameter_count(model)) - 2.0 * embedding) * tokens;
    const double peak = parts.devices.at(point.device).peak_for(point.precision.math).value() * point.cut.devices();
    return requests_per_second * flops > peak;
}

/// One client sends all prompts of a series: what its fastest row cannot have computed, a prefix cache held in others, too.
void mark_prompts_read_too_fast(const Points& series, const ServingParts& parts) {
    for (const auto& [name, points] : series) {
        if (std::any_of(points.begin(), points.end(),
                        [&](const MeasuredPoint* point) { return reads_prompts_too_fast(*point, parts); })) {
            for (MeasuredPoint* point : points) {
                mark(*point, "a row of its series served more prompts than its devices can compute in the time");
            }
        }
    }
}

}  // namespace

void mark_contradictions(std::vector<MeasuredPoint>& points, std::span<const SpeculationRow> rows, const ServingParts& parts) {
    Points deployments, series;
    for (MeasuredPoint& point : points) {
        if (point.accept_length && point.measured > rounding * *point.accept_length) {
            mark(point, "its speed-up lies above its accept length");
        }
        if (point.plain_step > 0.0) {
            const SpeculationRow& row = rows[point.row];
            deployments[fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", row.source, row.model, row.device, row.engine_version,
                                    row.format, row.metric, point.batch, sim::text_of(point.cut.tensor, point.cut.parallel),
                                    group_of(point, {}, Grouping::context))]
                .push_back(&point);
            series[fmt::format("{}|{}|{}|{}|{}", row.series, point.speculation->label, row.metric, row.dataset,
                               group_of(point, {}, Grouping::context))]
                .push_back(&point);
        }
    }
    mark_other_plain_steps(deployments);
    mark_slower_at_smaller_loads(series);
    mark_prompts_read_too_fast(series, parts);
}

}  // namespace treeline::validation
