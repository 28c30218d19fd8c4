// llama.cpp. Weights on the host: --n-cpu-moe, --n-gpu-layers.
#include "engines/deployment_file.h"
#include "engines/dialect.h"
#include "engines/host_weights.h"
#include "engines/measurement_clients.h"

namespace treeline::engines {
namespace {

std::string llama_cpp_problem(const Engine& /*engine*/, DrafterKind /*drafter*/, const sim::Platform& platform) {
    sim::Parallelism stages;  // whole layers on each device, its default (--split-mode layer)
    stages.pipeline = platform.parallel.pipeline;
    return platform.parallel == stages ? "" : "shares a model among devices in no such way";
}

std::string why_llama_cpp_does_not_simulate(const FlagPlan& plan) {
    return plan.drafts_with(DrafterKind::ngram)
               ? "acceptance is not simulated: a look-up drafts only where the text repeats itself"
               : "";
}

ServerCommand llama_cpp_server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.simulated_rates = rates_for(accept_length, plan.draft_tokens);
        plan.remarks.emplace_back(
            "simulated acceptance needs llama.cpp 0.5.0 (September 2026) or later; before, a real drafter");
    }
    const EngineFlags flags = write_flags(std::move(plan));
    return {{flags.text + " --metrics"}, flags.remark};
}

std::string llama_cpp_client(const FlagPlan& plan, const sweeps::CandidateRun& run) {
    return vllm_client(plan, run, "--backend openai --base-url http://localhost:8080 ");
}

/// A shell takes the backslashes of a path on Windows away. "llama serve" is what builds of 2026 call llama-server, too
/// (ggml-org/Llama-macOS, issue 97).
bool is_llama_cpp(std::string_view program, std::string_view next) {
    const bool on_windows = program.ends_with(".exe") && program.find("llama-server") != std::string_view::npos;
    return on_windows || (program == "llama" && next == "serve") ||
           starts_with_any(program, {"llama-server", "llama-cli", "llama-speculative"});
}

}  // namespace

Dialect detail::llama_cpp_dialect() {
    return {
        .starts = is_llama_cpp,
        .owns_flag = starts_speculation,
        .runs_on_metal = true,
        .places_weights = true,
        .caches_in_16_bits = true,
        .one_draft_a_module = true,
        .translates = [](const Engine& /*engine*/) { return true; },
        .write = write_llama_cpp,
        .parallel_problem = llama_cpp_problem,
        .usual_requests = [](const sim::Platform& /*platform*/) { return 4.0; },
        .requests_option = "--parallel",
        .way_to_fit = [](const MissingMemory& missing) { return computed_there(missing.placement, missing.on_host) + "."; }};
}

Measuring detail::llama_cpp_measuring() {
    return {.why_not_simulated = why_llama_cpp_does_not_simulate,
            .server = llama_cpp_server,
            .client = llama_cpp_client,
            .data_set = prompts_alone};
}

Linting detail::llama_cpp_linting() {
    return {.flags_alone = true,
            .check = [](const LintInput& input, const Engine& engine, const ReadFile& /*read_file*/, Findings& findings) {
                lint_llama_cpp(input, engine, findings);
            }};
}

}  // namespace treeline::engines
