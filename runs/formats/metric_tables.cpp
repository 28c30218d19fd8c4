// Results of serving benchmarks as people lay them side by side in pull requests: a table with a metric in each row, named as
// `vllm bench serve`, SGLang's bench_serving and aiperf print it, and a run in each column ("| Metric | MTP=off | MTP=on |").
// Columns of differences hold no plain numbers and are passed over; of aiperf's statistics the mean is taken.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "runs/formats/benchmarks.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/metric_columns.h"
#include "runs/formats/pipe_cells.h"
#include "runs/formats/report_caption.h"
#include "runs/formats/time_units.h"
#include "text/parse_number.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

constexpr double milliseconds_a_second = 1e3;

/// "246,348" as a number; nothing for "+30.5%" and "-26.1 % (better)".
std::optional<double> plain_number(std::string cell) {
    for (std::size_t comma = cell.find(','); comma != std::string::npos; comma = cell.find(',', comma)) {
        cell.erase(comma, 1);
    }
    return text::parse_number(cell);
}

/// aiperf's, and the keys of its export; times are in milliseconds.
const std::map<std::string, const char*, std::less<>> aiperf_labels = {
    {"Time to First Token (ms)", "time_to_first_token"},
    {"Time To First Token (ms)", "time_to_first_token"},
    {"Inter Token Latency (ms)", "inter_token_latency"},
    {"Request Latency (ms)", "request_latency"},
    {"Input Sequence Length (tokens)", "input_sequence_length"},
    {"Output Sequence Length (tokens)", "output_sequence_length"},
    {"Output Token Throughput (tokens/sec)", "output_token_throughput"},
    {"Output Token Throughput (per sec)", "output_token_throughput"},
    {"Acceptance Rate", "acceptance_rate"},
    {"acceptance_rate", "acceptance_rate"}};

/// evalscope's, whose times are in seconds and whose tokens are means of requests ("perf", summary).
const std::map<std::string, std::pair<const char*, double>, std::less<>> evalscope_labels = {
    {"Number of concurrency", {"max_concurrency", 1.0}},
    {"Succeed requests", {"completed", 1.0}},
    {"Average time to first token (s)", {"mean_ttft_ms", 1e3}},
    {"Average time per output token (s)", {"mean_tpot_ms", 1e3}},
    {"Average latency (s)", {"mean_e2el_ms", 1e3}},
    {"Average input tokens per request", {"input_tokens_of_each", 1.0}},
    {"Average output tokens per request", {"output_tokens_of_each", 1.0}},
    {"Average decoded tokens per iter", {"avg_decoded_tokens_per_iter", 1.0}}};

/// AISBench's, whose cells hold their units.
const std::map<std::string, const char*, std::less<>> aisbench_labels = {{"E2EL", "mean_e2el_ms"},
                                                                         {"TTFT", "mean_ttft_ms"},
                                                                         {"TPOT", "mean_tpot_ms"},
                                                                         {"ITL", "mean_itl_ms"},
                                                                         {"InputTokens", "input_tokens_of_each"},
                                                                         {"OutputTokens", "output_tokens_of_each"},
                                                                         {"Total Requests", "completed"},
                                                                         {"Failed Requests", "failed"},
                                                                         {"Max Concurrency", "max_concurrency"},
                                                                         {"Output Token Throughput", "output_throughput"}};

/// The key of a metric that people name in words of their own ("TPOT p50 (ms)", "output tok/s"); null where they name none.
const char* key_of_words(const std::string& label) {
    std::string words = " " + plain_words(label) + " ";
    for (const char* statistic : {" mean ", " avg ", " average ", " median ", " p50 "}) {
        if (const std::size_t at = words.find(statistic); at != std::string::npos) {
            words.replace(at, std::string_view(statistic).size(), " ");
        }
    }
    switch (role_of(plain_words(words))) {
        case Role::tpot:
            return "mean_tpot_ms";
        case Role::ttft:
            return "mean_ttft_ms";
        case Role::rate:
            return "output_throughput";
        default:
            return nullptr;
    }
}

