// The input file of `treeline break-even`.
#pragma once

#include <filesystem>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/break_even_study.h"

namespace treeline {

/// {"tree": {"nodes": axis, "depth"?: 8, "children"?: 0 for the best trees of each size, or "shapes": [...] as in sweeps,
///           "verify": time source, "drafting"?: {"fixed"?, "per_level"?, "per_node"?, "by_nodes"?: time source}
///           or "simulate": {"target", "platform", "drafter", "batch"?, "context"?, "rollback"?, "decoding"?},
///           "verification"?: of simulated rounds},
///  "chain": {"draft_tokens": axis (the fastest counts), "accept_length"?, the same sources; without any the tree's},
///  "acceptance"?: as in workloads, for timed rounds; without it only the ratio needed follows,
///  "title"?, "source"?}. Throws InputError with every problem.
BreakEvenInput read_break_even(json::Document& document, Descriptions& descriptions, const std::filesystem::path& folder);

}  // namespace treeline
