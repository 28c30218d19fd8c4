// What a deployment was measured to take at single loads, over what the numbers of its stack predict there.
//
// A few numbers cannot follow every step of a deployment. What they leave is kept beside them, load by load, as a ratio
// measured / predicted: where the very load is asked, the answer is what was measured. Loads that resemble each other miss
// alike, and the less they do, the less alike; so the logarithm of the ratio at any load is
//
//   ln ratio(x) = sum over loads j of w_j·exp(-d(x, j)),
//   d = (|Δ ln batch|/reach_of_batch + |Δ ln(context + short_context)|/reach_of_context)/reach
//       + |Δ ln(1 + drafts)|/reach_of_drafts,
//
// with the weights w that give each measured load its own ratio. Between two neighbours that is close to a straight line in
// the logarithms, a third one beyond them does not count, and away from all of them it fades to ratio 1: to the numbers alone.
// (It is the mean of a Gaussian process whose covariance is exp(-d), Rasmussen and Williams, Gaussian Processes for Machine
// Learning, section 4.2.1.)
#pragma once

#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::sim {

struct MeasuredLoad {
    double batch = 1.0, context = 0.0;
    double draft_tokens = 0.0;  ///< 0: a step of plain decoding
    Seconds measured;           ///< a step or a round of the whole batch, with the prompts that were read meanwhile
    double ratio = 1.0;         ///< measured / predicted by the numbers of the stack
};

/// The loads of one deployment; no other is told anything by them.
struct MeasuredLoads {
    std::string target, weights;  ///< names: of the model, and of the number format of its weights
    std::string device, mode;     ///< of the device, and of the CostMode that predicted
    double devices = 1.0;
    std::string drafter;  ///< DrafterPlan::kind of the loads that draft; empty: none does
    /// How far a load speaks for others, over how far loads do of which several were measured. One alone says nothing of how
    /// errors change from load to load, and what it shares with others is in the stack's factors: reach_of_one_load. Of drafts
    /// of another length at that very load it says as much as ever, or the length that was measured would seem the slowest.
    double reach = 1.0;
    std::vector<MeasuredLoad> loads;
    /// Memory that the model reckons these loads to need, over what it reckons to be there; 1 where it holds them all. They
    /// were served, so whether the model takes too much for a sequence or some waited unseen, their times are those of such
    /// loads.
    double memory = 1.0;
};
inline constexpr double most_measured_memory = 4.0;  ///< beyond, most of the requests waited

/// Loads that lie as close together as two runs of one load are kept as one, and at most so many: what a fit keeps.
inline constexpr double same_load = 0.02;  ///< distance_of()
inline constexpr std::size_t most_measured_loads = 64;
std::vector<MeasuredLoad> distinct_loads(const std::vector<MeasuredLoad>& loads);

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const MeasuredLoads& loads);

/// d above.
double distance_of(const MeasuredLoad& a, const MeasuredLoad& b);

/// Ratios of measured over predicted times: of plain decoding, and of what a round takes.
struct LoadFactors {
    double plain = 1.0, round = 1.0;
};
struct LoadFactorBounds {
    LoadFactors least, most;
};

/// The rule above, ready to be asked. By default, ratio 1 at every load.
class LoadRatios {
public:
    LoadRatios() = default;
    /// Of loads without problems, whatever the deployment.
    explicit LoadRatios(const MeasuredLoads& measured);

    [[nodiscard]] bool empty() const { return loads_.empty(); }
    [[nodiscard]] LoadFactors at(double batch, double context, double draft_tokens) const;
    /// Between which the factors of a box of batches and contexts lie; those of its point where it has but one.
    [[nodiscard]] LoadFactorBounds over(double least_batch, double most_batch, double least_context, double most_context,
                                        double draft_tokens) const;

private:
    struct Place {
        double batch = 0.0, context = 0.0, tokens = 0.0;  ///< in reaches
    };
    static Place place_of(double batch, double context, double draft_tokens, double reach);
    static double distance(const Place& low, const Place& high, const Place& load);
    static double farthest(const Place& low, const Place& high, const Place& load);
    [[nodiscard]] double ratio_at(const Place& place) const;
    [[nodiscard]] double bound(const Place& low, const Place& high, bool upper) const;
    friend double distance_of(const MeasuredLoad& a, const MeasuredLoad& b);

    std::vector<Place> loads_;
    std::vector<double> weights_;
    double reach_ = 1.0;
};

}  // namespace treeline::sim
