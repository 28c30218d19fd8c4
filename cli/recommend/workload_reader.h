// The input of `treeline recommend` and `treeline report`.
#pragma once

#include <string>
#include <vector>

#include "cli/descriptions.h"
#include "cli/inputs/setup_reader.h"
#include "sweeps/workload.h"

namespace treeline {

struct WorkloadInput {
    std::string title, source;
    TargetChoice target;
    std::vector<DrafterChoice> drafters;
    Workload workload;
    std::vector<Provenance> provenance;
};

/// Reads {"title"?, "source"?, "target", "platforms": [...], "drafters": [...], "decoding"?, "draft_tokens": axis,
/// "traffic": {"batch": [{"value", "share"}] or axis, "context": likewise, "shares_of"?: "time"|"tokens"}, "prompt_tokens"?,
/// "limits"?: {"tpot_ms"?, "ttft_ms"?, "memory_gb"?, "minimum_gain"?}, "objective"?, "rollback"?: [policies]}. The prompt is as
/// long as the context of the typical point where it is not given. Throws InputError with every problem.
WorkloadInput read_workload(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
