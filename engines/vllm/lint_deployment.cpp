// vllm/config/vllm.py (what model runner V2 refuses), vllm/v1/attention/backends (which graphs a back end supports under
// speculation; docs/design/cuda_graphs.md at 0045689b); issues 49547 and 54992, intel/intel-xpu-backend-for-triton 7166.
#include "engines/vllm/lint_deployment.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engines/deployment_file.h"
#include "engines/lint_caches.h"
#include "engines/started_engine.h"
#include "engines/vllm/parts.h"

namespace treeline::engines::vllm {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

std::string value_of(const Flags& flags, const std::vector<std::string_view>& names) {
    const Flag* flag = flags.find(names);
    return flag != nullptr ? flag->value.value_or("") : "";
}

/// A setting under its name with underscores or dashes.
std::string setting(const Json& settings, std::string name) {
    std::string text = text_at(settings, name);
    if (text.empty()) {
        std::replace(name.begin(), name.end(), '_', '-');
        text = text_at(settings, name);
    }
    return text;
}

bool is_set(const Json& settings, const char* underscores, const char* dashes) {
    return settings.value(underscores, Json()) == Json(true) || settings.value(dashes, Json()) == Json(true);
}

/// What model runner V2 refuses where the variable asks for it; without it V1 runs that.
void check_runner(const Json& config, const std::string& method, const Deployment& deployment, Findings& findings) {
    const char* instead = "start with VLLM_USE_V2_MODEL_RUNNER=0";
    const bool in_parallel = config.value("parallel_drafting", Json()) == Json(true);
    if (method.empty() || second_runner_drafts(method, in_parallel, deployment.pipeline_parallel > 1)) {
        return;
    }
    if (second_runner_drafts(method, false, deployment.pipeline_parallel > 1)) {
        findings.add(Kind::contradiction, "parallel_drafting",
                     fmt::format("is refused by model runner V2 for EAGLE drafters; {}", instead));
    } else if (!is_one_of(method, {"eagle3", "extract_hidden_states"})) {  // by versions: stages of one, the other since 0.29
        findings.add(Kind::contradiction, "method", fmt::format("is {}, which model runner V2 refuses; {}", method, instead));
    }
}

void check_stages(const std::string& method, long long stages, const Engine& engine, Findings& findings) {
    if (stages > 1 && method == "dspark" && drafts_in_stages(engine, "eagle3")) {
        findings.note(
            fmt::format("--pipeline-parallel-size is {}, with which vLLM drafts by dspark only from pull request 50514 on: "
                        "look whether your build has it.",
                        stages));
        return;
    }
    if (stages > 1 && !drafts_in_stages(engine, method.empty() ? "eagle3" : method)) {
        findings.add(
            Kind::contradiction, "--pipeline-parallel-size",
            fmt::format("is {}, with which vLLM does not start while it drafts{} (issues 52069, 57755); share the model "
                        "with --tensor-parallel-size",
                        stages, drafts_in_stages(engine, "eagle3") ? " by any method but eagle3" : ""));
    }
}

/// A draft model runs on all ranks of the target (its proposer raises a ValueError on other sizes); heads may run on one.
void check_draft_ranks(const Json& config, const std::string& method, const Deployment& deployment, Findings& findings) {
    const char* const key = "draft_tensor_parallel_size";
    const auto ranks = whole(config, key);
    const long long target = deployment.tensor_parallel.value_or(1);
    if (!ranks || *ranks < 1 || *ranks == target || (deployment.tensor_parallel == std::nullopt && *ranks != 1)) {
        return;
    }
    if (method == "draft_model") {
        findings.add(Kind::contradiction, key,
                     fmt::format("is {}, but a draft model runs on all {} ranks of the target: leave it out", *ranks, target));
    } else if (*ranks != 1) {
        findings.add(Kind::contradiction, key,
                     fmt::format("is {}, but must be 1 or --tensor-parallel-size, which is {}", *ranks, target));
    }
}

/// Back ends whose graphs hold one new token of each sequence (UNIFORM_SINGLE_TOKEN_DECODE), so that rounds run in pieces.
struct SingleTokenBackend {
    const char* name;
    const char* why;
};

constexpr SingleTokenBackend single_token_backends[] = {
    {"FLASHINFER",
     "before compute capability 10 takes drafts for prompts: rounds run in pieces of CUDA graphs (issue 49547); leave the "
     "choice to vLLM, or take FLASH_ATTN"},
    {"CUTLASS_MLA",
     "is captured for one new token of each sequence alone: rounds run in pieces of CUDA graphs; leave the choice to vLLM, or "
     "take FLASHINFER_MLA"},
    {"ROCM_AITER_MLA",
     "is captured for one new token of each sequence alone in the sources that were read: rounds run in pieces of CUDA "
     "graphs; look for cudagraph_mode=PIECEWISE in the log"}};

/// Whether a GPU may be of compute capability 8 or 12, for which vLLM takes FlashInfer over a cache in FP8: no data-centre chip
/// of Hopper (9.0) or Blackwell (10.0, 10.3) is.
bool may_take_flashinfer(std::string device) {
    std::transform(device.begin(), device.end(), device.begin(), [](unsigned char c) { return std::tolower(c); });
    return !starts_with_any(device, {"h100", "h200", "h800", "h20", "gh200", "b200", "b300", "gb200", "gb300"});
}

/// Attention that takes rounds out of whole graphs, by its name or by the cache's format.
void check_attention(const Deployment& deployment, Findings& findings) {
    for (const SingleTokenBackend& backend : single_token_backends) {
        if (deployment.attention == backend.name) {
            findings.add(Kind::downgrade, "--attention-backend", fmt::format("is {}, which {}", backend.name, backend.why));
        }
    }
    if (deployment.cache_format.starts_with("fp8") && deployment.attention.empty() && !deployment.config_attention &&
        !deployment.rocm && may_take_flashinfer(deployment.device)) {
        findings.note(
            fmt::format("--kv-cache-dtype is {}, for which vLLM takes FlashInfer on compute capability 8 and 12: rounds "
                        "then run in pieces of CUDA graphs (issues 49547, 54992); look for cudagraph_mode=PIECEWISE in "
                        "the log there.",
                        deployment.cache_format));
    }
}

}  // namespace

