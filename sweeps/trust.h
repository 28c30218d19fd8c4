// How far a recommendation can be trusted: its gain, the batch at which drafting stops paying, and the choice itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/measured_errors.h"
#include "sweeps/recommend.h"
#include "sweeps/uncertainty.h"

namespace treeline::sweeps {

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
    std::optional<MeasuredTime> plain;     ///< of the same deployment without speculation, likewise
    std::optional<GainChances> chances;    ///< with `measured`: that the gain is at least the workload's minimum
    std::optional<OtherMode> other_mode;
    std::optional<SwitchOffRange> switch_off;  ///< with `measured`
    std::optional<ChoiceWorlds> choice;
};

/// The interval of a gain over a traffic in batches. Nothing on an accelerator, or where no engine like the setup's was
/// measured.
std::optional<MeasuredGain> measured_gain(const sim::RoundSetup& setup, const Traffic& settled, double gain,
                                          const MeasuredErrors& errors, const UnmeasuredFactors& unmeasured);

/// The same of the time per token without speculation.
std::optional<MeasuredTime> measured_time(const sim::RoundSetup& setup, const Traffic& settled, const MeasuredErrors& errors);

/// Of a recommendation that speculates, for the workload that it was made for.
Trust trust_of(const Recommendation& recommendation, const Workload& workload, const GainInterval& interval,
               const MeasuredErrors& errors);

/// The best configuration that drafts, where plain decoding is recommended.
struct RejectedDrafting {
    std::string label;  ///< drafter and shape
    double gain = 1.0;  ///< in the objective, over the best plain decoding whatever its cut, as predicted
    std::optional<GainChances> chances;
    std::optional<Limit> limit;  ///< that stands in the way, where a gain does not; then the figures of the last three limits:
    double waiting = 0.0;        ///< Outcome::waiting
    double first_token_growth = 1.0;
    Seconds first_token;  ///< TTFT: a mean under a load; where batches are stated, of a prompt read alone
    /// Where it drafts nothing at some loads, so that it keeps the limits: the first that drafts break there, and the gain if
    /// they were drafted everywhere.
    std::optional<Limit> off_for;
    double gain_everywhere = 1.0;
};

/// The best that gains within the limits; else the best that gains without them, of which the limit in the way is worth
/// knowing; else the one that loses least, within them if any does. Nothing if none can be priced. `workload`: the
/// recommendation's, with its traffic, objective and limits.
std::optional<RejectedDrafting> rejected_drafting(const Recommendation& recommendation, const Workload& workload,
                                                  const MeasuredErrors& errors);

}  // namespace treeline::sweeps
