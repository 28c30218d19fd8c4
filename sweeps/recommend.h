// From a workload to a recommendation: the best configuration, its rivals with their regret, the trade-offs, a schedule by
// batch size, and a reason for everything that was left out. Results do not depend on the number of threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/pareto.h"
#include "sweeps/workload.h"

namespace treeline::sweeps {

/// A configuration (variant and fixed shape) with its means over the traffic.
struct Candidate : TrafficMeans {
    std::size_t variant = 0;  ///< index into Recommendation::variants
    int speculation = 0;      ///< index into Recommendation::speculations; 0 = plain decoding
    int draft_tokens = 0;     ///< nodes of its shape
    double accept_length = 1.0;
    double break_even_accept_length = 1.0;  ///< below this accept length plain decoding is better in the objective
    double gain = 1.0;                      ///< plain decoding's objective on the same platform / its objective
    double speedup = 1.0;                   ///< mean TPOT of plain decoding on the same platform / mean TPOT
    Seconds time_to_first_token;            ///< mean under a load; where batches are stated, of a prompt read alone
    double tokens_per_second_user = 0.0;    ///< 1 / mean TPOT
    double wasted_draft_share = 0.0;
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;  ///< of its accept length
    double objective = 0.0;                                     ///< objective_of() its means; lower is better
    double regret = 0.0;                                        ///< objective / best objective − 1
};

/// One line of a schedule: for batches from `batch_from` to `batch_to` draft this shape.
struct ScheduleEntry {
    int batch_from = 1;
    int batch_to = 1;
    int speculation = 0;
    int draft_tokens = 0;       ///< its nodes
    double speedup_from = 1.0;  ///< TPOT of plain decoding / TPOT, at batch_from
    double speedup_to = 1.0;    ///< at batch_to
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;
};

/// One more sequence at which the speed-up of the schedule falls at once: measured kernels take rows in tiles, captured graphs
/// in sizes, and experts a new tile each.
struct ScheduleStep {
    int batch = 1;        ///< the last one before it
    double before = 1.0;  ///< TPOT of plain decoding / TPOT there
    double after = 1.0;   ///< with one more
};

/// The best shape at each batch, by the objective and within the limits, at every context of the traffic.
struct Schedule {
    std::vector<ScheduleEntry> entries;
    std::vector<ScheduleStep> steps;        ///< of more than 3 %, and of three times what its neighbours change; ascending
    std::optional<int> switch_off_batch;    ///< the smallest batch from which speculation never runs up to `largest_batch`
    std::optional<Limit> switch_off_limit;  ///< the limit that the best drafts break there; none: plain decoding is better
    int largest_batch = 1;                  ///< where the schedule ends
    std::optional<Limit> end_limit;         ///< the limit that plain decoding breaks beyond; none: 1,024 was reached
    double gain = 1.0;                      ///< in the objective over the traffic, when the schedule is followed
    double speedup = 1.0;                   ///< the same in mean TPOT
};

/// A device of the workload, and the best that it can do.
struct DeviceChoice {
    std::string platform;  ///< VariantLabels::platform()
    const Candidate* best = nullptr;
};

/// A point of the trade-off between users and devices.
struct TradeoffPoint {
    std::size_t variant = 0;
    int speculation = 0;
    int draft_tokens = 0;
    double batch = 1.0;
    double context = 0.0;
    double tokens_per_second_user = 0.0;
    double tokens_per_second_device = 0.0;
    double speedup = 1.0;
    Joules energy_per_token;  ///< 0 if the device's energy is unknown
    bool on_front = false;
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;  ///< of its accept length
};

struct Recommendation {
    std::vector<Variant> variants;               ///< the workload's, plus plain decoding on each platform
    std::vector<sim::Speculation> speculations;  ///< the workload's
    std::vector<Candidate> candidates;           ///< all that meet the limits, best first; the first is the recommendation
    std::vector<Candidate> runners_up;           ///< the best of each other variant, best first
    Candidate plain;                             ///< plain decoding on the recommended platform
    bool speculate = false;                      ///< false when plain decoding wins
    Traffic settled;                             ///< the traffic in batches: those at which the recommendation serves its loads
    Schedule schedule;                           ///< of the recommended variant, of what its server can change between
    std::vector<TradeoffPoint> tradeoffs;
    std::vector<Exclusion> excluded;
    /// The mean accept length of the recommended drafter at which, other things equal, the best runner-up would be as good.
    std::optional<double> flip_accept_length;
};

/// Nothing if no configuration meets the limits; `excluded` then says why for each.
struct RecommendationResult {
    std::optional<Recommendation> recommendation;
    std::vector<Exclusion> excluded;
};

/// The workload must have no problems_of(); variants that cannot be priced are excluded with their reason.
RecommendationResult recommend(const Workload& workload, unsigned threads);

/// The best candidate of each device, best first; devices without any are left out. Valid as long as the recommendation.
std::vector<DeviceChoice> best_of_each_device(const Recommendation& recommendation);

/// Shape by batch size for one compiled variant: at each batch from 1 to `largest_batch` the best of some of the round's
/// speculations, which must run; the first must be plain decoding (0). It ends before the first batch at which none keeps
/// the limits. TTFT, which the batch does not change, is not judged.
Schedule schedule_for(const sim::CompiledRound& round, const std::vector<int>& speculations, const Workload& workload,
                      int largest_batch);

}  // namespace treeline::sweeps
