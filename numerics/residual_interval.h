// Intervals of predictions from what earlier predictions missed: weighted quantiles of measured / predicted, in which cases
// that resemble the one asked for weigh more.
//
// Weights. What a source measured errs alike, whatever the number of its cases: each source has one vote at each level, shared
// among its cases. The vote doubles with each trait (engine, device, kind of model) that is the same, falls to two fifths with
// each level of the batch between, and to a quarter where one engine is described and the other priced by what describes
// another or all of them: how far those are off says little of each other. Quantiles are taken (n + 1)/n as far from the
// middle, for n sources: a further one may lie outside of all that were seen. The factors were chosen among a few by what
// intervals of left-out sources then held, which `treeline validate` prints.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace treeline::numerics {

/// What a case has in common with others.
struct CaseTraits {
    std::array<std::string, 3> alike;  ///< engine, device, kind of model
    int level = 0;                     ///< level_of_batch()
    bool own_stack = true;             ///< numbers of this engine priced it, not those of another or of all
};

/// A case that was measured and predicted.
struct CaseResidual {
    CaseTraits traits;
    std::string source;  ///< whose vote it shares: where it was published, or the deployment that was measured
    double ratio = 1.0;  ///< measured / predicted
};

/// The class of a batch that residuals are weighed by: 0 for 1, then 2 to 4, 5 to 16, 17 to 64, and 4 for more.
int level_of_batch(double batch);
inline constexpr int level_count = 5;

struct ResidualInterval {
    double low = 1.0, high = 1.0;  ///< factors on what is predicted
    std::size_t cases = 0;         ///< that have a weight
    std::size_t sources = 0;       ///< of those
};

/// The nominal share of the weight lies inside, with equal tails. `residuals` must not be empty.
ResidualInterval residual_interval(std::span<const CaseResidual> residuals, const CaseTraits& of, double nominal = 0.8);

/// The ratio up to which a share `at` of the weight lies: a draw from the residuals, for `at` uniform in 0 … 1.
double residual_quantile(std::span<const CaseResidual> residuals, const CaseTraits& of, double at);

/// Shares of the weight, of residuals that are weighed once for many questions.
class ResidualShares {
public:
    /// `residuals` must not be empty.
    ResidualShares(std::span<const CaseResidual> residuals, const CaseTraits& of);
    /// The chance of a ratio below `ratio`: the share of the weight that lies there, as much nearer to a half as quantiles of
    /// residual_interval() are farther from the middle, so that of an interval of nominal 80 % a tenth lies below its lower
    /// end.
    [[nodiscard]] double below(double ratio) const;

private:
    std::vector<double> ratios_;         ///< ascending
    std::vector<double> weight_before_;  ///< of the ratios before each, and of all
    double widening_ = 1.0;              ///< of quantiles, (n + 1)/n for n sources
};

/// ResidualShares::below() of one ratio.
double residual_share_below(std::span<const CaseResidual> residuals, const CaseTraits& of, double ratio);

}  // namespace treeline::numerics
