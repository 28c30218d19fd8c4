// vLLM. Weights on the host: --cpu-offload-gb (EngineArgs; GiB of each GPU), which kernels read over the link or copy ahead
// (vllm/model_executor/offloader).
#include <numeric>

#include <fmt/format.h>

#include "engines/host_weights.h"
#include "engines/measurement_clients.h"
#include "engines/vllm/parts.h"
#include "text/version.h"

namespace treeline::engines::vllm {
namespace {

constexpr Bytes large_memory(70.0 * 1024 * 1024 * 1024);

double requests(const sim::Platform& platform) {
    const sim::Device& device = platform.device;
    const bool large = device.memory >= large_memory && device.name.find("a100") == std::string::npos;
    return (large ? 1024.0 : 256.0) * platform.parallel.data;
}

std::string problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform) {
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
    return parallel.pipeline > 1.0 && known != nullptr && !drafts_in_stages(engine, known->word)
               ? (drafts_in_stages(engine, "eagle3") ? "drafts with EAGLE-3 alone where pipeline stages share the model"
                                                     : "does not start with pipeline stages while it drafts")
               : "";
}

/// Before 0.29 it refuses to load such weights (issue 17569). Since then it gives experts finer blocks, of 32 elements at
/// least, which its Triton kernels alone take (pull request 53896, refine_fp8_moe_block_shape in fused_moe/oracle/fp8.py);
/// other layers it still refuses (issue 52997).
CutProblem block_problem(const Engine& engine, const CutBlocks& cut, const sim::Device& /*device*/) {
    constexpr sim::Count least_block = 32;
    const sim::Count finer = std::gcd(std::gcd(cut.columns, cut.edge), cut.model_width);
    if (cut.routed && engine.numbers() >= text::Version{0, 29} && finer >= least_block) {
        return {fmt::format("{} loads {} with finer scales, which its Triton kernels alone take, and those are not priced",
                            engine.label(), text_of(cut)),
                true};
    }
    return {fmt::format("{} does not load {}{}", engine.label(), text_of(cut),
                        cut.routed ? ": expert parallelism leaves them whole" : ""),
            false};
}

/// MambaBase.get_kv_cache_spec of the versions up to 0.16, which let Qwen3-Next alone through (model_executor/layers/mamba).
std::vector<ModelRule> rules_of_models() {
    return {{.models = "models with recurrent states but those of Qwen3-Next's kind",
             .covers = has_other_states,
             .names = [](std::string_view /*small_name*/) { return false; },
             .until = {0, 17},
             .source = "\"Mamba with speculative decoding is not supported yet\", until pull request 33726"}};
}

std::string way_to_fit(const MissingMemory& missing) {
    return fmt::format(
        " vLLM's {} makes it fit: every step then reads so much over the link to the host, which is not priced. "
        "llama.cpp computes there instead: --engine llama.cpp {}.",
        offload_flag(missing.too_much), placement_flag(missing.placement));
}

std::string why_not_simulated(const FlagPlan& plan) {
    return plan.engine->takes("synthetic_acceptance_rates")
               ? ""
               : fmt::format("a real drafter is needed: {} does not simulate acceptance by position", plan.engine->label());
}

ServerCommand server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.simulated_rates = rates_for(accept_length, plan.draft_tokens);
        if (plan.drafter->needs_path) {
            plan.remarks.emplace_back(
                "any drafter of this kind and size will do, also an untrained one: acceptance is simulated");
        }
    }
    const EngineFlags flags = write_flags(std::move(plan));
    return {{flags.text}, flags.remark};
}

}  // namespace

bool drafts_in_stages(const Engine& engine, std::string_view method) {
    return method == "eagle3" && text::version_in(engine.version) >= text::Version{0, 33};
}

Definition definition() {
    return {
        .versions = versions(),
        .dialect = {.images = {"vllm/vllm-openai", "rocm/vllm"},
                    .package = "vllm",
                    .starts = [](std::string_view program,
                                 std::string_view /*next*/) { return program == "vllm" || program.starts_with("vllm."); },
                    .owns_flag =
                        [](std::string_view flag) {
                            return starts_with_any(
                                flag, {"--speculative-config", "-sc", "--spec-method", "--spec-model", "--spec-tokens"});
                        },
                    .one_draft_a_module = true,
                    .quantises_to = "fp8",
                    .model_rules = rules_of_models(),
                    .translates = [](const Engine& engine) { return engine.takes("use_heterogeneous_vocab"); },
                    // verify_equal_vocab_size_if_draft_model in config/speculative.py; pull request 42775 would let them in.
                    .needs_equal_rows = [](const Engine& /*engine*/) { return true; },
                    .write = write,
                    .habits = habits,
                    .parallel_problem = problem,
                    .block_problem = block_problem,
                    .schedule_problem = schedule_problem,
                    .usual_requests = requests,
                    .requests_option = "--max-num-seqs",
                    .way_to_fit = way_to_fit}};
}

Measuring measuring() {
    return {.why_not_simulated = why_not_simulated,
            .server = server,
            .client = [](const FlagPlan& plan, const sweeps::CandidateRun& run) { return vllm_client(plan, run); },
            .data_set = prompts_alone};
}

}  // namespace treeline::engines::vllm
