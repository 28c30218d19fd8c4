// TensorRT-LLM: statistics of iterations (GET /metrics, or a file of JSON lines), and the report of trtllm-bench.
// docs/source/features/speculative-decoding.md, cpp/include/tensorrt_llm/executor/types.h of NVIDIA/TensorRT-LLM.
#include <algorithm>
#include <cmath>

#include "runs/formats/benchmarks.h"

namespace treeline::runs::run_formats_of {
namespace {

bool is_iteration(const RunJson& json) { return json.contains("iterLatencyMS"); }

/// Only iterations that decode and nothing else: with prompts in it, an iteration says nothing about a round.
void read_iteration(const RunJson& json, RunBuilder& run) {
    run.engine("tensorrt-llm");
    const auto latency = number_at(json, "iterLatencyMS"), decoding = number_at(json, "inflightBatchingStats.numGenRequests"),
               prompts = number_at(json, "inflightBatchingStats.numContextRequests");
    if (!latency || !decoding) {
        return run.problem("must give iterLatencyMS and inflightBatchingStats.numGenRequests as numbers");
    }
    if (number_at(json, "attentionDpRank").value_or(0.0) != 0.0 || *decoding < 1.0) {
        return;
    }
    AcceptanceCounts counts;
    counts.drafted = number_at(json, "specDecodingStats.numDraftTokens").value_or(0.0);
    counts.accepted = number_at(json, "specDecodingStats.numAcceptedTokens").value_or(0.0);
    counts.drafts = number_at(json, "specDecodingStats.numRequestsWithDraftTokens").value_or(0.0);
    const int drafts = counts.drafts > 0.0 ? static_cast<int>(std::lround(std::min(1e6, counts.draft_length()))) : 0;
    RunCell& cell = run.cell(*decoding, drafts);
    if (counts.drafts > 0.0) {
        run.count(cell, counts);
    }
    if (prompts.value_or(0.0) > 0.0) {
        return;
    }
    run.time(cell.round, "an iteration", *latency * 1e-3, *decoding);
    if (const auto drafting = number_at(json, "specDecodingStats.iterLatencyMS"); drafting && *drafting > 0.0 && drafts > 0) {
        run.time(cell.drafting, "a drafting step", *drafting * 1e-3, *decoding);
    }
}

bool is_bench_report(const RunJson& json) {
    return json.contains("decoding_stats") || (json.contains("request_info") && json.contains("performance"));
}

/// Until mid-2025 it was printed as an acceptance rate ("[AR] AVERAGE: 1.81"), which as a share lies below 1.
std::optional<double> accept_length_of(const RunJson& json) {
    const auto length = number_at(json, "decoding_stats.acceptance_length_percentiles.average"),
               rate = number_at(json, "decoding_stats.acceptance_rate_percentiles.average");
    return length ? length : rate.value_or(0.0) >= 1.0 ? rate : std::nullopt;
}

}  // namespace

void read_trtllm_bench(const RunJson& json, RunBuilder& run, int stated) {
    run.engine("tensorrt-llm", text_at(json, "engine.version"));
    run.model(text_at(json, "engine.model"));
    run.ranks(number_at(json, "world_info.world_size").value_or(0.0));
    const double requests = number_at(json, "request_info.num_requests").value_or(1.0);
    if (!(requests >= 1.0)) {
        return run.problem("says that no request succeeded, so that it measured nothing");
    }
    const double prompt = number_at(json, "request_info.avg_input_length").value_or(0.0);
    const double output = number_at(json, "request_info.avg_output_length").value_or(0.0);
    const auto length = accept_length_of(json),
               drafted = number_at(json, "decoding_stats.num_draft_tokens_percentiles.average"),
               accepted = number_at(json, "decoding_stats.num_accepted_draft_tokens_percentiles.average");
    const double tokens = requests * output;
    int drafts = 0;
    if (length) {
        if (!(*length >= 1.0)) {
            return run.problem("decoding_stats.acceptance_length_percentiles.average must be at least 1");
        }
        // Draft tokens of a request over its rounds, which yield accept-length tokens each.
        const double of_round =
            drafted && accepted && *accepted > 0.0 ? *drafted / (*accepted / std::max(1e-9, *length - 1.0)) : 0.0;
        drafts = run.draft_tokens_or(of_round > 0.5 ? static_cast<int>(std::lround(std::min(of_round, 1e6))) : stated);
        if (drafts <= 0) {
            return run.problem("gives an acceptance length, but not how many tokens were drafted; --draft-tokens K says it");
        }
    } else if (node_at(json, "decoding_stats.printed") != nullptr && (drafts = run.draft_tokens_or(stated)) < 0) {
        return run.problem("prints statistics of drafts, but not how many tokens were drafted; --draft-tokens K says it");
    }
    RunCell& cell = run.cell(std::round(number_at(json, "request_info.avg_num_concurrent_requests").value_or(0.0)), drafts,
                             prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (length && tokens > 0.0) {
        run.count(cell, counts_of_mean(*length, tokens, drafts));
    } else if (length) {
        run.state_length(cell, *length);
    }
    if (const auto tpot = number_at(json, "streaming_metrics.avg_tpot_ms"); tpot && *tpot > 0.0) {
        run.time(cell.tpot, "a TPOT", *tpot * 1e-3, std::max(1.0, tokens));
    }
    if (const auto ttft = number_at(json, "streaming_metrics.avg_ttft_ms"); ttft && *ttft > 0.0) {
        run.time(cell.ttft, "a TTFT", *ttft * 1e-3, requests);
    }
    if (const auto rate = number_at(json, "performance.system_output_throughput_tok_s"); rate && *rate > 0.0) {
        cell.tokens_per_second.add(*rate, std::max(1.0, tokens));
    }
}

std::vector<JsonFormat> tensorrt_llm() {
    return {{"iteration statistics of TensorRT-LLM", is_iteration, read_iteration},
            {"a report of trtllm-bench", is_bench_report,
             [](const RunJson& json, RunBuilder& run) { read_trtllm_bench(json, run); }}};
}

}  // namespace treeline::runs::run_formats_of
