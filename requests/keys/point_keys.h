// Keys of a design point.
#pragma once

#include "requests/keys/shared_keys.h"

namespace treeline::requests::point_keys {

using namespace shared_keys;

inline constexpr std::int64_t usual_draft_tokens = 5;

inline constexpr PartKey drafter{"drafter", "text or object", "who drafts: a published drafter's name, or an object",
                                 "none: plain decoding"};
inline constexpr PartKey traffic{"traffic", "object",
                                 "which requests acceptance is asked for: `categories`, `temperature`, `thinking`",
                                 "all that were measured, alike"};
inline constexpr CountKey draft_tokens{"draft_tokens",
                                       0,
                                       sim::most_draft_tokens,
                                       {},
                                       "draft tokens of a round, in a chain",
                                       "5 with a drafter, or as far as it reaches"};
inline constexpr PartKey shape{"shape", "text or object", "a tree, instead of `draft_tokens`", "none"};
inline constexpr PartKey verification{"verification",
                                      "name, list, `auto`",
                                      "how drafts are verified",
                                      "`auto`: the fastest that applies",
                                      {},
                                      names_or_auto<sim::Verification>};
inline constexpr CountKey concurrency{"concurrency",
                                      1,
                                      sim::largest_batch,
                                      {},
                                      "instead of a batch: requests that clients keep in flight; needs `output_tokens`",
                                      "none",
                                      ". Those that memory does not hold wait"};
inline constexpr NumberKey arrival_rate{"arrival_rate",
                                        "1/s",
                                        1e-9,
                                        1e9,
                                        {},
                                        "instead of a batch: requests that arrive at random; needs `output_tokens`",
                                        "none",
                                        ". The batch follows by Little's law ([formula](cost-model.md#35-prompts))"};
inline constexpr std::int64_t usual_context = 2048;
inline constexpr CountKey context{"context",
                                  0,
                                  sim::longest_context,
                                  {},
                                  "tokens cached for a sequence",
                                  "2048; prompt and half the answer if both are given"};
inline constexpr PartKey training{"training", "object", "also reports whether training the drafter pays", "none"};

inline std::vector<KeyRow> rows() {
    return rows_of(title, source, target, platform, drafter, traffic, draft_tokens, shape, verification, batch, concurrency,
                   arrival_rate, context, prompt_tokens, output_tokens, prefix_hit, shared_prefix, expert_pool, rollback,
                   decoding, training);
}

}  // namespace treeline::requests::point_keys

namespace treeline::requests::training_keys {

using namespace json;

inline constexpr NumberKey decoding_budget{
    "decoding_budget", "of any currency", 1e-9, 1e15, {}, "cost of decoding without speculation"};
inline constexpr NumberKey draft_training{
    "draft_training", "of the same currency", 0.0, 1e15, {}, "cost of training the drafter"};

inline std::vector<KeyRow> rows() { return rows_of(decoding_budget, draft_training); }

}  // namespace treeline::requests::training_keys
