// The schedule by batch size in vLLM's speculative config.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines {

inline constexpr const char* schedule_key = "num_speculative_tokens_per_batch_size";

/// What is known about the deployment around the config.
struct VllmDeployment {
    long long data_parallel = 1;
    bool model_runner_v2 = false;
};

/// `config` must hold the schedule.
void check_vllm_schedule(const nlohmann::ordered_json& config, const VllmDeployment& deployment, Findings& findings);

}  // namespace treeline::engines
