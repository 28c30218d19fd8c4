#include "engines/check_commands.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "engines/checkpoints.h"
#include "engines/priced_engine.h"
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

/// vLLM's results say what was drafted; of the other clients', each import is told.
std::string import_commands(ExportKind kind, int draft_tokens) {
    if (kind == ExportKind::check_vllm) {
        return "treeline import plain-*.json drafts-*.json --output my-run.json\n";
    }
    const char* results = kind == ExportKind::check_guidellm ? "-*.json" : "-*/profile_export_aiperf.json";
    return fmt::format(
        "treeline import plain{0} --draft-tokens 0 --output my-plain-run.json\n"
        "treeline import my-plain-run.json drafts{0} --draft-tokens {1} --output my-run.json\n",
        results, draft_tokens);
}

struct Promise {
    sweeps::SettledLoad settled;
    sim::RoundEstimate estimate;
};

Promise promise_of(const PromisedLoads& promised, int speculation, double load) {
    const sweeps::TrafficPoint point{load, promised.context, 1.0};
    const sweeps::SettledLoad settled = sweeps::settle(promised.round, speculation, promised.workload.traffic.kind, point);
    return {settled, sim::evaluate(promised.round, {speculation, settled.batch, promised.context})};
}

std::string waiting_text(const Promise& promise) {
    return !promise.settled.problem.empty() ? " (it does not keep up)"
           : promise.settled.queued > 0.0   ? fmt::format(" ({:.0f} wait)", std::ceil(promise.settled.queued))
                                            : "";
}

/// What was promised at a load, as a comment.
std::string promise_text(const PromisedLoads& promised, double load) {
    const sweeps::Candidate& best = promised.recommendation.candidates.front();
    const Promise with = promise_of(promised, best.speculation, load), without = promise_of(promised, 0, load);
    const bool arrivals = promised.workload.traffic.kind == sweeps::LoadKind::arrival_rate;
    return fmt::format("# {:g} requests{}: TPOT {:.2f} ms with {} draft tokens{}, {:.2f} ms without{} ({})\n", load,
                       arrivals ? "/s" : "", text::to_ms * with.estimate.time_per_token.value(), best.draft_tokens,
                       waiting_text(with), text::to_ms * without.estimate.time_per_token.value(), waiting_text(without),
                       text::ratio_text(without.estimate.time_per_token / with.estimate.time_per_token));
}

/// Eight requests for each that runs at once, so that most run in the steady state.
double requests_for(const PromisedLoads& promised, double load) {
    const double at_once = promise_of(promised, 0, load).settled.batch;
    const bool arrivals = promised.workload.traffic.kind == sweeps::LoadKind::arrival_rate;
    return std::max(32.0, 8.0 * std::ceil(arrivals ? at_once : load));
}

std::set<double> loads_of(const sweeps::Traffic& traffic) {
    std::set<double> loads;
    for (const sweeps::TrafficPoint& point : traffic.points) {
        loads.insert(point.load);
    }
    return loads;
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
    const sweeps::Variant& variant = promised.recommendation.variants[best.variant];
    const double prompt =
        promised.workload.prompt_tokens > 0.0 ? promised.workload.prompt_tokens : std::max(1.0, promised.context - 64.0);
    const double output = variant.setup.output_tokens > 0.0 ? variant.setup.output_tokens : 128.0;
    std::string text = "# Promised by treeline recommend:\n", plain, drafts;
    for (const double load : loads_of(promised.workload.traffic)) {
        const ClientRun run{
            served_name(variant),        prompt, output, load, promised.workload.traffic.kind == sweeps::LoadKind::arrival_rate,
            requests_for(promised, load)};
        text += promise_text(promised, load);
        plain += command_of(kind, run, fmt::format("plain-{:g}", load));
        drafts += command_of(kind, run, fmt::format("drafts-{:g}", load));
    }
    text += "# Against the server without the drafter:\n" + plain + "# Against the server with the drafter:\n" + drafts +
            import_commands(kind, best.draft_tokens);
    return {text,
            "random prompts measure time, but not acceptance: give your own data set for that (or simulate acceptance, "
            "treeline plan)"};
}

}  // namespace treeline::engines
