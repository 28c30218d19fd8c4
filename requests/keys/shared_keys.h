// Keys that mean the same in several input files.
#pragma once

#include "json/key.h"
#include "sim/input_limits.h"
#include "sim/round.h"

namespace treeline::requests::shared_keys {

using namespace json;

inline constexpr TextKey title{"title", "text", "", "shown in results", "none"};
inline constexpr TextKey source{"source", "text", "", "where its numbers come from; shown in results", "none"};
inline constexpr PartKey target{"target", "text or object", "the model that is served"};
inline constexpr PartKey platform{"platform", "text or object", "where it runs"};
inline constexpr AxisKey draft_tokens{
    "draft_tokens", 0, sim::most_draft_tokens, "chains to try; 0 is plain decoding", "", ". Optional with `shapes`"};
inline constexpr PartKey shapes{"shapes", "list", "trees to try", "none"};
inline constexpr PartKey verification{
    "verification", "name, list, `auto`", "ways of verifying to try", "`auto`", {}, names_or_auto<sim::Verification>};
inline constexpr PartKey rollback{"rollback",
                                  "name, `auto`",
                                  "how rejected drafts are undone",
                                  "`auto`: the fastest that fits of those that the engine does without a flag",
                                  {},
                                  names_or_auto<sim::Rollback>};
inline constexpr PartKey rollbacks{"rollback",
                                   "list, `auto`",
                                   "policies to try",
                                   "`auto`: all that the engine can be told to do, else all that the target supports",
                                   {},
                                   names_or_auto<sim::Rollback>};
inline constexpr ChoiceKey<sim::Decoding> decoding{"decoding", sim::Decoding::greedy,
                                                   "how the target picks tokens; sampling costs more"};
inline constexpr CountKey batch{"batch", 1, sim::largest_batch, 1, "sequences decoded together"};
inline constexpr CountKey context{"context", 0, sim::longest_context, 2048, "tokens cached for a sequence"};

inline constexpr PartKey prompt_tokens{"prompt_tokens", "number, list or object",
                                       "lengths of prompts: for TTFT, for memory and for `output_tokens`", "the `context`",
                                       " ([forms](#lengths-prompt_tokens-output_tokens))"};
inline constexpr PartKey output_tokens{
    "output_tokens", "number, list or object",
    "lengths of answers in the steady state, where each makes room for a prompt that others wait for", "0, decoding alone",
    " ([forms](#lengths-prompt_tokens-output_tokens), [formula](cost-model.md#35-prompts))"};
inline constexpr NumberKey prefix_hit{
    "prefix_hit", "", 0.0, 1.0, 0.0, "share of a prompt that the prefix cache holds", {}, ", below 1: only the rest is read",
    true};
inline constexpr CountKey shared_prefix{"shared_prefix",
                                        0,
                                        sim::longest_context,
                                        0,
                                        "tokens that all prompts begin with",
                                        {},
                                        ": cached once and not read again; at most a prompt"};
inline constexpr NumberKey expert_pool{"expert_pool",
                                       "",
                                       1e-3,
                                       1.0,
                                       1.0,
                                       "share of a mixture's experts that this traffic's tokens choose from",
                                       {},
                                       ": about 0.6 where all requests ask the same "
                                       "([measured](cost-model.md#12-linear-layers-and-experts))"};

}  // namespace treeline::requests::shared_keys

/// `prompt_tokens` and `output_tokens`: elements of a list, or an object with the log-normal distribution's two numbers.
namespace treeline::requests::length_keys {

using namespace json;

inline constexpr CountKey tokens{"tokens", 1, sim::longest_context, {}, "in a list: length of a prompt or an answer"};
inline constexpr NumberKey share{"share", "", 1e-9, 1e9, 1.0, "in a list: its share of requests; shares need not add up to 1"};
inline constexpr NumberKey mean{"mean", "tokens", 1.0, 1e8, {}, "in an object: mean of a log-normal distribution"};
inline constexpr NumberKey spread{"spread", "", 0.0, 10.0, {}, "in an object: its standard deviation, as a share of the mean"};

inline std::vector<KeyRow> rows() { return rows_of(tokens, share, mean, spread); }

}  // namespace treeline::requests::length_keys
