// What `treeline bandit` simulates, as its input file states it.
#pragma once

#include <string>
#include <vector>

#include "cli/descriptions.h"
#include "json/reader.h"
#include "sweeps/adaptive/bandit.h"

namespace treeline {

struct BanditInput {
    std::string title, source;
    std::string priced;               ///< the design point behind the round times; empty where the file gives them
    std::string draft_share_meaning;  ///< how λ_γ was come by
    BanditProblem problem;
    BanditRule rule;
    std::int64_t repetitions = 40;
};

/// {"title"?, "source"?, "exploration": λ, "reward"?: "published" or "time_per_token", "restart_with_task"?: false, "default"?:
/// name of a shape, "repetitions"?: 40,
///  "tasks": [{"name", and one of "acceptance": as drafters have it (shapes must be given), "accepted_exactly": {name of a
///  shape: [P(0), P(1), ...]}; "source"?}], "sequence": [{"task", "rounds"}]}
/// and the shapes with the times of their rounds, either
///  "arms": [{"name"?, "shape"? or "draft_passes"?, "round_ms", "source"?}], "draft_share": T_draft / T_target
/// or
///  "design_point": see read_shapes_point; plain decoding is no arm unless draft_tokens has 0. With it "batch"?: 1; tasks may
///  leave out the acceptance (the drafter's counts then), and draft_share? is the first shape's drafting time per level by the
///  time of a plain step.
/// Throws InputError with every problem.
BanditInput read_bandit(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
