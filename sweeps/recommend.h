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
    std::size_t variant = 0;       ///< index into Recommendation::variants
    int speculation = 0;           ///< index into Recommendation::speculations; 0 = plain decoding
    DraftPlan plan = 0;            ///< the same at each point of the traffic, but for those where it breaks a limit and is off
    std::optional<Limit> off_for;  ///< that limit, the first where it is off at all
    int draft_tokens = 0;          ///< nodes of its shape
    double accept_length = 1.0;
    double break_even_accept_length = 1.0;  ///< below this accept length plain decoding is better in the objective
    bool gain_of_capacity = false;          ///< Outcome::gain_of_capacity
    bool overrun = false;                   ///< requests come faster than it answers them
    /// The objective of the best plain decoding on the same devices and stack (Recommendation::plain) / its objective; where
    /// `gain_of_capacity`, Outcome::gain.
    double gain = 1.0;
    double speedup = 1.0;                 ///< mean TPOT of plain decoding on the same platform / mean TPOT
    Seconds time_to_first_token;          ///< mean under a load; where batches are stated, of a prompt read alone
    double tokens_per_second_user = 0.0;  ///< 1 / mean TPOT
    double wasted_draft_share = 0.0;
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;  ///< of its accept length
    double objective = 0.0;                                     ///< objective_of() its means; lower is better
    double regret = 0.0;                                        ///< objective / best objective − 1
    /// Requests/s that it serves at most within the limits, where that is asked for (Workload::most_arrivals): all figures are
    /// those at this rate, and the gain is the ratio of such rates. 0 otherwise, and where it serves none.
    double requests_per_second = 0.0;
};

/// One line of a schedule: for batches from `batch_from` to `batch_to` draft this shape.
struct ScheduleEntry {
    int batch_from = 1;
    int batch_to = 1;
    int speculation = 0;
    int draft_tokens = 0;   ///< its nodes
    double least = 1.0;     ///< TPOT of plain decoding / TPOT, over the batches of the range
    double greatest = 1.0;  ///< likewise
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;
};

/// One more sequence at which the speed-up of the schedule falls at once: measured kernels take rows in tiles, captured graphs
/// in sizes, and experts a new tile each.
struct ScheduleStep {
    int batch = 1;        ///< the last one before it
    double before = 1.0;  ///< TPOT of plain decoding / TPOT there
    double after = 1.0;   ///< with one more
};

/// The best shape at each batch, by the objective and within the limits, at every context of the traffic. A shape is kept while
/// it costs at most `schedule_tolerance` more than the best one.
struct Schedule {
    std::vector<ScheduleEntry> entries;  ///< up to the largest load that was asked for
    std::vector<ScheduleStep> steps;     ///< of more than 3 %, and of three times what its neighbours change; ascending
    std::vector<double> gains;  ///< by batch from 1 to `largest_batch`: of the best that drafts within the limits, or 0
    std::optional<int> switch_off_batch;    ///< the smallest batch from which nothing is drafted up to `largest_batch`
    std::optional<Limit> switch_off_limit;  ///< the limit that the best drafts break there; none: plain decoding is better
    int largest_batch = 1;                  ///< the largest at which the drafter's server keeps the limits, at most 1,024
    std::optional<Limit> end_limit;         ///< the limit that it breaks beyond, whatever is drafted; none: 1,024 was reached
    double gain = 1.0;                      ///< in the objective over the traffic, when the schedule is followed
    double speedup = 1.0;                   ///< the same in mean TPOT
    std::optional<Limit> broken;            ///< that following it over the traffic breaks
};

/// In the objective: what a schedule may lose for having fewer ranges.
inline constexpr double schedule_tolerance = 0.015;

/// What a schedule must gain over the best single length to be worth telling an engine of: predictions miss more.
inline constexpr double worthwhile_schedule = 1.02;

/// How many sequences one server holds at the longest context of the traffic, and what the drafter takes of that.
struct Capacity {
    double plain = 0.0;                  ///< without the drafter
    double compared = 0.0;               ///< of the plain decoding that is compared with, which may be on another cut
    double drafting = 0.0;               ///< with the recommended shape
    double off = 0.0;                    ///< with the drafter in memory and nothing drafted
    double context = 0.0;                ///< where
    bool whole_context = true;           ///< whether each group of devices holds a sequence of the model's longest context
    Bytes allowed;                       ///< of one device
    std::vector<sim::MemoryPart> parts;  ///< of one device, with the recommended shape and as many sequences as it holds
};

/// A load that no configuration serves within the limits; the answer is about the others.
struct UnservedLoad {
    TrafficPoint point;
    std::string reason;  ///< of the best there, a sentence's end
};

/// Arrivals that no configuration keeps up with: the answer is about servers that are always full.
struct Saturation {
    double asked = 0.0;  ///< requests/s, the least of the traffic
    double plain = 0.0;  ///< requests/s that plain decoding on the recommended platform serves at most
    double best = 0.0;   ///< and the recommended configuration
    // Set aside, since a wait that grows without end keeps none of them.
    std::optional<Seconds> first_token_limit;  ///< on TTFT
    bool was_for_latency = false;              ///< the objective that was asked for; the answer is for throughput
};

