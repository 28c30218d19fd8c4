// Clients that measure any engine: guidellm, aiperf, and the tables of speculators. vllm-project/guidellm (benchmarks.json),
// ai-dynamo/aiperf (profile export), eugr/llama-benchy, SemiAnalysisAI/InferenceX, vllm-project/speculators (scripts/evaluate).
#include <algorithm>
#include <cmath>
#include <set>

#include "runs/formats/benchmarks.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/time_units.h"
#include "text/csv.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

bool is_guidellm(const RunJson& json) {
    const RunJson* list = node_at(json, "benchmarks");
    return list != nullptr && list->is_array() && !list->empty() && list->front().is_object() &&
           list->front().contains("metrics");
}

void read_guidellm(const RunJson& json, RunBuilder& run) {
    run.model(text_at(json, "args.model"));
    for (const RunJson& benchmark : json["benchmarks"]) {
        const RunJson* strategy = node_at(benchmark, "config.strategy");
        strategy = strategy != nullptr ? strategy : node_at(benchmark, "args.strategy");
        double batch = 0.0;
        if (strategy != nullptr && text_at(*strategy, "type_") == "concurrent") {
            const auto streams = number_at(*strategy, "streams");
            batch = streams ? *streams : number_at(*strategy, "rate").value_or(0.0);
        }
        if (strategy != nullptr && text_at(*strategy, "type_") == "synchronous") {
            batch = 1.0;
        }
        if (batch <= 0.0) {
            batch = std::round(number_at(benchmark, "metrics.request_concurrency.successful.mean").value_or(0.0));
        }
        const double prompt = number_at(benchmark, "metrics.prompt_token_count.successful.mean").value_or(0.0);
        const double output = number_at(benchmark, "metrics.output_token_count.successful.mean").value_or(0.0);
        RunCell& cell = run.cell(batch, std::max(0, run.draft_tokens_or(0)), prompt + 0.5 * output);
        cell.concurrency = true;
        cell.prompt_tokens = prompt;
        cell.output_tokens = output;
        if (const auto gap = number_at(benchmark, "metrics.inter_token_latency_ms.successful.mean"); gap && *gap > 0.0) {
            run.time(cell.tpot, "a time per token", *gap * 1e-3);
        }
        if (const auto first = number_at(benchmark, "metrics.time_to_first_token_ms.successful.mean"); first && *first > 0.0) {
            run.time(cell.ttft, "a TTFT", *first * 1e-3);
        }
        if (const auto rate = number_at(benchmark, "metrics.output_tokens_per_second.successful.mean"); rate && *rate > 0.0) {
            cell.tokens_per_second.add(*rate);
        }
    }
    run.remark("guidellm says nothing about speculation: join its file with the server's metrics, or give --draft-tokens.");
}

bool is_aiperf(const RunJson& json) {
    return node_at(json, "inter_token_latency.avg") != nullptr && json.contains("time_to_first_token");
}

/// In milliseconds unless the record says otherwise.
double seconds_of(const RunJson& json, const std::string& record, RunBuilder& run) {
    constexpr double millisecond = 1e-3;
    const std::string said = text_at(json, record + ".unit");
    const std::optional<double> unit = seconds_of_unit(plain_words(said));
    if (!said.empty() && !unit) {
        run.problem(unknown_unit_text(said, record));
        return 0.0;
    }
    return number_at(json, record + ".avg").value_or(0.0) * unit.value_or(millisecond);
}

/// eugr/llama-benchy --save-result: a mean, or an object with it.
double mean_at(const RunJson& json, const char* key) {
    const auto mean = number_at(json, std::string(key) + ".mean");
    return mean ? *mean : number_at(json, key).value_or(0.0);
}

bool is_benchy(const RunJson& json) {
    const RunJson* list = node_at(json, "benchmarks");
    return list != nullptr && list->is_array() && !list->empty() && list->front().is_object() &&
           list->front().contains("tg_throughput");
}

