// The input of `treeline recommend` and `treeline report`.
#pragma once

#include <string>
#include <vector>

#include "requests/descriptions.h"
#include "requests/setup_reader.h"
#include "sweeps/recommend_answer.h"

namespace treeline {

/// Reads {"title"?, "source"?, "target", "platforms": [...], "drafters": [...], "decoding"?, "draft_tokens": axis,
/// "traffic": {"batch": [{"value", "share"}] or axis, "context": likewise, "shares_of"?: "time"|"tokens"}, "prompt_tokens"?,
/// "output_tokens"?, "prefix_hit"?, "limits"?: {"tpot_ms"?, "ttft_ms"?, "memory_gb"?, "minimum_gain"?}, "objective"?,
/// "rollback"?: [policies]}. The prompt is as long as the context of the typical point where it is not given. Throws InputError
/// with every problem.
RecommendInput read_workload(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
