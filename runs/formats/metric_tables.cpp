// Results of serving benchmarks as people lay them side by side in pull requests: a table with a metric in each row, named as
// `vllm bench serve` and SGLang's bench_serving print it, and a run in each column ("| Metric | MTP=off | MTP=on |"). Columns
// of differences hold no plain numbers and are passed over.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>

#include "runs/formats/benchmarks.h"
#include "runs/formats/pipe_cells.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

/// "246,348" as a number; nothing for "+30.5%" and "-26.1 % (better)".
std::optional<double> plain_number(std::string cell) {
    for (std::size_t comma = cell.find(','); comma != std::string::npos; comma = cell.find(',', comma)) {
        cell.erase(comma, 1);
    }
    return text::parse_number(cell);
}

class MetricTables : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const std::size_t bar = line.find('|');
        const std::vector<std::string> cells =
            bar == std::string_view::npos ? std::vector<std::string>() : cells_of_row(line.substr(bar));
        if (cells.size() >= 2 && (cells.front() == "Metric" || cells.front() == "metric")) {
            flush(run);
            columns_.assign(cells.size() - 1, Column{});
            return true;
        }
        if (columns_.empty() || cells.size() != columns_.size() + 1) {
            flush(run);
            concurrency_ = number_after(line, "oncurrency").value_or(concurrency_);
            return false;
        }
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (const std::optional<double> value = plain_number(cells[i + 1])) {
                take_figure(cells.front(), *value, columns_[i]);
            }
        }
        is_sglang_ = is_sglang_ || cells.front().find("retokenized") != std::string::npos || cells.front() == "Accept length";
        return true;
    }

    void finish(RunBuilder& run) override { flush(run); }

private:
    struct Column {
        RunJson json = RunJson::object();
        std::vector<double> rates;
        double requests_per_second = 0.0;
    };

    static void take_figure(const std::string& label, double value, Column& column) {
        // "Per-position acceptance (%) — Pos 0", "Position 1".
        if (label.find("osition") != std::string::npos && std::isdigit(static_cast<unsigned char>(label.back())) != 0) {
            column.rates.push_back(value / 100.0);
        } else if (const auto found = serving_labels().find(label); found != serving_labels().end()) {
            column.json[found->second] = value;
        } else if (label == "Request throughput (req/s)") {
            column.requests_per_second = value;
        } else if (label == "Median TPOT (ms)" && !column.json.contains("mean_tpot_ms")) {
            column.json["mean_tpot_ms"] = value;
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

    void flush(RunBuilder& run) {
        for (Column& column : std::exchange(columns_, {})) {
            if (!number_at(column.json, "mean_tpot_ms") && !number_at(column.json, "output_throughput")) {
                continue;
            }
            complete(column);
            if (concurrency_ > 0.0 && !column.json.contains("max_concurrency")) {
                column.json["max_concurrency"] = concurrency_;
            }
            run.format("a table of results of a serving benchmark");
            is_sglang_ ? read_sglang_bench(column.json, run) : read_vllm_bench(column.json, run);
        }
        is_sglang_ = false;
    }

    std::vector<Column> columns_;
    double concurrency_ = 0.0;  ///< that a line before the table says
    bool is_sglang_ = false;
};

}  // namespace

std::unique_ptr<LineReader> metric_tables() { return std::make_unique<MetricTables>(); }

}  // namespace treeline::runs::run_formats_of
