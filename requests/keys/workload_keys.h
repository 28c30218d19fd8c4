// Keys of a workload.
#pragma once

#include "requests/keys/point_keys.h"
#include "requests/keys/shared_keys.h"
#include "requests/traffic_kind.h"
#include "sweeps/goal.h"
#include "sweeps/traffic.h"

namespace treeline::requests::workload_keys {

using namespace shared_keys;

inline constexpr PartKey platforms{"platforms", "list, or one",
                                   "candidates for where it runs, each a device's name or an object"};
inline constexpr PartKey drafters{"drafters",
                                  "list of names or objects, or `known`",
                                  "candidate drafters, published ones by name; plain decoding is always included",
                                  "`known`: those of [models/drafters](../models/drafters) for the target and its family",
                                  ". `known` may also be one of the list. An empty list: plain decoding alone",
                                  nullptr,
                                  true};
inline constexpr AxisKey draft_tokens{"draft_tokens",
                                      0,
                                      sim::most_draft_tokens,
                                      "chains to try; 0 is plain decoding",
                                      "",
                                      ". Optional with `shapes` of drafters that the input describes. Where they are known "
                                      "ones, by none named or by their kind alone, they draft as far as they were measured, "
                                      "at most 16, beside `shapes`, too"};
inline constexpr PartKey traffic{"traffic", "object", "which loads and contexts occur, and how often"};
inline constexpr PartKey limits{"limits", "object", "what a configuration must meet", "none"};
inline constexpr ChoiceKey<sweeps::Objective> objective{"objective",
                                                        sweeps::Objective::throughput,
                                                        "what the best configuration is best in",
                                                        {},
                                                        ": tokens/s per device, TPOT, or money (needs a price) or energy "
                                                        "(needs power) per token; of arrival rates `latency` is the default"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, target, platforms, drafters, draft_tokens, shapes, verification, rollbacks, decoding, traffic,
                   prompt_tokens, output_tokens, prefix_hit, shared_prefix, expert_pool, limits, objective);
}

}  // namespace treeline::requests::workload_keys

namespace treeline::requests::traffic_keys {

using namespace json;

inline constexpr AxisKey batch{"batch", 1, sim::largest_batch, "sequences decoded together", {}, "; values, or with shares"};
inline constexpr AxisKey concurrency{"concurrency",
                                     1,
                                     sim::largest_batch,
                                     "instead: requests that clients keep in flight; needs `output_tokens`",
                                     "none",
                                     "; values, or with shares. Those that memory or the token budget do not hold wait"};
inline constexpr PartKey arrival_rate{
    "arrival_rate", "number (1/s), list, or with shares; `most`",
    "instead: requests that arrive at random; needs `output_tokens`", "none",
    ". The batch follows by Little's law ([formula](cost-model.md#35-prompts)). `most` asks for the "
    "largest rate within the limits, with and without drafts"};
inline constexpr AxisKey context{"context",
                                 0,
                                 sim::longest_context,
                                 "tokens cached for a sequence",
                                 "the prompt and half of the answer, if both lengths are given",
                                 "; values, or with shares"};
inline constexpr ChoiceKey<sweeps::ShareOf> shares_of{"shares_of", sweeps::ShareOf::time, "what the shares are shares of"};

inline std::vector<KeyRow> rows() {
    std::vector<KeyRow> rows = rows_of(batch, concurrency, arrival_rate, context, shares_of);
    const std::vector<KeyRow> kind = traffic_kind_keys::rows();
    rows.insert(rows.end(), kind.begin(), kind.end());
    return rows;
}

}  // namespace treeline::requests::traffic_keys

/// Elements of `batch`, `concurrency`, `arrival_rate` and `context` with shares.
namespace treeline::requests::share_keys {

using namespace json;

inline constexpr PartKey value{"value", "number", "a load or a context"};
inline constexpr NumberKey share{"share", "", 0.0, 1e9, {}, "its weight; they need not add up to 1"};

inline std::vector<KeyRow> rows() { return rows_of(value, share); }

}  // namespace treeline::requests::share_keys

namespace treeline::requests::limit_keys {

using namespace json;

inline constexpr NumberKey tpot_ms{"tpot_ms", "ms", 1e-6, 1e9, {}, "time per output token", "none"};
inline constexpr NumberKey ttft_ms{"ttft_ms", "ms", 1e-6, 1e9, {}, "time to the first token", "none"};
inline constexpr NumberKey memory_gb{"memory_gb", "GB", 1e-3, 1e6, {}, "peak memory of a device", "the device's memory"};
inline constexpr NumberKey minimum_gain{
    "minimum_gain", "", 1e-3, 1e3, 1.0, "gain in the objective below which plain decoding is preferred"};

inline constexpr NumberKey ttft_growth{
    "ttft_growth",
    "",
    1.0,
    1e6,
    2.0,
    "TTFT of what drafts over that of plain decoding, at most",
    {},
    ". Where it is not stated, requests may wait for a quarter of what decoding of an answer saves, if "
    "that is more; raise it to allow longer waits"};
inline constexpr NumberKey waiting{
    "waiting",
    "",
    0.0,
    1.0,
    0.05,
    "share of the requests in flight that may wait for a place and need not",
    {},
    ": for the drafter's memory, or a cut of the devices that holds fewer than another ([more](cost-model.md#62-limits-and-the-"
    "recommendation)). Unstated, more may wait where TTFT keeps its limit; 1 allows any queue"};

inline std::vector<KeyRow> rows() { return rows_of(tpot_ms, ttft_ms, memory_gb, minimum_gain, ttft_growth, waiting); }

}  // namespace treeline::requests::limit_keys
