// llama.cpp. Weights on the host: --n-cpu-moe, --n-gpu-layers.
#include "engines/deployment_file.h"
#include "engines/host_weights.h"
#include "engines/llama_cpp/parts.h"
#include "engines/measurement_clients.h"

namespace treeline::engines::llama_cpp {
namespace {

std::string problem(const Engine& /*engine*/, DrafterKind /*drafter*/, const sim::Platform& platform) {
    sim::Parallelism stages;  // whole layers on each device, its default (--split-mode layer)
    stages.pipeline = platform.parallel.pipeline;
    return platform.parallel == stages ? "" : "shares a model among devices in no such way";
}

std::string why_not_simulated(const FlagPlan& plan) {
    return plan.drafts_with(DrafterKind::ngram)
               ? "acceptance is not simulated: a look-up drafts only where the text repeats itself"
               : "";
}

ServerCommand server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.simulated_rates = rates_for(accept_length, plan.draft_tokens);
        plan.remarks.emplace_back(
            "simulated acceptance needs llama.cpp 0.5.0 (September 2026) or later; before, a real drafter");
    }
    const EngineFlags flags = write_flags(std::move(plan));
    return {{flags.text + " --metrics"}, flags.remark};
}

std::string client(const FlagPlan& plan, const sweeps::CandidateRun& run) {
    return vllm_client(plan, run, "--backend openai --base-url http://localhost:8080 ");
}

/// A shell takes the backslashes of a path on Windows away. "llama serve" is what builds of 2026 call llama-server, too
/// (ggml-org/Llama-macOS, issue 97).
bool starts(std::string_view program, std::string_view next) {
    const bool on_windows = program.ends_with(".exe") && program.find("llama-server") != std::string_view::npos;
    return on_windows || (program == "llama" && next == "serve") ||
           starts_with_any(program, {"llama-server", "llama-cli", "llama-speculative"});
}

}  // namespace

Definition definition() {
    return {
        .versions = versions(),
        .dialect = {.other_words = {"llama-cpp", "llamacpp"},
                    .images = {"ggml-org/llama.cpp", "ik-llama-cpp", "ik_llama"},
                    .starts = starts,
                    .owns_flag = starts_speculation,
                    .runs_on_metal = true,
                    .places_weights = true,
                    .caches_in_16_bits = true,
                    .one_draft_a_module = true,
                    .takes_share_of_memory = false,
                    .takes_older = true,
                    .loads_gguf = true,
                    .translates = [](const Engine& /*engine*/) { return true; },
                    .write = write,
                    .habits = habits,
                    .parallel_problem = problem,
                    .usual_requests = [](const sim::Platform& /*platform*/) { return 4.0; },
                    .requests_option = "--parallel",
                    .way_to_fit =
                        [](const MissingMemory& missing) { return computed_there(missing.placement, missing.on_host) + "."; }}};
}

Measuring measuring() {
    return {.why_not_simulated = why_not_simulated, .server = server, .client = client, .data_set = prompts_alone};
}

}  // namespace treeline::engines::llama_cpp
