// The input of `treeline sweep`.
#pragma once

#include <string>
#include <vector>

#include "requests/descriptions.h"
#include "sweeps/sweep_answer.h"

namespace treeline {

/// Reads {"title"?, "source"?, "axes": {...}, "decoding"?, "prompt_tokens"?, "output_tokens"?, "prefix_hit"?, "conditions"?:
/// [{"when"?: {axis: value}, "require": expression}]}.
///
/// Axes: "target": names or {"model", "precision"?}; "precision"? (instead of each target's own): formats or objects; either
/// "platform": names or objects, or "device" with "tensor_parallel"?, "stack"?, "mode"? and "interconnect"?, which are
/// combined; "drafter": objects; "rollback"?: policies (default: all that apply); "draft_tokens", "shapes" and
/// "verification" as read_speculations() takes them; "batch", "context": whole numbers. Throws InputError with every problem.
SweepInput read_sweep(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
