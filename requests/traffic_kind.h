// Which requests acceptance is asked for: their categories, the temperature, whether the model reasons first.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "json/key.h"
#include "sim/measured_acceptance.h"
#include "sweeps/traffic.h"

namespace treeline::requests::traffic_kind_keys {

using namespace json;

inline constexpr PartKey categories{"categories", "object",
                                    "of published drafters: kinds of requests with their shares of generated tokens: "
                                    "`{\"chat\": 0.6, \"code\": 0.4}`",
                                    "all that were measured, alike"};
inline constexpr NumberKey temperature{
    "temperature", "", 0.0, 10.0, {}, "of published drafters: the nearest measured one counts", "any"};
inline constexpr std::array<std::string_view, 2> thinking_words = {"on", "off"};
inline constexpr WordKey thinking{
    "thinking", thinking_words, {}, "of published drafters: whether the model reasons first", "either"};

inline std::vector<KeyRow> rows() { return rows_of(categories, temperature, thinking); }

}  // namespace treeline::requests::traffic_kind_keys

namespace treeline::requests {

/// The keys above in this object; what it does not say stays as in `otherwise`.
sim::TrafficKind read_traffic_kind(json::Reader& at, sim::TrafficKind otherwise = {});

/// The loads and contexts that acceptance is asked for, with their shares: the middle of each in logarithms, as acceptance goes
/// between them. Empty where there are none to ask for.
void set_loads(sim::TrafficKind& traffic, const std::vector<sweeps::WeightedValue>& batches,
               const std::vector<sweeps::WeightedValue>& contexts);

}  // namespace treeline::requests
