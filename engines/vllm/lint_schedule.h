// The schedule by batch size in vLLM's speculative config.
#pragma once

#include "engines/vllm/lint_deployment.h"

namespace treeline::engines::vllm {

inline constexpr const char* schedule_key = "num_speculative_tokens_per_batch_size";

/// `config` must hold the schedule. `method` as vLLM names it.
void check_schedule(const nlohmann::ordered_json& config, const std::string& method, const Deployment& deployment,
                    const Engine& engine, const std::optional<sim::Model>& target, Findings& findings);

}  // namespace treeline::engines::vllm
