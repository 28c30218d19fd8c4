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
inline constexpr PartKey verification{"verification", "name, list, `auto`", "ways of verifying to try", "`auto`"};
inline constexpr PartKey rollback{"rollback", "name, `auto`", "how rejected drafts are undone",
                                  "`auto`: the fastest that fits"};
inline constexpr PartKey rollbacks{"rollback", "list, `auto`", "policies to try", "`auto`: all that the target supports"};
inline constexpr ChoiceKey<sim::Decoding> decoding{"decoding", sim::Decoding::greedy,
                                                   "how the target picks tokens; sampling costs more"};
inline constexpr CountKey batch{"batch", 1, sim::largest_batch, 1, "sequences decoded together"};
inline constexpr CountKey context{"context", 0, sim::longest_context, 2048, "tokens cached for a sequence"};

inline constexpr NumberKey prefix_hit{
    "prefix_hit", "", 0.0, 1.0, 0.0, "share of a prompt that the prefix cache holds", {}, ", below 1: only the rest is read"};

}  // namespace treeline::requests::shared_keys
