// vLLM: the result of `vllm bench serve`, and the acceptance of single requests, which TensorRT-LLM and aiperf write alike.
// vllm/benchmarks/serve.py and docs/features/speculative_decoding/acceptance_metrics.md of vllm-project/vllm; aiperf's
// SpecDecodeAcceptanceRecord.
#include <algorithm>
#include <cmath>

#include "numerics/quantile.h"
#include "runs/builder.h"

namespace treeline::runs::run_formats_of {
namespace {

bool is_vllm_bench(const RunJson& json) {
    return json.contains("total_output_tokens") && json.contains("completed") &&
           (json.contains("model_id") || json.contains("tokenizer_id") || json.contains("spec_decode_num_drafts"));
}

/// What clients kept in flight: stated, or by Little's law from the requests' latencies.
double concurrency_of(const RunJson& json) {
    if (const auto stated = number_at(json, "max_concurrency"); stated && *stated > 0.0) {
        return *stated;
    }
    const auto completed = number_at(json, "completed"), latency = number_at(json, "mean_e2el_ms"),
               duration = number_at(json, "duration");
    return completed && latency && duration && *duration > 0.0
               ? std::max(1.0, std::round(*completed * *latency * 1e-3 / *duration))
               : 0.0;
}

/// The median of all gaps between messages, one of which is a round.
std::optional<double> median_gap(const RunJson& json) {
    const RunJson* lists = node_at(json, "itls");
    std::vector<double> gaps;
    if (lists != nullptr && lists->is_array()) {
        for (const RunJson& list : *lists) {
            for (const RunJson& gap : list.is_array() ? list : RunJson::array()) {
                if (gap.is_number() && gap.get<double>() > 0.0) {
                    gaps.push_back(gap.get<double>());
                }
            }
        }
    }
    if (!gaps.empty()) {
        return numerics::quantile(gaps, 0.5);
    }
    const auto printed = number_at(json, "median_itl_ms");
    return printed ? std::optional(*printed * 1e-3) : std::nullopt;
}

std::optional<AcceptanceCounts> counters_of(const RunJson& json, RunBuilder& run) {
    const auto drafts = number_at(json, "spec_decode_num_drafts"), drafted = number_at(json, "spec_decode_draft_tokens"),
               accepted = number_at(json, "spec_decode_accepted_tokens");
    if (!drafts && !drafted && !accepted) {
        if (json.contains("spec_decode_acceptance_rate") || json.contains("spec_decode_acceptance_length")) {
            run.problem(
                "gives rates of acceptance without spec_decode_num_drafts, spec_decode_draft_tokens and "
                "spec_decode_accepted_tokens; rates alone cannot be weighed");
        }
        return std::nullopt;
    }
    if (!drafts || !drafted || !accepted) {
        run.problem(
            "must hold all of spec_decode_num_drafts, spec_decode_draft_tokens and spec_decode_accepted_tokens, as numbers");
        return std::nullopt;
    }
    AcceptanceCounts counts;
    counts.drafts = *drafts;
    counts.drafted = *drafted;
    counts.accepted = *accepted;
    if (const auto rates = numbers_at(json, "spec_decode_per_position_acceptance_rates")) {
        counts.drafts_with_positions = *drafts;
        for (const double rate : *rates) {
            if (!(rate >= 0.0 && rate <= 1.0)) {
                run.problem("spec_decode_per_position_acceptance_rates must lie between 0 and 1");
                return std::nullopt;
            }
            counts.reached.push_back(std::round(rate * *drafts));  // they were counts before they were rates
        }
    }
    return counts;
}

void add_times(const RunJson& json, RunBuilder& run, RunCell& cell) {
    const double tokens = std::max(1.0, number_at(json, "total_output_tokens").value_or(1.0));
    const double completed = std::max(1.0, number_at(json, "completed").value_or(1.0));
    if (const auto gap = median_gap(json)) {
        run.time(cell.round, "a time between messages", *gap, tokens);
    }
    if (const auto tpot = number_at(json, "mean_tpot_ms")) {
        run.time(cell.tpot, "a TPOT", *tpot * 1e-3, tokens);
    }
    if (const auto ttft = number_at(json, "mean_ttft_ms")) {
        run.time(cell.ttft, "a TTFT", *ttft * 1e-3, completed);
    }
    if (const auto throughput = number_at(json, "output_throughput"); throughput && *throughput > 0.0) {
        cell.tokens_per_second.add(*throughput, tokens);
    }
}

void read_vllm_bench(const RunJson& json, RunBuilder& run) {
    const std::string backend = text_at(json, "backend");
    run.engine(backend == "sglang" || backend == "tensorrt-llm" ? backend : "vllm");
    run.model(text_at(json, "model_id"));
    const double completed = std::max(1.0, number_at(json, "completed").value_or(1.0));
    const double prompt = number_at(json, "total_input_tokens").value_or(0.0) / completed;
    const double output = number_at(json, "total_output_tokens").value_or(0.0) / completed;
    if (const auto failed = number_at(json, "failed"); failed && *failed > 0.05 * completed) {
        run.remark(run.file() + ": more than 5 % of its requests failed.");
    }
    const std::optional<AcceptanceCounts> counts = counters_of(json, run);
    int drafts = 0;
    if (counts && counts->drafts > 0.0) {
        const auto by_position = static_cast<int>(counts->reached.size());
        drafts = run.draft_tokens_or(by_position > 0
                                         ? by_position
                                         : static_cast<int>(std::lround(std::min(1e6, std::max(1.0, counts->draft_length())))));
    }
    RunCell& cell = run.cell(concurrency_of(json), drafts, prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (counts) {
        run.count(cell, *counts);
    }
    add_times(json, run, cell);
}

/// The object that holds a request's acceptance: by itself, or where engines put it in a response.
const RunJson* request_record(const RunJson& json) {
    for (const char* path : {"metrics.speculative_decoding", "speculative_decoding", "spec_decode_acceptance"}) {
        if (const RunJson* node = node_at(json, path); node != nullptr && node->contains("num_spec_steps")) {
            return node;
        }
    }
    return json.contains("num_spec_steps") ? &json : nullptr;
}

bool is_request_record(const RunJson& json) { return request_record(json) != nullptr; }

void read_request_record(const RunJson& json, RunBuilder& run) {
    const RunJson& record = *request_record(json);
    const auto first = [&](const char* a, const char* b) {
        const auto value = number_at(record, a);
        return value ? value : number_at(record, b);
    };
    const auto steps = number_at(record, "num_spec_steps");
    const auto accepted = first("num_accepted_draft_tokens", "total_accepted_draft_tokens");
    const auto drafted = first("num_draft_tokens", "total_draft_tokens");
    if (!steps || !accepted || !drafted) {
        return run.problem(
            "must give num_spec_steps, and the accepted and the proposed draft tokens of the request, as numbers");
    }
    if (const std::string engine = text_at(record, "engine"); !engine.empty()) {
        run.engine(engine == "trtllm" ? "tensorrt-llm" : engine);
    }
    run.model(text_at(json, "model"));
    if (*steps <= 0.0) {
        return;
    }
    AcceptanceCounts counts;
    counts.drafts = *steps;
    counts.drafted = *drafted;
    counts.accepted = *accepted;
    if (const auto histogram = numbers_at(record, "acceptance_histogram")) {
        counts.reached = reached_of_histogram(*histogram);
        for (const double rounds : *histogram) {
            counts.drafts_with_positions += rounds;
        }
    }
    const auto stated = number_at(record, "num_spec_tokens");
    const int length = stated ? static_cast<int>(std::clamp(*stated, 0.0, 1e6))
                              : static_cast<int>(std::ceil(std::clamp(*drafted / *steps, 0.0, 1e6)));
    run.count(run.cell(0.0, run.draft_tokens_or(length)), counts);
}

}  // namespace

std::vector<JsonFormat> vllm() {
    return {{"a result of vllm bench serve", is_vllm_bench, read_vllm_bench},
            {"acceptance of single requests (vLLM, TensorRT-LLM, aiperf)", is_request_record, read_request_record}};
}

}  // namespace treeline::runs::run_formats_of