Deployment deployment_of(const CommandLine& command, const Flags& flags) {
    Deployment deployment;
    deployment.data_parallel = flags.number({"--data-parallel-size", "-dp"}).value_or(1);
    deployment.pipeline_parallel = flags.number({"--pipeline-parallel-size", "-pp"}).value_or(1);
    deployment.tensor_parallel = flags.number({"--tensor-parallel-size", "-tp"});
    deployment.requests = flags.number({"--max-num-seqs"});
    deployment.step_tokens = flags.number({"--max-num-batched-tokens"});
    deployment.scheduled_tokens = flags.number({"--max-num-scheduled-tokens"});
    deployment.has_environment = true;
    deployment.is_open = !open_word_of(command).empty();
    deployment.whole_experts = flags.has({"--enable-expert-parallel", "-ep"});
    const bool only_prefill = value_of(flags, {"--kv-transfer-config"}).find("kv_producer") != std::string::npos;
    deployment.eager = flags.has({"--enforce-eager"}) && !only_prefill;  // which runs no rounds
    deployment.cache_format = value_of(flags, {"--kv-cache-dtype"});
    deployment.attention = in_capitals(value_of(flags, {"--attention-backend"}));
    deployment.graphs = graphs_of(flags);
    const std::string attention = value_of(flags, {"--attention-config", "-ac"});
    deployment.config_attention =
        flags.has({"--attention-config.backend", "-ac.backend"}) || attention.find("\"backend\"") != std::string::npos;
    deployment.rocm = std::any_of(command.words.begin(), command.words.end(), [](const std::string& word) {
        return engine_of_image(word) && word.find("rocm") != std::string::npos;
    });
    for (const auto& [name, value] : command.environment) {
        deployment.rocm = deployment.rocm || name.starts_with("VLLM_ROCM_") || name == "HIP_VISIBLE_DEVICES";
        if (name == "VLLM_USE_V2_MODEL_RUNNER" && (value == "0" || value == "1")) {
            deployment.second_runner = value == "1";
        } else if (name == "VLLM_USE_V2_MODEL_RUNNER") {
            deployment.has_environment = false;
        }
        if (name == "VLLM_ATTENTION_BACKEND" && deployment.attention.empty()) {
            deployment.attention = in_capitals(value);
        }
    }
    return deployment;
}

Deployment deployment_of(const Json& settings) {
    Deployment deployment;
    const auto either = [&](const char* underscores, const char* dashes) {
        const std::optional<long long> number = whole(settings, underscores);
        return number ? number : whole(settings, dashes);
    };
    deployment.data_parallel = either("data_parallel_size", "data-parallel-size").value_or(1);
    deployment.pipeline_parallel = either("pipeline_parallel_size", "pipeline-parallel-size").value_or(1);
    deployment.tensor_parallel = either("tensor_parallel_size", "tensor-parallel-size");
    deployment.requests = either("max_num_seqs", "max-num-seqs");
    deployment.step_tokens = either("max_num_batched_tokens", "max-num-batched-tokens");
    deployment.scheduled_tokens = either("max_num_scheduled_tokens", "max-num-scheduled-tokens");
    deployment.eager = is_set(settings, "enforce_eager", "enforce-eager");
    deployment.cache_format = setting(settings, "kv_cache_dtype");
    deployment.attention = in_capitals(setting(settings, "attention_backend"));
    deployment.graphs = graphs_of(settings);
    return deployment;
}

void check_deployment(const Json& config, const std::string& method, const Deployment& deployment, const Engine& engine,
                      Findings& findings) {
    if (deployment.second_runner == true) {
        check_runner(config, method, deployment, findings);
    }
    check_stages(method, deployment.pipeline_parallel, engine, findings);
    check_draft_ranks(config, method, deployment, findings);
    check_draft_slots(config, method, deployment, engine, findings);
    check_cache_word("--kv-cache-dtype", deployment.cache_format, engine, findings);
    check_cache_word("kv_cache_dtype", text_at(config, "kv_cache_dtype"), engine, findings);
    if (deployment.eager) {
        findings.add(Kind::downgrade, "--enforce-eager",
                     "launches every kernel of drafter and verification one by one, which costs rounds more than plain steps; "
                     "leave it out");
        return;
    }
    check_graphs(deployment.graphs, whole(config, "num_speculative_tokens"), findings);
    check_attention(deployment, findings);
}

}  // namespace treeline::engines::vllm
