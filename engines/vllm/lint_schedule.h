// The schedule by batch size in vLLM's speculative config.
#pragma once

#include "engines/vllm/lint_deployment.h"

namespace treeline::engines::vllm {

inline constexpr const char* schedule_key = "num_speculative_tokens_per_batch_size";

/// `config` must hold the schedule.
void check_schedule(const nlohmann::ordered_json& config, const Deployment& deployment, Findings& findings);

}  // namespace treeline::engines::vllm
