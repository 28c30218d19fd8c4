// The schedule by batch size in vLLM's speculative config.
#pragma once

#include "engines/lint_vllm_deployment.h"

namespace treeline::engines {

inline constexpr const char* schedule_key = "num_speculative_tokens_per_batch_size";

/// `config` must hold the schedule.
void check_vllm_schedule(const nlohmann::ordered_json& config, const VllmDeployment& deployment, Findings& findings);

}  // namespace treeline::engines
