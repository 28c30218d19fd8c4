#include "sweeps/diagnosis_plain.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace treeline::sweeps {
namespace {

/// Contexts, and prompts, that differ by less are one load.
constexpr double alike = 0.1;

bool are_alike(double a, double b) { return a <= 0.0 || b <= 0.0 || std::abs(a - b) <= alike * std::max(a, b); }

bool same_plain_load(const runs::RunCell& a, const runs::RunCell& b) {
    return a.batch == b.batch && are_alike(a.context, b.context) && are_alike(a.prompt_tokens, b.prompt_tokens);
}

/// Between known places in proportion to the logarithm, and as at the nearest one beyond them.
double interpolated(const std::map<double, double>& known, double at) {
    const auto above = known.lower_bound(at);
    if (above == known.end()) {
        return known.rbegin()->second;
    }
    if (above == known.begin() || above->first == at) {
        return above->second;
    }
    const auto below = std::prev(above);
    const double share = std::log(at / below->first) / std::log(above->first / below->first);
    return below->second + share * (above->second - below->second);
}

}  // namespace

diagnosis::PlainStep diagnosis::plain_step(const std::vector<DiagnosedPoint>& plain, const runs::RunCell& load) {
    PlainStep step;
    std::map<double, std::map<double, double>> factors;  // by batch, then context
    double nearest = alike;
    for (const DiagnosedPoint& point : plain) {
        const Seconds predicted = sim::evaluate(sim::compile_round(point.setup), point.point).round;
        const double factor = point.cell.round_seconds() / predicted.value();
        factors[point.cell.batch][std::max(1.0, point.cell.context)] = factor;
        const double distance = point.cell.context > 0.0 && load.context > 0.0
                                    ? std::abs(point.cell.context - load.context) / std::max(point.cell.context, load.context)
                                    : 0.0;
        if (same_plain_load(point.cell, load) && distance <= nearest) {
            nearest = distance;
            step.time = Seconds(point.cell.round_seconds());
            step.factor = factor;
            step.tpot = point.cell.tpot.known() ? point.cell.tpot.mean() : 0.0;
        }
    }
    if (step.factor <= 0.0 && !factors.empty()) {
        std::map<double, double> by_batch;
        for (const auto& [batch, by_context] : factors) {
            by_batch[batch] = interpolated(by_context, std::max(1.0, load.context));
        }
        step.factor = interpolated(by_batch, load.batch);
    }
    return step;
}

}  // namespace treeline::sweeps
