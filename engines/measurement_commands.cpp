#include "engines/measurement_commands.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engines/capabilities.h"
#include "engines/flag_plan.h"

namespace treeline::engines {
namespace {

constexpr double answer_tokens = 256.0;

std::string bench(const std::string& target, const sweeps::CandidateRun& run, const char* backend) {
    const double prompt = std::max(16.0, std::round(run.context - 0.5 * answer_tokens));
    if (run.of_acceptance) {  // what is accepted depends on what is asked
        return fmt::format(
            "vllm bench serve {}--model {} --dataset-name custom --dataset-path YOUR_REQUESTS.jsonl --max-concurrency {:g} "
            "--save-result --result-filename acceptance-drafts-{}.json",
            backend, target, std::max(8.0, run.batch), run.draft_tokens);
    }
    return fmt::format(
        "vllm bench serve {}--model {} --dataset-name random --random-input-len {:.0f} --random-output-len {:.0f} "
        "--max-concurrency {:g} "
        "--num-prompts {:g} --ignore-eos --save-result --result-filename batch-{:g}-drafts-{}.json",
        backend, target, prompt, answer_tokens, run.batch, std::max(32.0, 8.0 * run.batch), run.batch, run.draft_tokens);
}

/// P(the first i drafts are accepted) with this accept length, as many ones as it has whole tokens: the engine's own rule for a
/// length, so that lengths and rates say the same.
nlohmann::ordered_json rates_for(double accept_length, int drafts) {
    nlohmann::ordered_json rates = nlohmann::ordered_json::array();
    double left = std::min(accept_length - 1.0, static_cast<double>(drafts));
    for (int i = 0; i < drafts; ++i) {
        rates.push_back(std::round(1e4 * std::min(1.0, left)) / 1e4);
        left = std::max(0.0, left - 1.0);
    }
    return rates;
}

RunCommands of_vllm(const sweeps::CandidateRun& run, const EngineDrafter& drafter, const Checkpoints& names,
                    double accept_length) {
    std::string serve = "vllm serve " + names.target;
    RunCommands commands;
    if (run.draft_tokens > 0) {
        nlohmann::ordered_json config = {{"method", drafter.word}};
        if (drafter.needs_path) {
            config["model"] = names.drafter;
        }
        config["num_speculative_tokens"] = run.draft_tokens;
        if (!run.of_acceptance) {
            config["rejection_sample_method"] = "synthetic";
            config["synthetic_acceptance_rates"] = rates_for(accept_length, run.draft_tokens);
        }
        serve += fmt::format(" --speculative-config '{}'", config.dump());
        commands.remark = run.of_acceptance || !drafter.needs_path
                              ? ""
                              : "any drafter of this kind and size will do, also an untrained one: acceptance is simulated";
    }
    commands.lines = {serve, bench(names.target, run, "")};
    return commands;
}

RunCommands of_sglang(const sweeps::CandidateRun& run, const EngineDrafter& drafter, const Checkpoints& names,
                      double accept_length) {
    std::string serve;
    const auto* tree = run.tree ? std::get_if<sim::SglangShape>(&*run.tree) : nullptr;
    const sim::SglangShape shape = tree != nullptr ? *tree : sim::SglangShape{run.draft_tokens, 1, run.draft_tokens + 1};
    if (run.draft_tokens > 0 && !run.of_acceptance && tree == nullptr) {
        serve = fmt::format(
            "SGLANG_SIMULATE_ACC_LEN={:.2f} SGLANG_SIMULATE_ACC_METHOD=match-expected "
            "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token ",
            accept_length);
    }
    serve += fmt::format("python -m sglang.launch_server --model-path {} --enable-metrics", names.target);
    if (run.draft_tokens > 0) {
        serve += fmt::format(" --speculative-algorithm {}", drafter.word);
        serve += drafter.needs_path ? fmt::format(" --speculative-draft-model-path {}", names.drafter) : "";
        serve += fmt::format(
            " --speculative-num-steps {} --speculative-eagle-topk {} --speculative-num-draft-tokens {} --max-running-requests "
            "{:g}",
            shape.steps, shape.top_k, shape.draft_tokens, std::max(48.0, run.batch));
    }
    return {
        {serve, fmt::format(
                    "python -m sglang.bench_serving --backend sglang --dataset-name random --random-input-len {:.0f} "
                    "--random-output-len {:.0f} --random-range-ratio 1 --max-concurrency {:g} --num-prompts {:g} --output-file "
                    "batch-{:g}-drafts-{}.jsonl --output-details",
                    std::max(16.0, std::round(run.context - 0.5 * answer_tokens)), answer_tokens, run.batch,
                    std::max(32.0, 8.0 * run.batch), run.batch, run.draft_tokens)},
        run.of_acceptance || run.draft_tokens == 0 ? ""
        : tree != nullptr                          ? "a real drafter is needed: SGLang simulates acceptance of chains alone"
                                                   : "simulated acceptance needs top-k 1"};
}

RunCommands of_tensorrt_llm(const sweeps::CandidateRun& run, const EngineDrafter& drafter, const Checkpoints& names,
                            double accept_length) {
    std::string serve;
    const auto* tree = run.tree ? std::get_if<sim::TensorRtShape>(&*run.tree) : nullptr;
    if (run.draft_tokens > 0) {
        const std::string branches =
            tree == nullptr
                ? ""
                : fmt::format("  use_dynamic_tree: true\\n  dynamic_tree_max_topK: {}\\n  max_total_draft_tokens: {}\\n",
                              tree->max_top_k, tree->max_total_draft_tokens);
        serve = fmt::format(
            "printf 'enable_iter_perf_stats: true\\nspeculative_config:\\n  decoding_type: {}\\n  max_draft_len: {}\\n{}{}' "
            ">extra.yaml",
            drafter.word, tree != nullptr ? tree->max_draft_len : run.draft_tokens, branches,
            drafter.needs_path ? fmt::format("  speculative_model: {}\\n", names.drafter) : "");
    } else {
        serve = "printf 'enable_iter_perf_stats: true\\n' >extra.yaml";
    }
    const std::string forced = run.draft_tokens > 0 && !run.of_acceptance
                                   ? fmt::format("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={:.2f} ", accept_length - 1.0)
                                   : "";
    return {{serve, fmt::format("{}trtllm-serve {} --config extra.yaml", forced, names.target), bench(names.target, run, "")},
            "TensorRT-LLM counts forced tokens without the bonus token"};
}

RunCommands of_llama_cpp(const sweeps::CandidateRun& run, const EngineDrafter& drafter, const Checkpoints& names,
                         double accept_length) {
    std::vector<std::string> remarks;
    std::string serve = fmt::format("llama-server --model {} --metrics --parallel {:g}",
                                    gguf_of(names.target, target_placeholder, remarks), run.batch);
    if (run.draft_tokens > 0) {
        serve += fmt::format(" --spec-type {}", drafter.word);
        serve += drafter.needs_path ? " --spec-draft-model " + gguf_of(names.drafter, drafter_placeholder, remarks) : "";
        serve += fmt::format(" --spec-draft-n-max {}", run.draft_tokens);
    }
    if (run.draft_tokens > 0 && !run.of_acceptance) {
        std::string rates;
        for (const auto& rate : rates_for(accept_length, run.draft_tokens)) {
            rates += (rates.empty() ? "" : ",") + rate.dump();
        }
        serve += " --spec-synth-rates " + rates;
        remarks.emplace_back("simulated acceptance needs llama.cpp 0.5.0 (September 2026) or later; before, a real drafter");
    }
    return {{serve, bench(names.target, run, "--backend openai --base-url http://localhost:8080 ")}, joined_remarks(remarks)};
}

}  // namespace

RunCommands commands_for(const sweeps::CandidateRun& run, const Engine& engine, const sim::Drafter& drafter,
                         const Checkpoints& names, double accept_length) {
    const EngineDrafter* known = engine.drafter(kind_of(drafter));
    if (known == nullptr && run.draft_tokens > 0) {
        return {{}, drafter_problem(engine, kind_of(drafter))};
    }
    const EngineDrafter none{};
    const EngineDrafter& of_engine = known != nullptr ? *known : none;
    switch (engine.name) {
        case EngineName::vllm:
            return of_vllm(run, of_engine, names, accept_length);
        case EngineName::sglang:
            return of_sglang(run, of_engine, names, accept_length);
        case EngineName::tensorrt_llm:
            return of_tensorrt_llm(run, of_engine, names, accept_length);
        case EngineName::llama_cpp:
            break;
    }
    return of_llama_cpp(run, of_engine, names, accept_length);
}

}  // namespace treeline::engines
