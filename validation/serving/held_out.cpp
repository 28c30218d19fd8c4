#include "validation/serving/held_out.h"

#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace treeline::validation {

namespace {

numerics::CaseTraits traits_of(const RowGroups& groups, std::size_t row) {
    return groups.traits.empty() ? numerics::CaseTraits() : groups.traits[row];
}

std::vector<numerics::CaseResidual> residuals_of(const std::vector<std::size_t>& rows, const RowGroups& groups,
                                                 std::span<const double> measured, const PredictRow& predict) {
    std::vector<numerics::CaseResidual> residuals;
    for (const std::size_t row : rows) {
        residuals.push_back({traits_of(groups, row), groups.source[row], measured[row] / predict(row)});
    }
    return residuals;
}

/// Intervals of the same residuals by traits, each computed once.
class Intervals {
public:
    Intervals(std::vector<numerics::CaseResidual> residuals, double nominal)
        : residuals_(std::move(residuals)), nominal_(nominal) {}

    const numerics::ResidualInterval& of(const numerics::CaseTraits& traits) {
        const auto [found, is_new] = known_.try_emplace({traits.alike, traits.level, traits.own_stack});
        if (is_new) {
            found->second = residuals_.empty() ? numerics::ResidualInterval{0.0, std::numeric_limits<double>::infinity(), 0, 0}
                                               : numerics::residual_interval(residuals_, traits, nominal_);
        }
        return found->second;
    }

private:
    std::vector<numerics::CaseResidual> residuals_;
    double nominal_;
    std::map<std::tuple<std::array<std::string, 3>, int, bool>, numerics::ResidualInterval> known_;
};

}  // namespace

std::vector<HeldOutRow> leave_families_out(const RowGroups& groups, std::span<const double> measured, const FitRows& fit,
                                           double nominal) {
    std::map<std::string, std::vector<std::size_t>> families;
    for (std::size_t row = 0; row < groups.family.size(); ++row) {
        families[groups.family[row]].push_back(row);
    }
    std::vector<HeldOutRow> result(groups.family.size());
    for (const auto& [family, rows] : families) {
        std::vector<std::size_t> others;
        for (std::size_t row = 0; row < groups.family.size(); ++row) {
            if (groups.family[row] != family) {
                others.push_back(row);
            }
        }
        const bool alone = others.empty();
        const PredictRow predict = fit(alone ? rows : others);
        const std::vector<numerics::CaseResidual> residuals = residuals_of(others, groups, measured, predict);
        Intervals intervals(residuals, nominal);
        for (const std::size_t row : rows) {
            const double predicted = predict(row);
            const numerics::ResidualInterval& interval = intervals.of(traits_of(groups, row));
            const double below =
                alone ? 0.5 : numerics::residual_share_below(residuals, traits_of(groups, row), 1.0 / predicted);
            result[row] = {predicted, predicted * interval.low, predicted * interval.high, below};
        }
    }
    return result;
}

double coverage(std::span<const HeldOutRow> rows, std::span<const double> measured) {
    std::size_t inside = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        inside += rows[i].low <= measured[i] && measured[i] <= rows[i].high ? 1 : 0;
    }
    return rows.empty() ? 0.0 : static_cast<double>(inside) / static_cast<double>(rows.size());
}

}  // namespace treeline::validation
