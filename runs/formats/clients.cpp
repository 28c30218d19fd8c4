// Clients that measure any engine: guidellm, aiperf, and the tables of speculators. vllm-project/guidellm (benchmarks.json),
// ai-dynamo/aiperf (profile export), vllm-project/speculators (scripts/evaluate).
#include <algorithm>
#include <cmath>
#include <set>

#include "runs/builder.h"
#include "text/csv.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

bool is_guidellm(const RunJson& json) {
    const RunJson* list = node_at(json, "benchmarks");
    return list != nullptr && list->is_array() && !list->empty() && list->front().contains("metrics");
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
double seconds_of(const RunJson& record) {
    const std::string unit = text_at(record, "unit");
    const double scale = unit == "s" || unit == "sec" ? 1.0 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1e-3;
    return number_at(record, "avg").value_or(0.0) * scale;
}

void read_aiperf(const RunJson& json, RunBuilder& run) {
    const RunJson* models = node_at(json, "input_config.endpoint.model_names");
    if (models != nullptr && models->is_array() && models->size() == 1 && models->front().is_string()) {
        run.model(models->front().get<std::string>());
    }
    const double prompt = number_at(json, "input_sequence_length.avg").value_or(0.0);
    const double output = number_at(json, "output_sequence_length.avg").value_or(0.0);
    RunCell& cell = run.cell(number_at(json, "input_config.loadgen.concurrency").value_or(0.0),
                             std::max(0, run.draft_tokens_or(0)), prompt + 0.5 * output);
    cell.concurrency = true;
    cell.prompt_tokens = prompt;
    cell.output_tokens = output;
    if (const double gap = seconds_of(json["inter_token_latency"]); gap > 0.0) {
        run.time(cell.tpot, "a time per token", gap);
    }
    if (const double first = seconds_of(json["time_to_first_token"]); first > 0.0) {
        run.time(cell.ttft, "a TTFT", first);
    }
    if (const auto rate = number_at(json, "output_token_throughput.avg"); rate && *rate > 0.0) {
        cell.tokens_per_second.add(*rate);
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

std::vector<JsonFormat> clients() {
    return {{"a result of guidellm", is_guidellm, read_guidellm}, {"a result of aiperf", is_aiperf, read_aiperf}};
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
