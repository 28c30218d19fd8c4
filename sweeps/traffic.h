// The traffic that a deployment serves, and what a configuration yields over it. All means over a traffic are computed here.
#pragma once

#include <span>
#include <vector>

#include "sim/enum_names.h"
#include "sim/round.h"

namespace treeline::sweeps {

/// A batch and a context that occur together, and how often.
struct TrafficPoint {
    double batch = 1.0;
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
};

struct WeightedValue {
    double value = 0.0;
    double share = 1.0;
};

/// Traffic as the product of two distributions, shares normalised to sum to 1.
Traffic traffic_from(const std::vector<WeightedValue>& batch, const std::vector<WeightedValue>& context,
                     ShareOf shares_of = ShareOf::time);

/// The point that represents the traffic where a single one is needed: the largest share; among equals the smallest batch, then
/// the shortest context. The traffic must not be empty.
const TrafficPoint& typical_point(const Traffic& traffic);

/// The largest batch and the longest context of a traffic.
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
    Bytes peak_memory;                      ///< of one device, over all points
    Joules energy_per_token;                ///< 0 if the device's energy is unknown
    Dollars price_per_token;                ///< 0 if the device's price is unknown
};

/// One estimate for each point of the traffic, in its order.
TrafficMeans means_over(const Traffic& traffic, std::span<const sim::RoundEstimate> estimates);

/// The same with one speculation at every point, which must run.
TrafficMeans means_over(const Traffic& traffic, const sim::CompiledRound& round, int speculation);

}  // namespace treeline::sweeps
