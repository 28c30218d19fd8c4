// What is required of a configuration: an objective and limits. Every choice of the best of several (recommendation, schedule,
// Pareto set, figures) is made here.
#pragma once

#include <optional>
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

struct Limits {
    std::optional<Seconds> time_per_token;       ///< TPOT, at every point of the traffic
    std::optional<Seconds> time_to_first_token;  ///< for a prompt of Workload::prompt_tokens, read alone
    std::optional<Bytes> memory;                 ///< of one device, below its capacity, at every point of the traffic
    double minimum_gain = 1.0;                   ///< gain below which plain decoding is preferred
};

enum class Limit { memory, time_per_token, time_to_first_token, gain };
constexpr auto names_in(Limit) {
    using enum Limit;
    return enum_names<Limit>(
        {{memory, "memory"}, {time_per_token, "tpot"}, {time_to_first_token, "ttft"}, {gain, "minimum_gain"}});
}

/// A speculation's results over a traffic, compared with plain decoding of the same compiled round.
struct Outcome {
    int speculation = 0;
    TrafficMeans means;
    double objective = 0.0;
    double gain = 1.0;     ///< plain decoding's figure in the objective / this one's
    double speedup = 1.0;  ///< mean TPOT of plain decoding / mean TPOT
};

/// Outcomes of several speculations, in their order. All must run.
std::vector<Outcome> outcomes_of(const sim::CompiledRound& round, const std::vector<int>& speculations, const Traffic& traffic,
                                 Objective objective);

/// The device's memory, or what the limits leave of it.
Bytes allowed_memory(const sim::CompiledRound& round, const Limits& limits);

/// The first limit that is broken: memory, TPOT, gain (plain decoding need not gain). TTFT, which does not depend on the
/// traffic, is judged once per variant.
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
