// The traffic that a deployment serves, and what a configuration yields over it. All means over a traffic are computed here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/enum_names.h"
#include "sim/round.h"
#include "sweeps/load.h"

namespace treeline::sweeps {

/// A load and a context that occur together, and how often.
struct TrafficPoint {
    double load = 1.0;  ///< a batch, or what Traffic::kind says
    double context = 0.0;
    double share = 1.0;  ///< shares of a traffic sum to 1
};

/// What the shares of a traffic are shares of.
enum class ShareOf {
    time,    ///< wall-clock time, as dashboards show it: a faster configuration generates more tokens in the same time
    tokens,  ///< generated tokens: the work is the same for every configuration
};
constexpr auto names_in(ShareOf) {
    using enum ShareOf;
    return enum_names<ShareOf>({{time, "time"}, {tokens, "tokens"}});
}

struct Traffic {
    std::vector<TrafficPoint> points;
    ShareOf shares_of = ShareOf::time;
    LoadKind kind = LoadKind::batch;  ///< of the loads of all points
};

struct WeightedValue {
    double value = 0.0;
    double share = 1.0;
};

/// Traffic as the product of two distributions, shares normalised to sum to 1.
Traffic traffic_from(const std::vector<WeightedValue>& load, const std::vector<WeightedValue>& context,
                     ShareOf shares_of = ShareOf::time, LoadKind kind = LoadKind::batch);

/// The point that represents the traffic where a single one is needed: the largest share; among equals the smallest load, then
/// the shortest context. The traffic must not be empty.
const TrafficPoint& typical_point(const Traffic& traffic);

/// The largest load and the longest context of a traffic; what is asked for by batch must be stated in batches (settled_on()).
double largest_batch_of(const Traffic& traffic);
double longest_context_of(const Traffic& traffic);

/// The traffic's contexts, all at this batch: what a schedule decides on.
Traffic at_batch(const Traffic& traffic, double batch);

/// One batch and context alone.
Traffic single_point(double batch, double context);

/// What a configuration yields over a traffic. Times, energy and money are means over generated tokens, so that a point counts
/// for the tokens generated there: its share of tokens, or its share of time × its tokens/s.
struct TrafficMeans {
    Seconds time_per_token;                 ///< mean TPOT
    Seconds worst_time_per_token;           ///< of all points
    double tokens_per_second_device = 0.0;  ///< over time
    double decode_share_user = 1.0;         ///< of the TPOT: what is not spent on prompts of others
    double decode_share_device = 1.0;       ///< of the device's time: what is not spent on prompts
    Seconds time_per_round;                 ///< mean time between the rounds of a request: ITL
    Seconds first_token;                    ///< mean TTFT in the steady state, waiting included; 0 for decoding alone
    double in_service = 1.0;                ///< mean number of requests that decode, over time
    double queued = 0.0;                    ///< mean number of requests that wait for a place among them
    Bytes peak_memory;                      ///< of one device, over all points
    Joules energy_per_token;                ///< 0 if the device's energy is unknown
    Dollars price_per_token;                ///< 0 if the device's price is unknown
};

/// Where one of a traffic's loads settles. Sequences that are asked to decode together and do not fit wait (settle_capped()).
SettledLoad settle(const sim::CompiledRound& round, int speculation, LoadKind kind, const TrafficPoint& point);

/// What a configuration drafts at each point of a traffic: one speculation everywhere, or as `by_point` says.
struct DraftPlan {
    int speculation = 0;  ///< the one that is asked for; sim::drafting_off where it is off everywhere
    std::vector<int> by_point = {};

    DraftPlan(int everywhere) : speculation(everywhere) {}  // NOLINT(google-explicit-constructor): a number is a plan
    DraftPlan(int mostly, std::vector<int> of_points) : speculation(mostly), by_point(std::move(of_points)) {}
    [[nodiscard]] int at(std::size_t point) const { return by_point.empty() ? speculation : by_point[point]; }
};

/// Whether sequences of this draft need more room for recurrent states than those of a server that drafts nothing.
bool keeps_states(const sim::CompiledRound& round, int speculation);

/// The round of a server that was started for a speculation: each sequence keeps room for its recurrent states, however little
/// is drafted at the moment (vLLM's num_speculative_blocks, the pool of states of SGLang and TensorRT-LLM, and n_rs_seq of
/// llama.cpp are set when the engine starts). Plain decoding, which has no drafter, stays as it is. Refers to `round`.
class StartedRound {
public:
    StartedRound(const sim::CompiledRound& round, int speculation);
    [[nodiscard]] const sim::CompiledRound& get() const { return started_ ? *started_ : stated_; }

private:
    const sim::CompiledRound& stated_;
    std::optional<sim::CompiledRound> started_;
};

/// The server that runs a plan: where its points differ, one that was started for its speculation.
StartedRound server_of(const sim::CompiledRound& round, const DraftPlan& plan);

/// Why a point of a traffic cannot be served, as a sentence; empty if all can.
std::string problem_of(std::span<const SettledLoad> loads);

/// The same traffic, stated in the batches at which a plan serves it. Its speculations must run.
Traffic settled_on(const sim::CompiledRound& round, const DraftPlan& plan, const Traffic& traffic);

/// Means over settled points, in the order of the traffic.
TrafficMeans means_over(const Traffic& traffic, std::span<const SettledLoad> loads,
                        std::span<const sim::RoundEstimate> estimates);

/// The same under a plan, whose speculations must run.
TrafficMeans means_over(const Traffic& traffic, const sim::CompiledRound& round, const DraftPlan& plan);

}  // namespace treeline::sweeps
