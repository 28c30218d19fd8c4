#include "sweeps/adaptive/policies.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "numerics/bisection.h"

namespace treeline::sweeps {
namespace {

constexpr int quadrature_points = 41;

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Points and weights of a standard normal: an even grid over ±5, which is exact to many digits for smooth functions.
struct NormalGrid {
    std::vector<double> at, weight;

    NormalGrid() {
        double sum = 0.0;
        for (int i = 0; i < quadrature_points; ++i) {
            const double x = -5.0 + 10.0 * i / (quadrature_points - 1);
            at.push_back(x);
            weight.push_back(std::exp(-0.5 * x * x));
            sum += weight.back();
        }
        for (double& w : weight) {
            w /= sum;
        }
    }
};

/// E over e of the chance of a draft.
double mean_chance(const NormalGrid& grid, double logit, double spread) {
    double mean = 0.0;
    for (std::size_t i = 0; i < grid.at.size(); ++i) {
        mean += grid.weight[i] * logistic(logit + spread * grid.at[i]);
    }
    return mean;
}

}  // namespace

Seconds PolicyTimes::rest_of(double verified_drafts) const {
    const double length = verified_drafts / batch;
    const auto last = static_cast<double>(rest.size() - 1);
    const double below = std::min(std::floor(length), std::max(0.0, last - 1.0));
    const auto index = static_cast<std::size_t>(below);
    return index + 1 < rest.size() ? rest[index] + (rest[index + 1] - rest[index]) * (length - below) : rest[index];
}

std::optional<double> PoliciesInput::measured_gain(const std::string& policy, std::size_t batch) const {
    for (const MeasuredPolicy& found : measured) {
        if (found.name == policy && batch < found.gain.size()) {
            return found.gain[batch];
        }
    }
    return std::nullopt;
}

std::string Policy::name() const {
    char text[64];
    switch (kind) {
        case PolicyKind::fixed:
            return length == 0 ? "plain decoding" : "fixed " + std::to_string(length);
        case PolicyKind::cut_off:
            std::snprintf(text, sizeof text, "cut-off %g", threshold);
            return text;
        default:
            return std::string(name_of(kind));
    }
}

std::vector<double> position_logits(const PolicyProblem& problem) {
    const NormalGrid grid;
    std::vector<double> reached(grid.at.size(), 1.0);  // P(all before were accepted | u)
    std::vector<double> logits;
    for (const double target : problem.per_position) {
        const auto accepted = [&](double logit) {
            double sum = 0.0;
            for (std::size_t i = 0; i < grid.at.size(); ++i) {
                sum += grid.weight[i] * reached[i] *
                       mean_chance(grid, logit + problem.request_spread * grid.at[i], problem.draft_spread);
            }
            return sum;
        };
        const double logit = numerics::bisect({-40.0, 40.0}, 80, [&](double x) { return accepted(x) < target; }).middle();
        for (std::size_t i = 0; i < grid.at.size(); ++i) {
            reached[i] *= mean_chance(grid, logit + problem.request_spread * grid.at[i], problem.draft_spread);
        }
        logits.push_back(logit);
    }
    return logits;
}

std::vector<std::string> problems_of(const PolicyProblem& problem) {
    std::vector<std::string> problems;
    double before = 1.0;
    for (const double position : problem.per_position) {
        if (!(position >= 0.0 && position <= before)) {
            problems.emplace_back("acceptance by position must lie between 0 and 1 and must not increase");
            break;
        }
        before = position;
    }
    if (problem.per_position.empty()) {
        problems.emplace_back("policies need at least one draft token");
    }
    for (const PolicyTimes& times : problem.batches) {
        if (times.rest.size() != problem.per_position.size() + 1 || times.draft.size() != times.rest.size()) {
            problems.push_back("the times of batch " + std::to_string(times.batch) + " must cover drafts of 0 to " +
                               std::to_string(problem.per_position.size()) + " tokens");
        } else if (std::any_of(times.rest.begin(), times.rest.end(), [](Seconds rest) { return !(rest > Seconds(0.0)); })) {
            problems.push_back("drafting takes all of a round's time at batch " + std::to_string(times.batch) +
                               ", so nothing is left for its verification");
        }
    }
    return problems;
}

}  // namespace treeline::sweeps
