// The input file of `treeline bandit`.
#pragma once

#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/adaptive/bandit_study.h"

namespace treeline {

/// {"title"?, "source"?, "exploration": λ, "reward"?: "published" or "time_per_token", "restart_with_task"?: false, "default"?:
/// name of a shape, "repetitions"?: 40,
///  "tasks": [{"name", and one of "acceptance": as drafters have it (shapes must be given), "accepted_exactly": {name of a
///  shape: [P(0), P(1), ...]}; "source"?}], "sequence": [{"task", "rounds"}]}
/// and the shapes with the times of their rounds, either
///  "arms": [{"name"?, "shape"? or "draft_passes"?, "round_ms", "source"?}], "draft_share": T_draft / T_target
/// or
///  "design_point": see read_shapes_point; plain decoding is an arm only if draft_tokens has 0. With it "batch"?: 1; tasks may
///  leave out the acceptance (the drafter's counts then), and draft_share? is the first shape's drafting time per level over
///  the time of a plain step.
/// Throws InputError with every problem.
BanditInput read_bandit(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