class MetricTables : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (!columns_.empty() && !line.empty() && only_draws(line)) {
            return true;
        }
        const std::string bars = with_side(with_plain_bars(line));
        const std::size_t bar = bars.find('|');
        const std::vector<std::string> cells =
            bar == std::string::npos ? std::vector<std::string>() : cells_of_row(std::string_view(bars).substr(bar));
        if (cells.size() == 3 && cells.front() == "Common Metric" && is_aisbench_) {
            Column further = std::move(columns_[1]);  // of the same run
            columns_.assign(2, Column{});
            columns_[0].is_run = false;
            columns_[1] = std::move(further);
            return true;
        }
        if (cells.size() >= 3 && cells.front() == "Performance Parameters" && cells[2] == "Average") {
            flush(run);
            is_aisbench_ = true;
            columns_.assign(cells.size() - 1, Column{});
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                columns_[i].is_run = i == 1;
            }
            return true;
        }
        if (cells.size() >= 2 && (cells.front() == "Metric" || cells.front() == "metric" || cells.front() == "Key" ||
                                  (cells.front() == "Statistic" && cells[1] == "avg"))) {
            flush(run);
            columns_.assign(cells.size() - 1, Column{});
            const bool statistics = holds_quantiles(cells);
            const std::vector<MetricHeading> headings = metric_headings({cells.begin() + 1, cells.end()});
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                const std::string& heading = cells[i + 1];
                columns_[i].is_run = statistics ? heading == "avg" || heading == "mean" : !compares_runs(heading);
                columns_[i].heading = headings[i];
            }
            return true;
        }
        if (columns_.empty() || cells.size() != columns_.size() + 1) {
            flush(run);
            concurrency_ = number_after(line, "oncurrency").value_or(concurrency_);
            caption_.take(line);
            titles_.take(line);
            take_engine(line);
            return false;
        }
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (is_aisbench_) {
                take_figure_of_aisbench(cells.front(), cells[i + 1], columns_[i], run);
            } else if (const std::optional<double> value = plain_number(cells[i + 1])) {
                take_figure(cells.front(), *value, columns_[i], run);
            } else if (const TimeUnit unit = unit_in_cell(cells[i + 1]); columns_[i].is_run && unit.named()) {
                take_time(cells.front(), number_of(cells[i + 1]).value_or(0.0) * unit.seconds, columns_[i]);
            } else if (columns_[i].is_run) {
                take_with_unit(cells.front(), cells[i + 1], columns_[i]);
            }
        }
        is_sglang_ = is_sglang_ || cells.front().find("retokenized") != std::string::npos || cells.front() == "Accept length";
        return true;
    }

    void finish(RunBuilder& run) override { flush(run); }