void read_benchy(const RunJson& json, RunBuilder& run) {
    run.model(text_at(json, "model"));
    for (const RunJson& benchmark : json["benchmarks"]) {
        const bool prefill = benchmark.is_object() && benchmark.value("is_context_prefill_phase", RunJson()) == RunJson(true);
        if (!benchmark.is_object() || prefill) {
            continue;
        }
        const double prompt =
            number_at(benchmark, "context_size").value_or(0.0) + number_at(benchmark, "prompt_size").value_or(0.0);
        const double output = number_at(benchmark, "response_size").value_or(0.0);
        const double concurrency = number_at(benchmark, "concurrency").value_or(1.0);
        RunCell& cell = run.cell(concurrency, std::max(0, run.draft_tokens_or(0)), prompt + 0.5 * output);
        cell.concurrency = true;
        cell.prompt_tokens = prompt;
        cell.output_tokens = output;
        const double all = mean_at(benchmark, "tg_throughput"), one = mean_at(benchmark, "tg_req_throughput");
        if (const double rate = one > 0.0 ? one : all / std::max(1.0, concurrency); rate > 0.0) {
            run.time(cell.tpot, "a time per token", 1.0 / rate);
        }
        if (const double first = mean_at(benchmark, "e2e_ttft"); first > 0.0) {
            run.time(cell.ttft, "a TTFT", first * 1e-3);
        }
        if (all > 0.0) {
            cell.tokens_per_second.add(all);
        }
    }
    run.remark("llama-benchy says nothing about speculation: join its file with the server's log, or give --draft-tokens.");
}

/// SemiAnalysis' InferenceX (formerly InferenceMAX): one point, its figures at the top or under `metrics`, times in seconds.
bool is_inferencex(const RunJson& json) {
    const RunJson* metrics = node_at(json, "metrics");
    const RunJson& figures = metrics != nullptr && metrics->is_object() ? *metrics : json;
    return json.contains("conc") && json.contains("isl") && (figures.contains("mean_tpot") || figures.contains("median_tpot"));
}

void read_inferencex(const RunJson& json, RunBuilder& run) {
    const RunJson* metrics = node_at(json, "metrics");
    const RunJson& figures = metrics != nullptr && metrics->is_object() ? *metrics : json;
    run.model(text_at(json, "model"));
    std::string engine = text_at(json, "framework");
    std::transform(engine.begin(), engine.end(), engine.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    run.engine(engine.starts_with("trt") || engine.starts_with("tensorrt") ? "tensorrt-llm" : engine);
    const double devices = number_at(json, "num_decode_gpu").value_or(number_at(json, "tp").value_or(0.0));
    run.ranks(devices);
    const std::string method = text_at(json, "spec_decoding");
    const bool drafts = !method.empty() && method != "none" && method != "false" && method != "False";
    run.method(drafts ? method : "");
    const int length = drafts ? run.draft_tokens_or(0) : 0;
    if (drafts && length <= 0) {
        return run.lacks_draft_tokens("is of a run that drafts (spec_decoding " + method +
                                      "), but does not say how many tokens; --draft-tokens K "
                                      "says it");
    }
    const double prompt = number_at(json, "isl").value_or(0.0), output = number_at(json, "osl").value_or(0.0);
    RunCell& cell = run.cell(number_at(json, "conc").value_or(0.0), length, prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    const double tpot = number_at(figures, "mean_tpot").value_or(number_at(figures, "median_tpot").value_or(0.0));
    // Some mirrors keep milliseconds: interactivity, its inverse, tells.
    const double user = number_at(figures, "mean_intvty").value_or(number_at(figures, "median_intvty").value_or(0.0));
    const double unit = user > 0.0 && tpot * user > 100.0 ? 1e-3 : 1.0;
    if (tpot > 0.0) {
        run.time(cell.tpot, "a TPOT", tpot * unit);
    }
    if (const double first = number_at(figures, "mean_ttft").value_or(number_at(figures, "median_ttft").value_or(0.0));
        first > 0.0) {
        run.time(cell.ttft, "a TTFT", first * unit);
    }
    if (const auto rate = number_at(figures, "output_tput_per_gpu"); rate && *rate > 0.0 && devices > 0.0) {
        cell.tokens_per_second.add(*rate * devices);
    }
}

bool has_columns(const std::vector<std::string>& header, std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return std::find(header.begin(), header.end(), name) != header.end(); });
}

/// Calls `read` for every row of the table that fits its header; the others are problems.
template <class Read>
void for_each_row(const std::string& text, RunBuilder& run, Read read) {
    text::CsvReader csv(text);
    while (csv.next()) {
        run.at_line(csv.line());
        if (const std::string misfit = csv.problem(); !misfit.empty()) {
            run.problem(misfit);
        } else {
            read(csv);
        }
    }
}

bool is_acceptance_table(const std::vector<std::string>& header) {
    return has_columns(header, {"num_drafts", "num_draft_tokens", "num_accepted_tokens"});
}

