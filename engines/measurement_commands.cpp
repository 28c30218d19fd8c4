#include "engines/measurement_commands.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engines/flag_plan.h"

namespace treeline::engines {
namespace {

constexpr double answer_tokens = 256.0;
constexpr double clients_for_acceptance = 8.0;  ///< how many drafts are accepted hardly depends on it, the run's time does

/// The requests that the client keeps running at once, for which the server has room.
double clients_of(const sweeps::CandidateRun& run) {
    return run.of_acceptance ? std::max(clients_for_acceptance, run.batch) : run.batch;
}

double requests_of(const sweeps::CandidateRun& run) { return std::max(32.0, 8.0 * run.batch); }

double prompt_of(const sweeps::CandidateRun& run) { return std::max(16.0, std::round(run.context - 0.5 * answer_tokens)); }

/// Without its extension; no two runs of a plan share it.
std::string result_of(const sweeps::CandidateRun& run) {
    return run.of_acceptance ? fmt::format("acceptance-drafts-{}", run.draft_tokens)
                             : fmt::format("batch-{:g}-drafts-{}", run.batch, run.draft_tokens);
}

/// What both clients ask for; `exact` is the flag with which a client keeps answers to their length. What is accepted depends
/// on what is asked.
std::string asked_in(const sweeps::CandidateRun& run, const char* exact) {
    return run.of_acceptance
               ? fmt::format("--dataset-name custom --dataset-path YOUR_REQUESTS.jsonl --max-concurrency {:g}", clients_of(run))
               : fmt::format(
                     "--dataset-name random --random-input-len {:.0f} --random-output-len {:.0f} {} --max-concurrency {:g} "
                     "--num-prompts {:g}",
                     prompt_of(run), answer_tokens, exact, clients_of(run), requests_of(run));
}

/// The client of vLLM, which reaches other engines' servers as well.
std::string vllm_client(const FlagPlan& plan, const sweeps::CandidateRun& run, const char* backend) {
    return fmt::format("vllm bench serve {}--model {} {} --save-result --result-filename {}.json", backend,
                       plan.checkpoints.target, asked_in(run, "--ignore-eos"), result_of(run));
}

std::string sglang_client(const sweeps::CandidateRun& run) {
    return fmt::format("python -m sglang.bench_serving --backend sglang {} --output-file {}.jsonl --output-details",
                       asked_in(run, "--random-range-ratio 1"), result_of(run));
}

/// P(the first i drafts are accepted) with this accept length, as many ones as it has whole tokens: the engine's own rule for a
/// length, so that lengths and rates say the same.
std::vector<double> rates_for(double accept_length, int drafts) {
    std::vector<double> rates;
    double left = accept_length - 1.0;
    for (int i = 0; i < drafts; ++i) {
        rates.push_back(std::round(1e4 * std::min(1.0, left)) / 1e4);
        left = std::max(0.0, left - 1.0);
    }
    return rates;
}

/// Why the engine does not accept drafts of this plan at a stated rate, so that a real drafter is needed; empty if it does.
std::string why_not_simulated(const FlagPlan& plan) {
    switch (plan.engine->name) {
        case EngineName::vllm:
            return plan.engine->takes("synthetic_acceptance_rates")
                       ? ""
                       : fmt::format("a real drafter is needed: {} does not simulate acceptance by position",
                                     plan.engine->label());
        case EngineName::sglang:
            return std::holds_alternative<sim::SglangShape>(plan.shape)
                       ? "a real drafter is needed: SGLang simulates acceptance of chains alone"
                       : "";
        case EngineName::llama_cpp:
            return plan.drafts_with(DrafterKind::ngram)
                       ? "acceptance is not simulated: a look-up drafts only where the text repeats itself"
                       : "";
        case EngineName::tensorrt_llm:
            break;
    }
    return "";
}

/// What starts a server, and what is to be known of it.
struct Server {
    std::vector<std::string> lines;
    std::string remark;
};

Server vllm_server(FlagPlan plan, bool simulated, double accept_length) {
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

Server sglang_server(FlagPlan plan, bool simulated, double accept_length) {
    const std::string environment = simulated ? fmt::format(
                                                    "SGLANG_SIMULATE_ACC_LEN={:.2f} SGLANG_SIMULATE_ACC_METHOD=match-expected "
                                                    "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token ",
                                                    accept_length)
                                              : "";
    const EngineFlags flags = write_flags(std::move(plan));
    return {{environment + flags.text + " --enable-metrics"}, flags.remark};
}

/// A text as the format of `printf`, in single quotes.
std::string printf_format(const std::string& text) {
    std::string format;
    for (const char c : text) {
        format += c == '\n' ? "\\n" : c == '\'' ? "\\047" : c == '%' ? "%%" : c == '\\' ? "\\\\" : std::string(1, c);
    }
    return "'" + format + "'";
}

Server tensorrt_llm_server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.remarks.emplace_back("TensorRT-LLM counts forced tokens without the bonus token");
    }
    const std::string yaml = "enable_iter_perf_stats: true\n" + tensorrt_llm_yaml(plan);
    const std::string forced =
        simulated ? fmt::format("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={:.2f} ", accept_length - 1.0) : "";
    return {{fmt::format("printf {} >{}", printf_format(yaml), tensorrt_llm_file),
             fmt::format("{}trtllm-serve {} --config {}", forced, plan.checkpoints.target, tensorrt_llm_file)},
            joined_remarks(plan.remarks)};
}

Server llama_cpp_server(FlagPlan plan, bool simulated, double accept_length) {
    if (simulated) {
        plan.simulated_rates = rates_for(accept_length, plan.draft_tokens);
        plan.remarks.emplace_back(
            "simulated acceptance needs llama.cpp 0.5.0 (September 2026) or later; before, a real drafter");
    }
    const EngineFlags flags = write_flags(std::move(plan));
    return {{flags.text + " --metrics"}, flags.remark};
}

Server server_for(const FlagPlan& plan, bool simulated, double accept_length) {
    switch (plan.engine->name) {
        case EngineName::vllm:
            return vllm_server(plan, simulated, accept_length);
        case EngineName::sglang:
            return sglang_server(plan, simulated, accept_length);
        case EngineName::tensorrt_llm:
            return tensorrt_llm_server(plan, simulated, accept_length);
        case EngineName::llama_cpp:
            break;
    }
    return llama_cpp_server(plan, simulated, accept_length);
}

std::string client_for(const FlagPlan& plan, const sweeps::CandidateRun& run) {
    switch (plan.engine->name) {
        case EngineName::sglang:
            return sglang_client(run);
        case EngineName::llama_cpp:
            return vllm_client(plan, run, "--backend openai --base-url http://localhost:8080 ");
        case EngineName::vllm:
        case EngineName::tensorrt_llm:
            break;
    }
    return vllm_client(plan, run, "");
}

/// The lines of a data set that the client reads.
const char* data_set_remark(const Engine& engine) {
    return engine.name == EngineName::sglang
               ? R"(YOUR_REQUESTS.jsonl: a line {"conversations": [{"content": "prompt"}, {"content": "answer"}]} for each request)"
               : R"(YOUR_REQUESTS.jsonl: a line {"prompt": "..."} for each request)";
}

sim::Speculation drafted_in(const sweeps::CandidateRun& run) {
    sim::Speculation speculation;
    speculation.shape = run.tree.value_or(sim::ChainShape{run.draft_tokens});
    return speculation;
}

}  // namespace