/// The largest rates of arrivals within the limits, in requests/s, and the limits that one per cent more breaks.
struct MostRate {
    double best = 0.0, plain = 0.0;  ///< of the recommendation, and of plain decoding; 0 where that serves none
    Limit held_by = Limit::load, plain_held_by = Limit::load;  ///< load: the server is always full
    std::optional<Candidate> drafting;                         ///< where plain decoding is recommended: the best that drafts
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
    double batch = 0.0;
    double context = 0.0;
    double tokens_per_second_user = 0.0;
    double tokens_per_second_device = 0.0;
    double speedup = 0.0;
    Joules energy_per_token;  ///< 0 if the device's energy is unknown
    bool on_front = false;
    sim::AcceptanceBasis basis = sim::AcceptanceBasis::stated;  ///< of its accept length
};

/// The mean accept length of the recommended drafter, at the recommended shape and with rounds that cost what they cost, below
/// which a runner-up would be the better choice: one that drafts otherwise or not at all, or one with the same drafter, whose
/// accept length falls with it.
struct FlipLength {
    double accept_length = 1.0;  ///< tokens a round, bonus token included; the longest at which one is as good
    std::size_t variant = 0;     ///< that runner-up's; index into Recommendation::variants
};

struct Recommendation {
    std::vector<Variant> variants;               ///< the workload's, plus plain decoding on each platform
    std::vector<sim::Speculation> speculations;  ///< the workload's
    std::vector<Candidate> candidates;           ///< all that meet the limits, best first; the first is the recommendation
    std::vector<Candidate> runners_up;           ///< the best of each other variant, best first
    /// The best of each variant that nobody can run yet (Variant::untrained), best first; in none of the lists above. Regret is
    /// negative where it would beat the recommendation.
    std::vector<Candidate> untrained;
    /// The best plain decoding on the devices and stack of the recommendation that keeps the limits, or the best of all where
    /// none does: what gains are measured against.
    Candidate plain;
    bool speculate = false;  ///< false when plain decoding wins
    /// What the answer is about: the workload's, but for loads that nobody serves (`unserved`, `saturation`).
    Traffic traffic;
    Objective objective = Objective::throughput;
    Limits limits;
    std::vector<OwnPlain> own_plain;       ///< by variant: Limits::own_plain with which each was judged; empty: 1 for all
    Traffic settled;                       ///< the traffic in batches: those at which the recommendation serves its loads
    Capacity capacity;                     ///< of the recommended variant
    std::vector<UnservedLoad> unserved;    ///< left out of the traffic
    std::optional<Saturation> saturation;  ///< the traffic is a closed loop that keeps all servers full, then
    std::optional<MostRate> most_rate;     ///< where it was asked for; the traffic is at the recommendation's rate
    Schedule schedule;                     ///< of the recommended variant, of what its server can change between
    std::vector<TradeoffPoint> tradeoffs;
    std::vector<Exclusion> excluded;
    std::optional<FlipLength> flip;  ///< nothing where no runner-up would be better at any accept length
};

/// The limits that one of its variants was judged by.
inline Limits limits_for(const Recommendation& found, std::size_t variant) {
    Limits limits = found.limits;
    limits.own_plain = variant < found.own_plain.size() ? found.own_plain[variant] : OwnPlain{};
    return limits;
}

/// Whether requests wait ever longer, so that there is no time to the first token and no number of them that wait.
inline bool waits_for_ever(const Recommendation& found, const Candidate& candidate) {
    return found.saturation.has_value() || candidate.overrun;
}

/// Whether following the schedule gains more over the best single length than noise, so that an engine is told of it.
inline bool schedule_pays(const Recommendation& found) {
    return found.schedule.gain > worthwhile_schedule * found.candidates.front().gain;
}

/// Nothing if no configuration meets the limits; `excluded` then says why for each.
struct RecommendationResult {
    std::optional<Recommendation> recommendation;
    std::vector<Exclusion> excluded;
    /// Without a recommendation: the configuration that comes closest to the limits on times and memory, and by which it
    /// misses them; nothing where none misses by these alone.
    std::optional<Exclusion> nearest = std::nullopt;
};

/// The workload must have no problems_of(); variants that cannot be priced are excluded with their reason.
RecommendationResult recommend(const Workload& workload, unsigned threads);

/// The best candidate of each device, best first; devices without any are left out. Valid as long as the recommendation.
std::vector<DeviceChoice> best_of_each_device(const Recommendation& recommendation);

/// The largest batch that a traffic asks of a variant: of a load, where plain decoding and drafting settle.
int largest_batch_asked(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic);

/// Shape by batch size for one compiled variant: at each batch from 1 to `largest_batch` the best of some of the round's
/// speculations, which must run; the first must be plain decoding (0), which here leaves the drafter in memory. The server is
/// one that was started for the longest of them (StartedRound). It ends before
/// the first batch at which none keeps the limits; its entries end at the largest load that the workload asks for. TTFT and
/// requests that wait are judged at the loads (LoadChoices). Where several speculations serve equally many batches, `preferred`
/// is kept.
Schedule schedule_for(const sim::CompiledRound& round, const std::vector<int>& speculations, const Workload& workload,
                      int largest_batch, int preferred = 0);

}  // namespace treeline::sweeps
