#include "numerics/residual_interval.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "numerics/quantile.h"

namespace treeline::numerics {
namespace {

constexpr double weight_of_trait = 2.0;
constexpr double weight_of_level = 0.4;
constexpr double weight_of_other_stacks = 0.25;

/// In ascending order of the ratios.
std::vector<WeightedValue> weighed(std::span<const CaseResidual> residuals, const CaseTraits& of) {
    std::map<std::pair<std::string_view, int>, double> cases;  // of a source at a level
    std::vector<const double*> cases_beside;
    cases_beside.reserve(residuals.size());
    for (const CaseResidual& residual : residuals) {
        double& count = cases[{residual.source, residual.traits.level}];
        count += 1.0;
        cases_beside.push_back(&count);
    }
    std::vector<WeightedValue> ratios;
    ratios.reserve(residuals.size());
    for (const CaseResidual& residual : residuals) {
        double weight = 1.0 / *cases_beside[ratios.size()];
        for (std::size_t i = 0; i < of.alike.size(); ++i) {
            weight *= residual.traits.alike[i] == of.alike[i] ? weight_of_trait : 1.0;
        }
        weight *= std::pow(weight_of_level, std::abs(residual.traits.level - of.level));
        weight *= residual.traits.own_stack == of.own_stack ? 1.0 : weight_of_other_stacks;
        ratios.push_back({residual.ratio, weight});
    }
    std::sort(ratios.begin(), ratios.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    return ratios;
}

std::size_t sources_of(std::span<const CaseResidual> residuals) {
    std::set<std::string_view> sources;
    for (const CaseResidual& residual : residuals) {
        sources.insert(residual.source);
    }
    return sources.size();
}

/// How much farther from the middle quantiles are taken, since a further source may lie outside of all that were seen.
double widening(std::size_t sources) { return (static_cast<double>(sources) + 1.0) / static_cast<double>(sources); }

}  // namespace

int level_of_batch(double batch) {
    int level = 0;
    for (const double end : {1.0, 4.0, 16.0, 64.0}) {
        level += batch > end ? 1 : 0;
    }
    return level;
}

ResidualInterval residual_interval(std::span<const CaseResidual> residuals, const CaseTraits& of, double nominal) {
    const std::vector<WeightedValue> ratios = weighed(residuals, of);
    const std::size_t sources = sources_of(residuals);
    const double half = std::min(0.5, 0.5 * nominal * widening(sources));
    return {weighted_quantile(ratios, 0.5 - half), weighted_quantile(ratios, 0.5 + half), ratios.size(), sources};
}

double residual_quantile(std::span<const CaseResidual> residuals, const CaseTraits& of, double at) {
    return weighted_quantile(weighed(residuals, of), at);
}

ResidualShares::ResidualShares(std::span<const CaseResidual> residuals, const CaseTraits& of)
    : weight_before_{0.0}, widening_(widening(sources_of(residuals))) {
    for (const WeightedValue& each : weighed(residuals, of)) {
        ratios_.push_back(each.value);
        weight_before_.push_back(weight_before_.back() + each.weight);
    }
}

double ResidualShares::below(double ratio) const {
    const auto first = std::lower_bound(ratios_.begin(), ratios_.end(), ratio);
    const double seen = weight_before_[static_cast<std::size_t>(first - ratios_.begin())] / weight_before_.back();
    return 0.5 + (seen - 0.5) / widening_;
}

double residual_share_below(std::span<const CaseResidual> residuals, const CaseTraits& of, double ratio) {
    return ResidualShares(residuals, of).below(ratio);
}

}  // namespace treeline::numerics
