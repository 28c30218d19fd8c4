// What a recommendation is asked for: what may be used, the traffic it must serve, and the limits it must keep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/design_space.h"

namespace treeline {

/// A share of the generated tokens, and the batch and context at which they are generated.
struct TrafficPoint {
    double batch = 1.0;
    double context = 0.0;
    double share = 1.0;  ///< shares of a workload sum to 1
};

struct Limits {
    std::optional<Seconds> time_per_token;       ///< TPOT, at every traffic point
    std::optional<Seconds> time_to_first_token;  ///< of a prompt of Workload::prompt_tokens, read alone
    std::optional<Bytes> memory;                 ///< of one device, below its capacity
    double minimum_gain = 1.0;                   ///< mean speed-up below which plain decoding is recommended
};

/// What is made as small as possible, a generated token.
enum class Objective {
    throughput,  ///< device time (devices × seconds)
    latency,     ///< TPOT
    cost,        ///< money
    energy,      ///< joules
};

struct Workload {
    std::string title;
    std::vector<Variant> variants;  ///< candidates; plain decoding on each of their platforms is added
    std::vector<Speculation> speculations = chains_up_to(8);  ///< shapes to choose from; the first is plain decoding
    std::vector<TrafficPoint> traffic;
    double prompt_tokens = 0.0;
    Limits limits;
    Objective objective = Objective::throughput;
};

/// Traffic as the product of two distributions, shares normalised to sum to 1.
struct WeightedValue {
    double value = 0.0;
    double share = 1.0;
};
std::vector<TrafficPoint> traffic_from(const std::vector<WeightedValue>& batch, const std::vector<WeightedValue>& context);

/// Every violated constraint as a sentence.
std::vector<std::string> problems_of(const Workload& workload);

}  // namespace treeline
