#include "engines/parallel_flags.h"

#include <map>

#include <fmt/format.h>

#include "text/version.h"

namespace treeline::engines {
namespace {

/// "NAME N" if the degree is above one.
std::string degree_flag(const char* name, double degree, const char* between = " ", const char* after = " ") {
    return degree > 1.0 ? fmt::format("{}{}{:.0f}{}", name, between, degree, after) : "";
}

std::string vllm_degrees(const sim::Platform& platform) {
    return degree_flag("--tensor-parallel-size", platform.ranks) +
           degree_flag("--pipeline-parallel-size", platform.parallel.pipeline) +
           degree_flag("--data-parallel-size", platform.parallel.data) +
           degree_flag("--decode-context-parallel-size", platform.parallel.context) +
           (platform.parallel.experts > 1.0 ? "--enable-expert-parallel " : "");
}

std::string sglang_degrees(const sim::Platform& platform) {
    const bool groups = has_groups(platform);
    return degree_flag("--tp-size", sim::ranks_of_stage(platform.ranks, platform.parallel)) +
           degree_flag("--pp-size", platform.parallel.pipeline) + degree_flag("--dp-size", platform.parallel.data) +
           (groups ? "--enable-dp-attention " : "") + degree_flag("--ep-size", platform.parallel.experts);
}

std::string tensorrt_llm_lines(const sim::Platform& platform) {
    const double stage = sim::ranks_of_stage(platform.ranks, platform.parallel);
    return degree_flag("tensor_parallel_size", stage, ": ", "\n") +
           degree_flag("pipeline_parallel_size", platform.parallel.pipeline, ": ", "\n") +
           degree_flag("moe_expert_parallel_size", platform.parallel.experts, ": ", "\n") +
           (has_groups(platform) ? "enable_attention_dp: true\n" : "");
}

std::string parallel_flags(const Engine& engine, const sim::Platform& platform) {
    switch (engine.name) {
        case EngineName::vllm:
            return vllm_degrees(platform);
        case EngineName::sglang:
            return sglang_degrees(platform);
        case EngineName::tensorrt_llm:
            return tensorrt_llm_lines(platform);
        case EngineName::llama_cpp:
            break;
    }
    return platform.ranks > 1.0 ? "--split-mode row " : "";
}

/// Drafters with which SGLang does not start under attention data parallelism.
bool sglang_rejects_groups(DrafterKind drafter) {
    return drafter == DrafterKind::draft_model || drafter == DrafterKind::ngram || drafter == DrafterKind::dflash;
}

std::string vllm_problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform) {
    const sim::Parallelism& parallel = platform.parallel;
    const EngineDrafter* known = engine.drafter(drafter);
    if (parallel.experts > 1.0 && parallel.experts != sim::ranks_of_stage(platform.ranks, parallel)) {
        return "deals experts out over all ranks of a stage or none";
    }
    if (parallel.draft_tensor > 1.0) {
        return "shares the drafter's layers among all ranks that share the target's, or none";
    }
    if (parallel.draft_tensor == 1.0 && platform.ranks > 1.0 && drafter == DrafterKind::draft_model) {
        return "shares a draft model's layers among all ranks that share the target's";
    }
    return parallel.pipeline > 1.0 && known != nullptr && !vllm_drafts_in_stages(engine, known->word)
               ? (vllm_drafts_in_stages(engine, "eagle3") ? "drafts with EAGLE-3 alone where pipeline stages share the model"
                                                          : "does not start with pipeline stages while it drafts")
               : "";
}

}  // namespace

bool vllm_drafts_in_stages(const Engine& engine, std::string_view method) {
    return method == "eagle3" && text::version_in(engine.version) >= text::Version{0, 33};
}

std::string parallel_problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform) {
    const sim::Parallelism& parallel = platform.parallel;
    switch (engine.name) {
        case EngineName::vllm:
            return vllm_problem(engine, drafter, platform);
        case EngineName::sglang:
            return parallel.pipeline > 1.0 ? "refuses pipeline stages while it drafts"
                   : has_groups(platform) && sglang_rejects_groups(drafter)
                       ? fmt::format("rejects attention data parallelism with {}", name_of(drafter))
                       : "";
        case EngineName::tensorrt_llm:
            return has_groups(platform) && platform.ranks > 1.0
                       ? "runs attention data parallel on all ranks of a stage or on none"
                       : "";
        case EngineName::llama_cpp:
            break;
    }
    sim::Parallelism stages;  // whole layers on each device, its default (--split-mode layer)
    stages.pipeline = parallel.pipeline;
    return parallel == stages ? "" : "shares a model among devices in no such way";
}

std::string platform_flags(const Engine& engine, const sim::Platform& platform) {
    std::string text = parallel_flags(engine, platform);
    for (const auto* flags : {&platform.stack.expert_kernels.flags, &platform.stack.attention_kernels.flags}) {
        if (const auto kernels = flags->find(engine.word); kernels != flags->end()) {
            text += kernels->second + " ";
        }
    }
    return text;
}

}  // namespace treeline::engines
