#include "engines/check_commands.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engines/checkpoints.h"
#include "engines/flag_plan.h"
#include "engines/priced_engine.h"
#include "sim/lengths.h"
#include "text/number_text.h"

namespace treeline::engines {
namespace {

/// A load as a client offers it.
struct ClientRun {
    std::string target;
    double prompt = 0.0, output = 0.0;  ///< tokens
    double load = 1.0;                  ///< requests in flight, or of `arrivals` those per second
    bool arrivals = false;
    double requests = 0.0;
};

// vllm/benchmarks/serve.py of vllm-project/vllm: --request-rate comes at random (--burstiness 1), and a result that has the
// name of another replaces it.
std::string vllm_run(const ClientRun& run, const std::string& result) {
    return fmt::format(
        "vllm bench serve --model {} --dataset-name random --random-input-len {:.0f} --random-output-len {:.0f} {} {:g} "
        "--num-prompts {:g} --ignore-eos --save-result --result-filename {}.json\n",
        run.target, run.prompt, run.output, run.arrivals ? "--request-rate" : "--max-concurrency", run.load, run.requests,
        result);
}

// README.md and docs/guides/outputs.md of vllm-project/guidellm @ee7a7745: this command line is that of 0.7 (June 2026) and
// later. Answers to synthetic texts ignore the end of a text (backends/openai/request_handlers.py).
std::string guidellm_run(const ClientRun& run, const std::string& result) {
    return fmt::format(
        "guidellm run --backend kind=openai_http,target=http://localhost:8000 --profile kind={}={:g} --constraint "
        "kind=max_requests,count={:g} --data kind=synthetic_text,prompt_tokens={:.0f},output_tokens={:.0f} --output "
        "kind=json,path={}.json\n",
        run.arrivals ? "poisson,rate" : "concurrent,streams", run.load, run.requests, run.prompt, run.output, result);
}

// docs/tutorials/request-rate-concurrency.md of ai-dynamo/aiperf @13992dbd (--request-rate is Poisson's unless told otherwise);
// its README: without ignore_eos or min_tokens answers may be shorter than asked for.
std::string aiperf_run(const ClientRun& run, const std::string& result) {
    return fmt::format(
        "aiperf profile --model {} --url localhost:8000 --endpoint-type chat --streaming {} {:g} --request-count {:g} "
        "--synthetic-input-tokens-mean {:.0f} --output-tokens-mean {:.0f} --extra-inputs ignore_eos:true --artifact-dir {}\n",
        run.target, run.arrivals ? "--request-rate" : "--concurrency", run.load, run.requests, run.prompt, run.output, result);
}

std::string command_of(ExportKind kind, const ClientRun& run, const std::string& result) {
    return kind == ExportKind::check_vllm       ? vllm_run(run, result)
           : kind == ExportKind::check_guidellm ? guidellm_run(run, result)
                                                : aiperf_run(run, result);
}

/// The servers that are measured, as flags start them, and what every request of the clients brings along.
struct Measured {
    const sweeps::Recommendation& recommendation;
    sweeps::LoadKind kind;
    double prompt, output;  ///< tokens, all alike: synthetic requests have no other lengths, and share no text
    double context = 0.0;   ///< of such requests, in the mean
    sim::CompiledRound round = {};
    FlagPlan plan = {};                     ///< of the server with the drafter; its lengths alone where no engine was priced
    std::map<int, int> chains = {};         ///< speculations by draft tokens
    std::string server = {}, without = {};  ///< commands, as comments; empty where no engine was priced
};

/// Lines as comments.
std::string commented(const std::string& text) {
    std::string lines = "# ";
    for (const char c : text) {
        lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
    }
    return lines + "\n";
}

/// The server without the drafter, for as many requests at once as the one with it.
std::string plain_server(const sweeps::Variant& variant, const Engine& engine, const FlagPlan& drafting) {
    PlanResult plain = plan_of_shape(variant, engine, sim::chains_up_to(0).front(), 0, drafting.requests);
    plain.plan.request_tokens = drafting.request_tokens;
    plain.plan.whole_context = drafting.whole_context;
    return plain.refusal.empty() ? commented(pasted(write_flags(std::move(plain.plan)))) : "";
}

Measured measured_of(const PromisedLoads& promised) {
    const sweeps::Recommendation& found = promised.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sweeps::Variant& variant = found.variants[best.variant];
    const double prompt = promised.workload.prompt_tokens > 0.0 ? promised.workload.prompt_tokens : promised.context - 64.0;
    const double output = variant.setup.output_tokens > 0.0 ? variant.setup.output_tokens : 128.0;
    Measured measured{found, promised.workload.traffic.kind, std::max(1.0, std::round(prompt)), std::round(output)};
    measured.context = sim::mean_context({{measured.prompt, 1.0}}, {{measured.output, 1.0}});
    sim::RoundSetup setup = variant.setup;
    setup.prompt_tokens = measured.prompt;
    setup.output_tokens = measured.output;
    setup.prompt_lengths = {};
    setup.prefix_hit = setup.shared_prefix = 0.0;
    measured.round = sim::compile_round(setup);
    for (int i = 0; i < static_cast<int>(measured.round.rows.size()); ++i) {
        if (measured.round.runs(i) && sim::is_chain(setup.speculations[static_cast<std::size_t>(i)])) {
            measured.chains.emplace(static_cast<int>(measured.round.row(i).draft_tokens), i);
        }
    }
    measured.plan.draft_tokens = best.draft_tokens;
    if (const std::optional<Engine> engine = priced_engine(variant.setup.platform)) {
        if (PlanResult planned = plan_flags(found, *engine); planned.refusal.empty()) {
            measured.plan = planned.plan;
            measured.server = commented(pasted(write_flags(std::move(planned.plan))));
            measured.without = plain_server(variant, *engine, measured.plan);
        }
    }
    return measured;
}

/// Draft tokens of the server's flags at a batch. Beyond the last range engines go on as in it.
int drafted_at(const FlagPlan& plan, double batch) {
    for (const PlannedLength& length : plan.schedule) {
        if (batch < length.to + 1.0 || &length == &plan.schedule.back()) {
            return length.draft_tokens;
        }
    }
    return plan.draft_tokens;
}

struct Promise {
    int draft_tokens = 0;
    sweeps::SettledLoad settled;
    sim::RoundEstimate estimate;
};

Promise promise_of(const Measured& measured, const sim::CompiledRound& round, int speculation, int drafts, double load) {
    const sweeps::TrafficPoint point{load, measured.context, 1.0};
    const sweeps::SettledLoad settled = sweeps::settle(round, speculation, measured.kind, point);
    return {drafts, settled, sim::evaluate(round, {speculation, settled.batch, measured.context})};
}

Promise plain_promise(const Measured& measured, double load) { return promise_of(measured, measured.round, 0, 0, load); }

/// At the batch at which the server settles with the length that its flags draft there. Where two lengths each lead to the
/// batch of the other one, the last of them that was looked at.
Promise drafting_promise(const Measured& measured, double load) {
    constexpr int most_steps = 8;
    const auto speculation_of = [&](int drafts) {
        const auto found = measured.chains.find(drafts);
        return drafts == 0                      ? sim::drafting_off
               : found == measured.chains.end() ? measured.recommendation.candidates.front().speculation
                                                : found->second;
    };
    const sweeps::StartedRound server(measured.round, speculation_of(measured.plan.longest()));
    Promise promise;
    int drafts = drafted_at(measured.plan, 1.0);
    for (int step = 0; step < most_steps; ++step) {
        promise = promise_of(measured, server.get(), speculation_of(drafts), drafts, load);
        drafts = drafted_at(measured.plan, promise.settled.batch);
        if (drafts == promise.draft_tokens) {
            break;
        }
    }
    return promise;
}

std::string waiting_text(const Promise& promise) {
    return !promise.settled.problem.empty() ? " (it does not keep up)"
           : promise.settled.queued > 0.0   ? fmt::format(" ({:.0f} wait)", std::ceil(promise.settled.queued))
                                            : "";
}

/// What is promised at a load, as a comment.
std::string promise_text(const Measured& measured, double load) {
    const Promise with = drafting_promise(measured, load), without = plain_promise(measured, load);
    return fmt::format("# {:g} requests{}: TPOT {:.2f} ms with {} draft tokens{}, {:.2f} ms without{} ({})\n", load,
                       measured.kind == sweeps::LoadKind::arrival_rate ? "/s" : "",
                       text::to_ms * with.estimate.time_per_token.value(), with.draft_tokens, waiting_text(with),
                       text::to_ms * without.estimate.time_per_token.value(), waiting_text(without),
                       text::ratio_text(without.estimate.time_per_token / with.estimate.time_per_token));
}

/// Eight requests for each that runs at once, so that most run in the steady state.
double requests_for(const Measured& measured, double load) {
    const double at_once = plain_promise(measured, load).settled.batch;
    return std::max(32.0, 8.0 * std::ceil(measured.kind == sweeps::LoadKind::arrival_rate ? at_once : load));
}

std::set<double> loads_of(const sweeps::Traffic& traffic) {
    std::set<double> loads;
    for (const sweeps::TrafficPoint& point : traffic.points) {
        loads.insert(point.load);
    }
    return loads;
}

/// vLLM's results say what was drafted; of the other clients', each import is told, one for each length.
std::string import_commands(ExportKind kind, const std::map<int, std::vector<double>>& loads_by_length) {
    if (kind == ExportKind::check_vllm) {
        return "treeline import plain-*.json drafts-*.json --output my-run.json\n";
    }
    const char* results = kind == ExportKind::check_guidellm ? ".json" : "/profile_export_aiperf.json";
    std::string commands = fmt::format("treeline import plain-*{} --draft-tokens 0 --output my-plain-run.json\n", results);
    std::string before = "my-plain-run.json";
    for (const auto& [length, loads] : loads_by_length) {
        std::string files;
        for (const double load : loads) {
            files += fmt::format(" drafts-{:g}{}", load, results);
        }
        files = loads_by_length.size() == 1 ? fmt::format(" drafts-*{}", results) : files;
        commands += fmt::format("treeline import {}{} --draft-tokens {} --output my-run.json\n", before, files, length);
        before = "my-run.json";
    }
    return commands;
}

/// The name under which the server that was priced serves the target.
std::string served_name(const sweeps::Variant& variant) {
    const std::optional<Engine> engine = priced_engine(variant.setup.platform);
    const std::string& repository = variant.setup.target.repository;
    return engine ? checkpoints_of(variant, *engine).target : repository.empty() ? target_placeholder : repository;
}

}  // namespace

Exported check_commands(ExportKind kind, const PromisedLoads& promised) {
    const sweeps::Candidate& best = promised.recommendation.candidates.front();
    const Measured measured = measured_of(promised);
    const std::string target = served_name(promised.recommendation.variants[best.variant]);
    const bool arrivals = measured.kind == sweeps::LoadKind::arrival_rate;
    std::string text = fmt::format("# Promised for prompts of {:g} tokens and answers of {:g}:\n", measured.prompt,
                                   measured.output),
                plain, drafts;
    std::map<int, std::vector<double>> loads_by_length;
    for (const double load : loads_of(promised.workload.traffic)) {
        const ClientRun run{target, measured.prompt, measured.output, load, arrivals, requests_for(measured, load)};
        text += promise_text(measured, load);
        plain += command_of(kind, run, fmt::format("plain-{:g}", load));
        drafts += command_of(kind, run, fmt::format("drafts-{:g}", load));
        loads_by_length[drafting_promise(measured, load).draft_tokens].push_back(load);
    }
    text += "# Against the server without the drafter:\n" + measured.without + plain +
            "# Against the server with the drafter:\n" + measured.server + drafts + import_commands(kind, loads_by_length);
    return {text,
            "random prompts measure time, but not acceptance: give your own data set for that (or simulate acceptance, "
            "treeline plan)"};
}

}  // namespace treeline::engines