void read_acceptance_table(const std::string& text, RunBuilder& run) {
    for_each_row(text, run, [&](const text::CsvReader& csv) {
        AcceptanceCounts counts;
        const auto drafts = text::parse_number(csv["num_drafts"]), drafted = text::parse_number(csv["num_draft_tokens"]),
                   accepted = text::parse_number(csv["num_accepted_tokens"]);
        if (!drafts || !drafted || !accepted) {
            run.problem("num_drafts, num_draft_tokens and num_accepted_tokens must be numbers");
            return;
        }
        counts.drafts = *drafts;
        counts.drafted = *drafted;
        counts.accepted = *accepted;
        for (int i = 0; csv.column("acceptance_at_pos_" + std::to_string(i)); ++i) {
            const auto rate = text::parse_number(csv["acceptance_at_pos_" + std::to_string(i)]);
            if (!rate || *rate < 0.0 || *rate > 1.0) {
                break;
            }
            counts.reached.push_back(std::round(*rate * *drafts));
            counts.drafts_with_positions = *drafts;
        }
        if (*drafts > 0.0) {
            run.count(
                run.cell(0.0, run.draft_tokens_or(static_cast<int>(std::lround(std::clamp(*drafted / *drafts, 1.0, 1e6))))),
                counts);
        }
    });
}

bool is_speed_table(const std::vector<std::string>& header) {
    return has_columns(header, {"itl_median_ms", "ttft_median_ms", "output_tps_median"});
}

void read_speed_table(const std::string& text, RunBuilder& run) {
    for_each_row(text, run, [&](const text::CsvReader& csv) {
        const auto gap = text::parse_number(csv["itl_median_ms"]), first = text::parse_number(csv["ttft_median_ms"]),
                   rate = text::parse_number(csv["output_tps_median"]);
        const bool one = csv.column("strategy") && csv["strategy"] == "synchronous";
        RunCell& cell = run.cell(one ? 1.0 : 0.0, std::max(0, run.draft_tokens_or(0)));
        cell.concurrency = true;
        if (gap) {
            run.time(cell.tpot, "a time per token", *gap * 1e-3);
        }
        if (first && *first > 0.0) {
            run.time(cell.ttft, "a TTFT", *first * 1e-3);
        }
        if (rate && *rate > 0.0) {
            cell.tokens_per_second.add(*rate);
        }
    });
}

}  // namespace

void read_aiperf(const RunJson& json, RunBuilder& run) {
    const RunJson* models = node_at(json, "input_config.endpoint.model_names");
    if (models != nullptr && models->is_array() && models->size() == 1 && models->front().is_string()) {
        run.model(models->front().get<std::string>());
    }
    const double prompt = number_at(json, "input_sequence_length.avg").value_or(0.0);
    const double output = number_at(json, "output_sequence_length.avg").value_or(0.0);
    const double stated = number_at(json, "acceptance_rate.avg").value_or(0.0),
                 accepted = stated > 1.0 && stated <= 100.0 ? 0.01 * stated : stated;  // "53.2" with the unit %
    const int drafts = std::max(0, run.draft_tokens_or(0));
    if (accepted > 0.0 && accepted <= 1.0 && drafts == 0) {
        return run.lacks_draft_tokens(
            "gives an acceptance rate, but not how many tokens were drafted; --draft-tokens K says it");
    }
    RunCell& cell = run.cell(number_at(json, "input_config.loadgen.concurrency").value_or(0.0), drafts, prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (const double gap = seconds_of(json, "inter_token_latency", run); gap > 0.0) {
        run.time(cell.tpot, "a time per token", gap);
    }
    if (const double first = seconds_of(json, "time_to_first_token", run); first > 0.0) {
        run.time(cell.ttft, "a TTFT", first);
    }
    if (const auto rate = number_at(json, "output_token_throughput.avg"); rate && *rate > 0.0) {
        cell.tokens_per_second.add(*rate);
    }
    if (accepted > 0.0 && accepted <= 1.0) {
        run.state_length(cell, run.length_of_rate(accepted, drafts));
    }
}

std::vector<JsonFormat> clients() {
    return {{"a result of guidellm", is_guidellm, read_guidellm},
            {"a result of aiperf", is_aiperf, read_aiperf},
            {"a result of llama-benchy", is_benchy, read_benchy},
            {"a point of InferenceX", is_inferencex, read_inferencex}};
}

}  // namespace treeline::runs::run_formats_of

namespace treeline::runs {

const std::vector<TableFormat>& table_formats() {
    static const std::vector<TableFormat> all = {
        {"acceptance by subset (speculators)", run_formats_of::is_acceptance_table, run_formats_of::read_acceptance_table},
        {"speeds by subset (speculators)", run_formats_of::is_speed_table, run_formats_of::read_speed_table}};
    return all;
}

}  // namespace treeline::runs
