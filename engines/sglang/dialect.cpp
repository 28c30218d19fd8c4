// SGLang. Weights on the host: --cpu-offload-gb as vLLM's (server_args.py), and kt-kernel's CPU kernels for the experts that
// --kt-num-gpu-experts does not keep on the GPU.
#include <fmt/format.h>

#include "engines/host_weights.h"
#include "engines/measurement_clients.h"
#include "engines/sglang/parts.h"
#include "sim/traits.h"

namespace treeline::engines::sglang {
namespace {

/// Drafters with which SGLang does not start under attention data parallelism.
bool rejects_groups(DrafterKind drafter) {
    return drafter == DrafterKind::draft_model || drafter == DrafterKind::ngram || drafter == DrafterKind::dflash;
}

std::string problem(const Engine& /*engine*/, DrafterKind drafter, const sim::Platform& platform) {
    return platform.parallel.pipeline > 1.0 ? "refuses pipeline stages while it drafts"
           : has_groups(platform) && rejects_groups(drafter)
               ? fmt::format("rejects attention data parallelism with {}", name_of(drafter))
               : "";
}

/// Issues 10641, 23265 and 26107. AMD's kernels (AITER) take such weights (ROCm/ATOM, issue 1944).
CutProblem block_problem(const Engine& engine, const CutBlocks& cut, const sim::Device& device) {
    return is_amd(device) ? CutProblem{}
                          : CutProblem{fmt::format("{} does not load {}{}", engine.label(), text_of(cut),
                                                   cut.routed ? ": expert parallelism leaves them whole" : ""),
                                       false};
}

/// Pull request 34556, which was open in September 2026.
std::string load_problem(const Engine& engine, const sim::Model& target) {
    return !sim::attends(target) && engine.numbers() < text::Version{0, 5, 20}
               ? "models without attention came after 0.5.19 (pull request 34556)"
               : "";
}

std::string way_to_fit(const MissingMemory& missing) {
    if (missing.placement.residence == sim::Residence::experts_on_host) {
        return computed_there(missing.placement, missing.on_host) +
               fmt::format(
                   " prices about what SGLang's --kt-num-gpu-experts does; its {} copies weights in every step "
                   "instead, which is not priced.",
                   offload_flag(missing.too_much));
    }
    return fmt::format(
        " SGLang's {} makes it fit: every step then copies so much over the link to the host, which is not priced. "
        "llama.cpp computes there instead: --engine llama.cpp {}.",
        offload_flag(missing.too_much), placement_flag(missing.placement));
}

std::string why_not_simulated(const FlagPlan& plan) {
    return std::holds_alternative<sim::SglangShape>(plan.shape)
               ? "a real drafter is needed: SGLang simulates acceptance of chains alone"
               : "";
}

ServerCommand server(FlagPlan plan, bool simulated, double accept_length) {
    const std::string environment = simulated ? fmt::format(
                                                    "SGLANG_SIMULATE_ACC_LEN={:.2f} SGLANG_SIMULATE_ACC_METHOD=match-expected "
                                                    "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token ",
                                                    accept_length)
                                              : "";
    const EngineFlags flags = write_flags(std::move(plan));
    return {{environment + flags.text + " --enable-metrics"}, flags.remark};
}

std::string client(const FlagPlan& /*plan*/, const sweeps::CandidateRun& run) {
    return fmt::format("python -m sglang.bench_serving --backend sglang {} --output-file {}.jsonl --output-details",
                       asked_in(run, "--random-range-ratio 1"), result_of(run));
}

bool is_deepseek_v41(std::string_view small_name) { return small_name.find("deepseek-v4.1") != std::string_view::npos; }

bool is_deepseek_v4(std::string_view small_name) { return small_name.find("deepseek-v4") != std::string_view::npos; }

/// Checks of SGLang by architecture, of the newest first: they see what the command says, before aliases and defaults.
std::vector<ModelRule> rules_of_models() {
    return {{.models = "DeepSeek-V4.1",
             .covers = [](const sim::Model& target) { return sim::compresses_cache(target) && is_deepseek_v41(target.name); },
             .names = is_deepseek_v41,
             .words = {"DSPARK"},
             .source = "arg_groups/deepseek_v4_hook.py"},
            {.models = "DeepSeek-V4",
             .covers = [](const sim::Model& target) { return sim::compresses_cache(target); },
             .names = is_deepseek_v4,
             .words = {"EAGLE", "DSPARK"},
             .width_flag = "--speculative-eagle-topk",
             .source = "arg_groups/deepseek_v4_hook.py; issue 38236"}};
}

}  // namespace

Definition definition() {
    return {
        .versions = versions(),
        .dialect = {.images = {"lmsysorg/sglang"},
                    .package = "sglang",
                    .starts = [](std::string_view program,
                                 std::string_view /*next*/) { return program == "sglang" || program.starts_with("sglang."); },
                    .owns_flag = [](std::string_view flag) { return flag.starts_with("--speculative-"); },
                    .reads_prompts = sim::PrefillPolicy::alternating,
                    .mixes_prompts = "--enable-mixed-chunk",
                    .quantises_to = "fp8",
                    .model_rules = rules_of_models(),
                    .alias = {"NEXTN", "EAGLE"},
                    .translates = [](const Engine& /*engine*/) { return false; },
                    // Pull request 23838 of July 2026; before, padded rows did no harm.
                    .needs_equal_rows =
                        [](const Engine& engine) {
                            return engine.numbers() >= text::Version{0, 5, 16};
                        },
                    .write = write,
                    .habits = habits,
                    .parallel_problem = problem,
                    .block_problem = block_problem,
                    .load_problem = load_problem,
                    .usual_requests = [](const sim::Platform& /*platform*/) { return default_requests; },
                    .requests_option = "--max-running-requests",
                    .way_to_fit = way_to_fit}};
}

Measuring measuring() {
    return {.why_not_simulated = why_not_simulated,
            .server = server,
            .client = client,
            .data_set = R"({"conversations": [{"content": "prompt"}, {"content": "answer"}]})"};
}

}  // namespace treeline::engines::sglang