private:
    /// With a bar before the first cell, where the table has none at its sides ("Metric | off | on").
    std::string with_side(const std::string& line) {
        const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
        const bool bars = line.find('|', first) != std::string::npos && line.substr(first, 1) != "|";
        sideless_ = bars && (sideless_ || line.substr(first).starts_with("Metric |"));
        return sideless_ ? "|" + line : line;
    }

    struct Column {
        RunJson json = RunJson::object();
        std::vector<double> rates;
        double requests_per_second = 0.0;
        bool is_run = true;  ///< not a quantile of one, nor a difference of two
        MetricHeading heading;

        [[nodiscard]] bool measures() const {
            return is_run && (number_at(json, "inter_token_latency.avg") || number_at(json, "mean_tpot_ms") ||
                              number_at(json, "output_throughput"));
        }
    };

    /// "550 tok/s" of a throughput, "30.46%" of acceptance.
    static void take_with_unit(const std::string& label, const std::string& cell, Column& column) {
        const std::optional<double> number = number_of(cell);
        const std::string words = plain_words(label);
        const bool output = words == "throughput" || words == "output throughput" || words == "generation throughput";
        if (number && output && says_rate_of_tokens(plain_words(unit_of(cell)))) {
            column.json["output_throughput"] = *number;
        } else if (number && cell.find('%') != std::string::npos && role_of(words) == Role::accept_rate) {
            column.json["spec_decode_acceptance_rate"] = *number;
        }
    }

    void take_engine(std::string_view line) {
        const std::string words = plain_words(line);
        engine_ = says(words, "vllm") ? "vllm" : says(words, "sglang") ? "sglang" : engine_;
    }

    /// A run is of one deployment: of columns at the same load with the same drafts, and of what is told apart in other ways,
    /// the first counts; columns that repeat it are averaged.
    void leave_out_others(RunBuilder& run) {
        std::vector<std::string> others;
        std::vector<const MetricHeading*> kept;
        for (Column& column : columns_) {
            if (!column.measures()) {
                continue;
            }
            const bool repeats = repeats_run(column.heading.text) && column.heading.requests == 0.0;
            const bool other = std::any_of(kept.begin(), kept.end(), [&](const MetricHeading* before) {
                return before->contradicts(column.heading) || (!repeats && before->same_setting(column.heading));
            });
            if (other) {
                column.is_run = false;
                others.push_back("\"" + column.heading.text + "\"");
                continue;
            }
            if (repeats && !kept.empty()) {
                run.remark(run.file() + ": columns of repeated runs were averaged");
            }
            kept.push_back(&column.heading);
        }
        if (!others.empty()) {
            run.remark(fmt::format("{}: of its columns, {} {} left out beside \"{}\": a run is of one deployment", run.file(),
                                   text::listed(others, "and"), others.size() == 1 ? "was" : "were", kept.front()->text));
        }
    }

    /// Loads that the column's heading names, where no row of it does.
    static void take_loads_of_heading(Column& column) {
        if (column.heading.requests > 0.0 && !column.json.contains("max_concurrency")) {
            column.json["max_concurrency"] = column.heading.requests;
        }
        if (column.heading.context > 0.0 && !column.json.contains("total_input_tokens")) {
            column.json["input_tokens_of_each"] = column.heading.context;
        }
    }

    static void take_figure_of_aisbench(const std::string& label, const std::string& cell, Column& column, RunBuilder& run) {
        const auto found = aisbench_labels.find(label);
        const std::optional<double> value = number_of(cell);
        if (found == aisbench_labels.end() || !value) {
            return;
        }
        const bool time = std::string_view(found->second).ends_with("_ms");
        const TimeUnit unit = time ? unit_in_cell(cell) : TimeUnit();
        if (!unit.unknown.empty()) {
            return run.problem(unknown_unit_text(unit.unknown, "\"" + cell + "\""));
        }
        column.json[found->second] = *value * (unit.named() ? milliseconds_a_second * unit.seconds : 1.0);
        column.json["backend"] = any_engine;
    }

    /// A time in a cell with its unit ("16 ms").
    static void take_time(const std::string& label, double seconds, Column& column) {
        const auto found = serving_labels().find(label);
        const char* key = found != serving_labels().end() ? found->second : key_of_words(label);
        if (seconds > 0.0 && key != nullptr && std::string_view(key).ends_with("_ms") && !column.json.contains(key)) {
            column.json[key] = milliseconds_a_second * seconds;
        }
    }

    static void take_figure(const std::string& label, double value, Column& column, RunBuilder& run) {
        // "Per-position acceptance (%) — Pos 0", "Position 1".
        if (label.find("osition") != std::string::npos && std::isdigit(static_cast<unsigned char>(label.back())) != 0) {
            column.rates.push_back(value / 100.0);
        } else if (const auto found = serving_labels().find(label); found != serving_labels().end()) {
            column.json[found->second] = value;
        } else if (const auto of_each = evalscope_labels.find(label); of_each != evalscope_labels.end()) {
            column.json[of_each->second.first] = value * of_each->second.second;
            column.json["backend"] = any_engine;
        } else if (label == "Request throughput (req/s)" || label == "Request Throughput (requests/sec)" ||
                   label == "Request Throughput (per sec)") {
            column.requests_per_second = value;
        } else if (const auto of_aiperf = aiperf_labels.find(label); of_aiperf != aiperf_labels.end()) {
            column.json[of_aiperf->second]["avg"] = value;
        } else if (const char* key = key_of_words(label); key != nullptr && !column.json.contains(key)) {
            const TimeUnit unit = std::string_view(key).ends_with("_ms") ? unit_in_words(plain_words(label)) : TimeUnit();
            if (!unit.unknown.empty()) {
                return run.problem(unknown_unit_text(unit.unknown, "\"" + label + "\""));
            }
            column.json[key] = value * (unit.named() ? milliseconds_a_second * unit.seconds : 1.0);
        }
    }

    /// Drafts are seldom in a table; they follow from what is.
    static void complete(Column& column) {
        RunJson& json = column.json;
        const auto length = number_at(json, "spec_decode_acceptance_length"),
                   drafted = number_at(json, "spec_decode_draft_tokens"),
                   accepted = number_at(json, "spec_decode_accepted_tokens");
        if (drafted && accepted && !json.contains("spec_decode_num_drafts")) {
            if (!column.rates.empty()) {
                json["spec_decode_num_drafts"] = std::round(*drafted / static_cast<double>(column.rates.size()));
            } else if (length && *length > 1.0) {
                const double tokens = std::round(*drafted * (*length - 1.0) / *accepted);  // of a draft
                json["spec_decode_num_drafts"] = std::round(*drafted / std::max(1.0, tokens));
            }
        }
        for (const char* side : {"input", "output"}) {
            const auto each = number_at(json, std::string(side) + "_tokens_of_each"), completed = number_at(json, "completed");
            if (each && completed) {
                json[std::string("total_") + side + "_tokens"] = *each * *completed;
            }
        }
        // Totals are of all requests, whose number follows from the rates where it is not stated.
        const auto tokens = number_at(json, "total_output_tokens"), rate = number_at(json, "output_throughput");
        if (!json.contains("completed") && tokens && rate && *rate > 0.0 && column.requests_per_second > 0.0) {
            json["completed"] = std::max(1.0, std::round(column.requests_per_second * *tokens / *rate));
        } else if (!json.contains("completed")) {
            json.erase("total_input_tokens");
            json.erase("total_output_tokens");
        }
        if (!column.rates.empty() && json.contains("spec_decode_num_drafts")) {
            json["spec_decode_per_position_acceptance_rates"] = column.rates;
        }
    }

    /// Its table does not say how many requests were in flight; by Little's law they follow.
    void flush_aiperf(Column& column, RunBuilder& run) const {
        const double latency = number_at(column.json, "request_latency.avg").value_or(0.0) * 1e-3;
        const double in_flight = concurrency_ > 0.0 ? concurrency_ : std::round(column.requests_per_second * latency);
        if (in_flight >= 1.0) {
            column.json["input_config"]["loadgen"]["concurrency"] = in_flight;
        }
        run.format("what aiperf printed");
        read_aiperf(column.json, run);
    }

    void flush(RunBuilder& run) {
        const bool known =
            std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return !column.json.empty(); });
        if (!columns_.empty() && !known) {
            run.unread(
                "its table of a metric in each row has none of those that serving benchmarks print, such as Mean TPOT (ms) or "
                "Output token throughput (tok/s)");
        }
        if (known && titles_.leave_out("table", run)) {
            columns_.clear();
        }
        leave_out_others(run);
        for (Column& column : std::exchange(columns_, {})) {
            if (!column.measures()) {
                continue;
            }
            if (number_at(column.json, "inter_token_latency.avg")) {
                flush_aiperf(column, run);
                continue;
            }
            complete(column);
            take_loads_of_heading(column);
            const StatedDrafts& own = column.heading.stated;
            const StatedDrafts& stated = own.tokens >= 0 || own.drafting ? own : caption_.stated();
            if (!column.json.contains("backend")) {
                column.json["backend"] = engine_;
            }
            if (concurrency_ > 0.0 && !column.json.contains("max_concurrency")) {
                column.json["max_concurrency"] = concurrency_;
            }
            run.format("a table of results of a serving benchmark");
            is_sglang_ ? read_sglang_bench(column.json, run) : read_vllm_bench(column.json, run, stated);
            caption_.end_report();
        }
        is_sglang_ = is_aisbench_ = false;
    }

    std::vector<Column> columns_;
    ReportCaption caption_;
    ReportTitles titles_;
    double concurrency_ = 0.0;         ///< that a line before the table says
    std::string engine_ = any_engine;  ///< the same
    bool is_sglang_ = false, is_aisbench_ = false;
    bool sideless_ = false;  ///< the table has no bars at its sides
};

}  // namespace

std::unique_ptr<LineReader> metric_tables() { return std::make_unique<MetricTables>(); }

}  // namespace treeline::runs::run_formats_of
