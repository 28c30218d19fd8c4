// What runs around vLLM's speculative config: the model runner, the formats and back ends on which its rounds depend.
#pragma once

#include <optional>

#include "engines/lint_input.h"
#include "engines/vllm/lint_graphs.h"

namespace treeline::engines::vllm {

/// What is known about the deployment around the config.
struct Deployment {
    long long data_parallel = 1, pipeline_parallel = 1;
    std::optional<long long> tensor_parallel;  ///< nothing = not stated
    std::optional<bool> second_runner;         ///< whether the variable asks for model runner V2; nothing = not stated
    bool has_environment = false;              ///< whatever the environment sets is in the text: a command's
    bool is_open = false;                      ///< words of the command stand for others that are not given ("$EXTRA_ARGS")
    bool whole_experts = false;                ///< --enable-expert-parallel
    bool eager = false;
    std::string cache_format;       ///< "fp8", "auto"; empty = not stated
    std::string attention;          ///< back end in capitals; empty = not stated
    bool config_attention = false;  ///< its JSON or YAML names a back end
    std::string device;             ///< the GPU, as the text calls it; empty = not stated
    bool rocm = false;              ///< on a GPU of AMD, which has no FlashInfer
    Graphs graphs;
    /// --max-num-seqs, --max-num-batched-tokens and --max-num-scheduled-tokens; nothing = not stated.
    std::optional<long long> requests, step_tokens, scheduled_tokens;
};

/// Of a command line, and of the settings beside a nested config.
Deployment deployment_of(const CommandLine& command, const Flags& flags);
Deployment deployment_of(const nlohmann::ordered_json& settings);

/// Whether a step has a token left beside what is kept free for drafts.
void check_draft_slots(const nlohmann::ordered_json& config, const std::string& method, const Deployment& deployment,
                       const Engine& engine, Findings& findings);  // draft_slots.cpp

/// Methods that the model runner refuses, and what takes rounds out of whole CUDA graphs. `method` as vLLM names it.
void check_deployment(const nlohmann::ordered_json& config, const std::string& method, const Deployment& deployment,
                      const Engine& engine, Findings& findings);

}  // namespace treeline::engines::vllm
