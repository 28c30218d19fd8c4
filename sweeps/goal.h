// What is required of a configuration: an objective and limits. Every choice of the best of several (recommendation, schedule,
// Pareto set, figures) is made here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sweeps/traffic.h"

namespace treeline::sweeps {

/// What is minimised, per generated token.
enum class Objective {
    throughput,  ///< device time (devices × seconds)
    latency,     ///< TPOT
    cost,        ///< money
    energy,      ///< joules
};
constexpr auto names_in(Objective) {
    using enum Objective;
    return enum_names<Objective>({{throughput, "throughput"}, {latency, "latency"}, {cost, "cost"}, {energy, "energy"}});
}

/// A configuration's figure in the objective, lower is better: device-seconds, seconds, dollars or joules per token. It falls
/// as 1/τ with the accept length.
double objective_of(const TrafficMeans& means, Objective objective);

/// Plain decoding on the cut of the devices that is judged, beside others. Ratios are of TTFT.
struct OwnPlain {
    // Beside the plain decoding that drafts are compared with; 0 where requests come faster than that one answers them.
    double alone = 1.0;               ///< of a prompt read alone, where batches are stated
    double mean = 1.0;                ///< of means under a load
    std::vector<double> at_points{};  ///< of the traffic, under a load; empty: 1 everywhere
    double slower = 0.0;              ///< decoding of an answer here less that there, under a load, in mean TTFTs there
    // Beside that on the cut where fewest requests wait.
    double waiting = 0.0;              ///< share of the requests in flight that wait, less that share there
    std::vector<double> waiting_at{};  ///< the same at the points of the traffic; empty: 0 everywhere
    double first_token_there = 1.0;    ///< of means under a load
    double slower_there = 0.0;         ///< `slower`, beside that one

    [[nodiscard]] double at(std::size_t point) const { return at_points.empty() ? 1.0 : at_points[point]; }
    [[nodiscard]] double waiting_at_point(std::size_t point) const { return waiting_at.empty() ? 0.0 : waiting_at[point]; }
};

struct Limits {
    std::optional<Seconds> time_per_token;       ///< TPOT, at every point of the traffic
    std::optional<Seconds> time_to_first_token;  ///< mean TTFT under a load; where batches are stated, of a prompt read alone
    std::optional<Bytes> memory;                 ///< of one device, below its capacity, at every point of the traffic
    double minimum_gain = 1.0;                   ///< gain below which plain decoding is preferred
    /// Of what drafts, against the best plain decoding on the same devices and stack (by `own_plain`) under the same load: a
    /// user has to ask for longer waits.
    double first_token_growth = 2.0;  ///< mean TTFT / that of plain decoding, at most
    /// Or, where more requests wait for a place, so much of the time that decoding of an answer saves, if that is more: one
    /// that waits half a second is no loss where its last token comes five seconds sooner. Nothing where the growth is stated.
    /// A judgement, not measured.
    double first_token_of_saved = 0.25;
    /// Share of the requests in flight that wait for a place, less the least share of plain decoding on any cut of the same
    /// devices (where latency is the objective, on any of the devices). Under a load, the mean TTFT counts that wait: more may
    /// wait where it keeps its own limit beside that plain decoding all the same or, if this share is stated, where it is
    /// shorter than there. Plain decoding is held to it, too, as if it were stated.
    double waiting = 0.05;
    bool waiting_stated = false;
    OwnPlain own_plain = {};  ///< of the variant that is judged
};

enum class Limit {
    memory,
    time_per_token,
    time_to_first_token,
    gain,
    load,                ///< that arrives faster than it can be served, or does not fit in a step
    first_token_growth,  ///< TTFT against plain decoding
    waiting              ///< requests that wait, against plain decoding
};
constexpr auto names_in(Limit) {
    using enum Limit;
    return enum_names<Limit>({{memory, "memory"},
                              {time_per_token, "tpot"},
                              {time_to_first_token, "ttft"},
                              {gain, "minimum_gain"},
                              {load, "load"},
                              {first_token_growth, "ttft_growth"},
                              {waiting, "waiting"}});
}

/// A plan's results over a traffic, compared with plain decoding: the same devices and stack under the same loads, without the
/// drafter in memory.
struct Outcome {
    int speculation = 0;  ///< DraftPlan::speculation
    TrafficMeans means;
    double objective = 0.0;
    /// Plain decoding's figure in the objective / this one's. Where either cannot serve a rate of arrivals: what this one can
    /// serve at most / what plain decoding can.
    double gain = 1.0;
    bool gain_of_capacity = false;    ///< the latter
    double speedup = 1.0;             ///< mean TPOT of plain decoding / mean TPOT
    double first_token_growth = 1.0;  ///< mean TTFT / that of plain decoding; 1 for decoding alone
    /// Time that decoding of an answer saves against plain decoding, in mean TTFTs of plain decoding; nothing where batches are
    /// stated, whose first tokens wait for nobody.
    std::optional<double> saved = {};
    /// Share of the requests in flight that wait, less that share in plain decoding. Where sequences keep room for states, so
    /// that drafting nothing frees none: the least at one of several batches, which are questions about each of them.
    double waiting = 0.0;
    std::string problem;  ///< why the load cannot be served, as a sentence; the means are those at the largest batch then
};

/// Outcomes of several plans, in their order. All must run.
std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, std::span<const DraftPlan> plans, const Traffic& traffic,
                                 Objective objective);
