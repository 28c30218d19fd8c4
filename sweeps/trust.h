// How far a recommendation can be trusted: its gain, the batch at which drafting stops paying, and the choice itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/measured_errors.h"
#include "sweeps/recommend.h"
#include "sweeps/uncertainty.h"

namespace treeline::sweeps {

/// An interval for the gain from measured errors, the acceptance as stated.
struct MeasuredGain {
    double nominal = 0.8;
    double low = 1.0, high = 1.0;
    double time_low = 1.0, time_high = 1.0;  ///< factors on the time of plain decoding, likewise
    std::size_t cases = 0, deployments = 0;  ///< that the errors come from
    std::size_t of_engine = 0;               ///< cases on the same engine
};

/// What another cost mode says.
struct OtherMode {
    sim::CostMode mode = sim::CostMode::roofline;
    double gain = 1.0;
    bool inside = true;  ///< the interval
};

/// Batches between which drafting stops paying for good: below `earliest` it pays, and from `latest` on it loses, with the
/// chance of a verdict (numerics::sure_chance).
struct SwitchOffRange {
    std::optional<int> earliest, latest;  ///< nothing: not up to `largest_batch`
    int largest_batch = 1;                ///< where the schedule ends
};

/// The choice, made again in worlds in which uncertain inputs lie elsewhere in their ranges.
struct ChoiceWorlds {
    int worlds = 0;
    int best = 0;       ///< of them, in which the recommended configuration, draft length included, is still the best
    int near_best = 0;  ///< in which it is at most `near_share` from the best
    double near_share = 0.03;
    std::string rival;  ///< who wins most often where it does not; empty if nobody
};

struct Trust {
    std::optional<MeasuredGain> measured;  ///< nothing where no engine like the recommended one was measured
    std::optional<GainChances> chances;    ///< with `measured`: that the gain is at least the workload's minimum
    std::optional<OtherMode> other_mode;
    std::optional<SwitchOffRange> switch_off;  ///< with `measured`
    std::optional<ChoiceWorlds> choice;
};

/// Of a recommendation that speculates, for the workload that it was made for.
Trust trust_of(const Recommendation& recommendation, const Workload& workload, const GainInterval& interval,
               const MeasuredErrors& errors);

/// The best configuration that drafts, where plain decoding is recommended.
struct RejectedDrafting {
    std::string label;  ///< drafter and shape
    double gain = 1.0;  ///< in the objective, as predicted
    std::optional<GainChances> chances;
};

/// Nothing if no configuration that drafts meets the limits.
std::optional<RejectedDrafting> rejected_drafting(const Recommendation& recommendation, const Workload& workload,
                                                  const MeasuredErrors& errors);

}  // namespace treeline::sweeps
