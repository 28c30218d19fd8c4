// vLLM's log: a line on the engine every interval, and one on speculation after it. Formats of 2024 (V0), early and late V1:
// vllm/v1/spec_decode/metrics.py and vllm/v1/metrics/loggers.py; pull requests 15902, 24127, issues 7301 and 19254.
#include <cmath>
#include <memory>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {
namespace {

/// "Running" is a snapshot, and throughput a mean of the interval: they belong together only where the number did not change.
constexpr double steady = 0.1;

class VllmLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool spec = line.find("SpecDecoding metrics:") != std::string_view::npos ||
                          line.find("Speculative metrics:") != std::string_view::npos;
        const bool engine = line.find("Avg generation throughput:") != std::string_view::npos;
        const bool config =
            line.find("non-default args:") != std::string_view::npos || line.find("Initializing a V") != std::string_view::npos;
        if (spec || engine || config) {
            run.format("a log of vLLM");
            run.engine("vllm");
        }
        if (spec) {
            take_counts(line, run);
        } else if (engine) {
            take_interval(line, run);
        } else if (config) {
            take_config(line, run);
        }
        return spec || engine || config;
    }

    void finish(RunBuilder& run) override { flush(run); }

private:
    struct Interval {
        double throughput = 0.0, running = 0.0;
        bool steady = false, decodes_only = false;
    };

    void take_config(std::string_view line, RunBuilder& run) {
        for (const char* key : {"'model': ", "model="}) {
            if (const std::string model = word_after(line, key); !model.empty()) {
                run.model(model);
                break;
            }
        }
        for (const char* key :
             {"'num_speculative_tokens': ", "\"num_speculative_tokens\": ", "num_spec_tokens=", "num_speculative_tokens="}) {
            if (const auto count = number_after(line, key)) {
                run.draft_tokens(static_cast<int>(*count));
            }
        }
        if (const std::string version = word_after(line, "LLM engine (v"); !version.empty()) {
            run.engine("vllm", version);
        }
    }

    void take_interval(std::string_view line, RunBuilder& run) {
        flush(run);
        const auto throughput = number_after(line, "Avg generation throughput:"), running = number_after(line, "Running:"),
                   prompts = number_after(line, "Avg prompt throughput:");
        if (!throughput || !running) {
            return run.problem("lacks the throughput or the running requests that lines of vLLM's log give");
        }
        waiting_ = {*throughput, *running, *running > 0.0 && std::abs(*running - last_running_) <= steady * *running,
                    prompts.value_or(0.0) <= 0.02 * *throughput};
        last_running_ = *running;
    }

    void take_counts(std::string_view line, RunBuilder& run) {
        const bool old = line.find("Number of draft tokens:") != std::string_view::npos;
        const auto accepted = number_after(line, old ? "Number of accepted tokens:" : "Accepted:"),
                   drafted = number_after(line, old ? "Number of draft tokens:" : "Drafted:");
        if (!accepted || !drafted) {
            return run.problem("gives rates of speculation, but not how many tokens were accepted and drafted");
        }
        if (*drafted <= 0.0) {
            return;
        }
        const std::vector<double> rates = numbers_after(line, "Per-position acceptance rate:");
        const auto mean = number_after(line, "Mean acceptance length:"),
                   stated = number_after(line, "Number of speculative tokens:");
        const int length =
            run.draft_tokens_or(!rates.empty() ? static_cast<int>(rates.size()) : static_cast<int>(stated.value_or(0.0)));
        AcceptanceCounts counts;
        counts.drafted = *drafted;
        counts.accepted = *accepted;
        // Accepted and Drafted are counters. The drafts follow from the length where it is fixed, else (suffix decoding,
        // schedules) from the mean, which is printed in two decimals.
        const double fixed = length > 0 ? *drafted / length : 0.0;
        const bool is_fixed = std::abs(fixed - std::round(fixed)) < 1e-9 && fixed > 0.0 &&
                              (!mean || std::abs(1.0 + *accepted / fixed - *mean) < 0.006);
        if (is_fixed) {
            counts.drafts = fixed;
        } else if (mean && *mean > 1.0) {
            counts.drafts = std::round(*accepted / (*mean - 1.0));
        } else {
            run.remark(
                "Lines of speculation without a draft length or a mean acceptance length were left out; --draft-tokens K says "
                "the length.");
            return;
        }
        for (const double rate : rates) {
            counts.reached.push_back(std::round(rate * counts.drafts));
            counts.drafts_with_positions = counts.drafts;
        }
        const int drafts = length > 0 ? length : static_cast<int>(std::lround(counts.draft_length()));
        const bool loaded = waiting_ && waiting_->steady;
        RunCell& cell = run.cell(loaded ? waiting_->running : 0.0, drafts);
        counts.derived = false;
        run.count(cell, counts);
        if (loaded) {
            add_speed(cell, counts.accept_length(), run);
        }
        waiting_.reset();
    }

    void add_speed(RunCell& cell, double length, RunBuilder& run) {
        if (waiting_->throughput > 0.0) {
            cell.tokens_per_second.add(waiting_->throughput);
            if (waiting_->decodes_only) {
                run.time(cell.round, "a round", waiting_->running * length / waiting_->throughput);
            }
        }
    }

    /// An interval that no line on speculation followed is of plain decoding.
    void flush(RunBuilder& run) {
        if (waiting_ && waiting_->steady && waiting_->throughput > 0.0) {
            add_speed(run.cell(waiting_->running, 0), 1.0, run);
        }
        waiting_.reset();
    }

    std::optional<Interval> waiting_;
    double last_running_ = -1.0;
};

}  // namespace

std::unique_ptr<LineReader> vllm_log() { return std::make_unique<VllmLog>(); }

}  // namespace treeline::runs::run_formats_of
