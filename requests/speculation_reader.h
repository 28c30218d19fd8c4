// What input files say about the shapes of drafts and how they are verified.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sim/round.h"

namespace treeline::requests {

/// The shapes of an input.
struct SpeculationAxis {
    std::vector<sim::Speculation> speculations;  ///< plain decoding first, whether requested or not
    std::vector<int> asked_for;                  ///< indices into them
};

/// Plain decoding, then every shape with every requested way of verifying.
///   "draft_tokens"?: whole numbers (read_axis): chains; 0 is plain decoding
///   "shapes"?:       trees as `treeline tree` takes them ("sglang:5,4,32", a name or path, {"beams": {...}}), and grids of
///   best
///                    trees: {"optimal": {"nodes": axis, "depth": axis, "children"?}}
///   "verification"?: "auto" or names. Without it, or with "auto", chains run unrolled (one sequence), branched shapes packed
///                    and unrolled. Names apply to chains and trees alike.
/// At least one of draft_tokens and shapes is needed, unless `otherwise` says how long the chains are that are tried without
/// draft_tokens, beside shapes, too; and `trees_otherwise` which trees are where neither is given.
SpeculationAxis read_speculations(json::Reader& at, Descriptions& descriptions, std::optional<int> otherwise = {},
                                  const std::vector<std::string>& trees_otherwise = {});

/// The same for one shape: a number under "draft_tokens", or "shape"; with neither, `fallback_draft_tokens`.
std::vector<sim::Speculation> read_speculation(json::Reader& at, Descriptions& descriptions,
                                               std::int64_t fallback_draft_tokens);

/// One shape under `key`: a text or an object.
sim::TreeShape read_shape_under(json::Reader& at, std::string_view key, Descriptions& descriptions);

}  // namespace treeline::requests