RunCommands commands_for(const sweeps::CandidateRun& run, const Engine& engine, const sweeps::Recommendation& recommendation) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    PlanResult planned = plan_of_shape(recommendation.variants[best.variant], engine, drafted_in(run), run.draft_tokens,
                                       std::max(planned_requests(recommendation), clients_of(run)));
    if (!planned.refusal.empty()) {
        return {{}, planned.refusal, false};
    }
    FlagPlan& plan = planned.plan;
    plan.request_tokens = prompt_of(run) + answer_tokens + run.draft_tokens;
    plan.cached_tokens = recommendation.capacity.drafting * recommendation.capacity.context;
    bool simulated = run.draft_tokens > 0 && !run.of_acceptance;
    if (simulated) {
        const std::string obstacle = why_not_simulated(plan);
        simulated = obstacle.empty();
        if (!simulated) {
            plan.remarks.push_back(obstacle);
        }
    }
    if (run.of_acceptance) {
        plan.remarks.emplace_back(data_set_remark(engine));
    }
    const double accept_length = std::min(best.accept_length, run.draft_tokens + 1.0);
    Server server = server_for(plan, simulated, accept_length);
    server.lines.push_back(client_for(plan, run));
    return {std::move(server.lines), std::move(server.remark), simulated};
}

}  // namespace treeline::engines