/// The same of speculations that are drafted at every point.
std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                                 Objective objective);

/// The outcome of a plan were the accept length of its speculation another one, its rounds costing what they cost.
Outcome outcome_with_length(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic, Objective objective,
                            double accept_length);

/// The accept length with which the plan would reach a figure of the objective over arrivals at random, its rounds costing what
/// they cost: a longer one leaves fewer requests in service, whose rounds are shorter. sim::unlimited where none up to 64 does.
double accept_length_under_arrivals(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic,
                                    Objective objective, double figure);

/// TTFT at each point of a traffic under a load.
std::vector<Seconds> first_tokens_of(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic);

/// The speculation wherever it keeps the limits, and nothing drafted (the drafter and room for its states stay in memory) at
/// the other points, if that breaks none there, or lets fewer requests wait; else the speculation.
DraftPlan plan_within(const sim::CompiledRound& round, int speculation, const Traffic& traffic, const Limits& limits);

/// A speculation over a traffic as a server runs it: everywhere where it keeps the limits, or else by plan_within(), if that
/// does.
struct PlannedOutcome {
    DraftPlan plan;
    Outcome outcome;
    std::optional<Limit> broken;  ///< by this outcome (broken_limit())
};
PlannedOutcome planned_outcome(const sim::CompiledRound& round, int speculation, const Traffic& traffic, Objective objective,
                               const Limits& limits);

/// Whether loads leave a speculation to a schedule: at each batch, whether it keeps the limits at the load that is nearest to
/// it when it is served so (its batch, by ratios). Batches by themselves have no queue, and prompts come one by one.
class LoadChoices {
public:
    LoadChoices(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                const Limits& limits);
    /// The limit that it breaks there; nothing where it may be drafted.
    [[nodiscard]] std::optional<Limit> broken(int speculation, double batch) const;

private:
    struct AtLoad {
        double batch = 1.0;
        std::optional<Limit> broken;
    };
    std::map<int, std::vector<AtLoad>> loads_;  ///< by speculation
};

/// Mean TTFT / that of the plain decoding that is compared with, at most, under a load.
double allowed_first_token_growth(const Outcome& outcome, const Limits& limits);

/// What the engine may take of a device for this speculation, or what the limits leave of it.
Bytes allowed_memory(const sim::CompiledRound& round, int speculation, const Limits& limits);

/// The first limit that is broken: load, memory, TPOT, waiting, growth of TTFT, gain (the last three only of what drafts).
/// TTFT is judged by recommend().
std::optional<Limit> broken_limit(const Outcome& outcome, const sim::CompiledRound& round, const Limits& limits);

/// The best of several outcomes, with and without limits.
struct BestOutcome {
    const Outcome* within = nullptr;  ///< smallest objective among those within the limits; null if there are none
    const Outcome* anyhow = nullptr;  ///< smallest objective of all; null if there are none
    std::optional<Limit> in_the_way;  ///< the limit that `anyhow` breaks
};
BestOutcome best_of(const std::vector<Outcome>& outcomes, const sim::CompiledRound& round, const Limits& limits);

/// All speculations of a round that run, plain decoding (0) included.
std::vector<int> runnable(const sim::CompiledRound& round);

/// Whether `a` is the better of two estimates at one point if only time counts: what fits beats what does not, then the shorter
/// TPOT wins; of two that do not fit, the one that needs less memory.
bool better_at_a_point(const sim::RoundEstimate& a, const sim::RoundEstimate& b);

/// The best of some speculations (better_at_a_point()), which must run; nothing if none fits in memory.
struct FittingPoint {
    int speculation = 0;
    sim::RoundEstimate estimate;
};
std::optional<FittingPoint> fastest_that_fits(const sim::CompiledRound& round, const std::vector<int>& speculations,
                                              double batch, double context);

}  // namespace treeline::sweeps
