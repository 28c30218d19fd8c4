// Metrics of a live server in Prometheus' text format: vLLM, SGLang, TensorRT-LLM, llama.cpp, Rapid-MLX.
// vllm/v1/spec_decode/metrics.py, vllm/v1/metrics/loggers.py; python/sglang/srt/metrics/collector.py;
// tensorrt_llm/metrics/collector.py; tools/server of llama.cpp; vllm_mlx/routes/metrics.py of raullenchai/Rapid-MLX.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/sglang_counts.h"
#include "runs/log_lines.h"
#include "sim/input_limits.h"
#include "text/parse_number.h"

namespace treeline::runs::run_formats_of {
namespace {

/// A counter of one label set in the first and in the last scrape of a file.
struct Counter {
    double first = 0.0, last = 0.0;
    int scrapes = 0;
};

struct Sample {
    bool is_metric = false;
    std::string name;
    std::string_view labels, value;  ///< with braces; before a time, if there is one
};

/// "name{labels} value", with or without labels and a time; Prometheus' own page puts a bar before the value.
Sample sample_of(std::string_view text) {
    Sample sample;
    const std::size_t end = text.find_first_of("{ \t");
    sample.name = text.substr(0, std::min(end, text.size()));
    const bool is_name = !sample.name.empty() && std::all_of(sample.name.begin(), sample.name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == ':';
    });
    if (!is_name || end == std::string_view::npos) {
        return sample;
    }
    std::size_t after = end;
    if (text[end] == '{') {
        const std::size_t close = text.rfind('}');
        if (close == std::string_view::npos) {
            return sample;
        }
        sample.labels = text.substr(end, close + 1 - end);
        after = close + 1;
    }
    const std::size_t first = text.find_first_not_of(" \t|", after);
    sample.value = first == std::string_view::npos ? std::string_view() : text.substr(first);
    sample.value = sample.value.substr(0, sample.value.find_first_of(" \t"));
    // Prose has another word after a name.
    sample.is_metric =
        !sample.labels.empty() || sample.value == "NaN" || sample.value.ends_with("Inf") ||
        (!sample.value.empty() && std::string_view("+-.0123456789").find(sample.value.front()) != std::string_view::npos);
    return sample;
}

class Prometheus : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        for (const auto& [prefix, engine] : {std::pair{"vllm:", "vllm"},
                                             {"sglang:", "sglang"},
                                             {"sglang_", "sglang"},
                                             {"trtllm_", "tensorrt-llm"},
                                             {"rapid_mlx_", "mlx"},
                                             {"llamacpp:", "llama.cpp"}}) {
            const std::string_view metric = from_label(line, prefix);
            if (const Sample sample = sample_of(metric.substr(metric.empty() ? 0 : std::string_view(prefix).size()));
                sample.is_metric) {
                run.format("metrics of a server (Prometheus)");
                run.engine(engine);
                of_tensorrt_llm_ = of_tensorrt_llm_ || prefix == std::string_view("trtllm_");
                take_sample(sample, run);
                return true;
            }
        }
        return false;
    }

    void finish(RunBuilder& run) override {
        run.at_line(0);
        if (counters_.empty() && gauges_.empty()) {
            return;
        }
        AcceptanceCounts counts = counted(run);
        const double drafts = counts.drafts;
        if (drafts <= 0.0 && drafted_tokens() > 0.0) {
            return run.problem("counts drafted tokens, but not how many of them a draft has; --draft-tokens K says it");
        }
        if (went_back_) {
            return run.problem("holds a counter that fell from one scrape to the next: the server was restarted between them");
        }
        const double stated = mean_of_gauges("spec_accept_length") + mean_of_gauges("spec_decode_acceptance_length");
        const int length = drafts > 0.0 ? static_cast<int>(std::lround(std::clamp(counts.draft_length(), 1.0, 1e6))) : 0;
        const int drafts_of_round = drafts > 0.0   ? run.draft_tokens_or(length)
                                    : stated > 1.0 ? run.draft_tokens_or(stated_drafts())
                                                   : 0;
        if (drafts <= 0.0 && stated > 1.0 && drafts_of_round <= 0) {
            return run.problem("gives a mean accept length, but not how many tokens were drafted; --draft-tokens K says it");
        }
        if (drafts <= 0.0 && stated > drafts_of_round + 1.0) {
            return run.problem(fmt::format("gives an accept length of {:.2f} of {} draft tokens, which is more than can be",
                                           stated, drafts_of_round));
        }
        const double generating = mean_of_gauges("num_generation_requests");
        const double running = generating > 0.0 ? generating : mean_of_gauges("num_requests_running");
        const double engines = std::max(1.0, static_cast<double>(engines_.size()));
        const double batch = scrapes_ > 1 ? std::round((running + mean_of_gauges("num_running_reqs")) / engines) : 0.0;
        RunCell& cell = run.cell(batch, drafts_of_round);
        if (grown("spec_decode_num_drafts_total") > 0.0) {  // vLLM's, which counts drafts that were made
            const double first = grown("time_to_first_token_seconds_count");
            run.add_undrafted_rounds(counts,
                                     grown("generation_tokens_total") - (first > 0.0 ? first : grown("request_success_total")));
        }
        run.count(cell, counts);
        if (drafts <= 0.0 && stated > 1.0) {
            cell.stated_length = stated;
            run.remark("These metrics give a mean accept length and no counts, so it has no sampling error.");
        }
        add_means(cell, run);
        say_engines(run);
    }

private:
    /// Counts of several engines are added up; the load is the mean engine's.
    void say_engines(RunBuilder& run) const {
        if (engines_.size() < 2) {
            return;
        }
        RunSettings settings;
        settings.data_parallel = static_cast<double>(engines_.size());
        run.settings(settings);
        run.remark(
            fmt::format("{}: counts of {} engines of data parallelism were added up, so that acceptance is that of all of "
                        "them; the load is the mean engine's",
                        run.file(), engines_.size()));
    }

    /// Counters of the engines: drafts, drafted and accepted tokens (vLLM); by position, of which the first counts the drafts,
    /// or without drafts (TensorRT-LLM); verifications and generated tokens (SGLang).
    /// Rapid-MLX counts them by depth, too; its counters without one tell less.
    [[nodiscard]] double drafted_tokens() const {
        return grown("spec_decode_num_draft_tokens_total") + (positions_.empty() ? grown("spec_decode_attempts_total") : 0.0);
    }

    [[nodiscard]] AcceptanceCounts counted(RunBuilder& run) const {
        AcceptanceCounts counts;
        counts.drafts = grown("spec_decode_num_drafts_total");
        counts.drafted = drafted_tokens();
        counts.accepted =
            grown("spec_decode_num_accepted_tokens_total") + (positions_.empty() ? grown("spec_decode_accepts_total") : 0.0);
        for (int i = 0; i < sim::most_draft_tokens && positions_.contains(i); ++i) {
            const std::string position = "/" + std::to_string(i);
            const double drafted = grown("spec_decode_drafted_tokens_total" + position);
            counts.drafted += drafted;
            counts.drafts += i == 0 ? drafted : 0.0;
            const double accepted = grown("spec_decode_accepted_tokens_total" + position);
            counts.accepted += accepted;
            counts.reached.push_back(grown("spec_decode_num_accepted_tokens_per_pos_total" + position) + accepted);
            counts.drafts_with_positions = counts.drafts;
        }
        const double length = mean_of_gauges("spec_decode_acceptance_length");
        if (counts.drafts <= 0.0 && counts.drafted > 0.0) {
            const int stated = run.draft_tokens_or(stated_drafts());
            counts.drafts = stated > 0 ? counts.drafted / stated : length > 1.0 ? counts.accepted / (length - 1.0) : 0.0;
            counts.derived = true;
        }
        const double rounds = grown("spec_verify_calls_total");
        const double tokens = grown("generation_tokens_total") - grown("num_requests_total");
        if (counts.drafts <= 0.0 && rounds > 0.0 && tokens > rounds) {
            const int stated = run.draft_tokens_or(stated_drafts());
            counts.drafts = stated > 0 ? rounds : 0.0;
            counts.drafted = rounds * std::max(0, stated);
            counts.accepted = stated > 0 ? tokens - rounds : 0.0;
            counts.derived = true;
        }
        return counts.drafts > 0.0 ? counts : AcceptanceCounts{};
    }

    /// Of a chain, from what the metrics say of the draft or of its acceptance; 0 if they do not.
    [[nodiscard]] int stated_drafts() const {
        if (const double tokens = mean_of_gauges("spec_num_draft_tokens"); tokens > 1.0 && tokens < 1e6) {
            return static_cast<int>(std::lround(tokens)) - 1;
        }
        DraftLengths lengths;
        if (const double rate = mean_of_gauges("spec_accept_rate"); rate > 0.0) {
            lengths.add(mean_of_gauges("spec_accept_length"), rate);
        }
        return lengths.draft_tokens();
    }

    /// A histogram's mean over what it counted; `weight` counts something else instead, where it is above 0.
    void add_mean(MeasuredMean& mean, const std::string& name, double weight = 0.0) {
        const double count = grown(name + "_count"), sum = grown(name + "_sum");
        if (count > 0.0 && sum > 0.0 && sum / count < 3600.0) {
            mean.add(sum / count, weight > 0.0 ? weight : count);
        }
    }

    void add_means(RunCell& cell, RunBuilder& run) {
        if (cell.batch <= 0.0) {
            run.remark(
                "A single scrape does not say at which batch its times were measured, so only acceptance is kept; two scrapes "
                "under "
                "a steady load do (--from URL --seconds 60).");
            return;
        }
        // TensorRT-LLM's time per token is already a request's mean; vLLM's of that name is between messages.
        add_mean(cell.tpot, of_tensorrt_llm_ ? "time_per_output_token_seconds" : "request_time_per_output_token_seconds",
                 grown("generation_tokens_total"));
        add_mean(cell.ttft, "time_to_first_token_seconds");
        MeasuredMean gap;
        add_mean(gap, "inter_token_latency_seconds");
        if (!gap.known()) {
            add_mean(gap, "time_per_output_token_seconds");
        }
        if (cell.draft_tokens == 0 || !cell.tpot.known()) {
            // The time between two messages is a round's, prompts included.
            if (gap.known()) {
                const double length = std::max(1.0, cell.accept_length());
                cell.tpot.add(gap.mean() / length, gap.weight() * length);
            }
        }
    }

    void take_sample(const Sample& sample, RunBuilder& run) {
        const auto value = text::parse_number(sample.value);
        if (!value) {
            if (sample.value.ends_with("NaN") || sample.value.ends_with("Inf")) {
                return;
            }
            return run.problem("is a metric without a number");
        }
        std::string name = sample.name;
        const std::string_view labels = sample.labels;
        if (const std::string model = word_after(labels, "model_name="); !model.empty() && model != "undefined") {
            run.model(model);
        }
        constexpr std::size_t most_engines = 10'000;
        if (const std::string engine = word_after(labels, "engine="); !engine.empty() && engines_.size() < most_engines) {
            engines_.insert(engine);
        }
        if (name == "speculative_config_info") {
            run.method(word_after(labels, "spec_method="));
            if (const auto tokens = text::parse_number(word_after(labels, "spec_num_tokens=")); tokens && *tokens >= 1.0) {
                run.agree_with_hint({0, 1, static_cast<int>(std::min(*tokens, 1e6)) + 1});
                run.draft_tokens(static_cast<int>(std::min(*tokens, 1e6)));
            }
        }
        if (name.ends_with("_created") || name.ends_with("_bucket")) {
            return;
        }
        // Rapid-MLX counts depths from 1 on.
        if (name.ends_with("_by_depth_total")) {
            const std::optional<int> depth = text::parse_number<int>(word_after(labels, "depth="));
            if (!depth || *depth < 1 || *depth > sim::most_draft_tokens) {
                return run.problem("must name the depth that it counts");
            }
            positions_.insert(*depth - 1);
            name = name.find("_drafted_") != std::string::npos ? "spec_decode_drafted_tokens_total"
                                                               : "spec_decode_accepted_tokens_total";
            name += "/" + std::to_string(*depth - 1);
        }
        if (name.find("_per_pos") != std::string::npos || labels.find("token_position=") != std::string_view::npos) {
            const std::optional<int> position = text::parse_number<int>(word_after(labels, "position="));
            if (!position || *position < 0 || *position >= sim::most_draft_tokens) {
                return run.problem("must name the position that it counts");
            }
            positions_.insert(*position);
            name += "/" + std::to_string(*position);
        }
        if (!(*value >= 0.0)) {
            if (!name.ends_with("_total") && !name.ends_with("_count")) {
                return;  // a gauge of something else
            }
            return run.problem("is a count below 0");
        }
        Counter& counter = counters_[name + "|" + std::string(labels)];
        if (counters_.size() > 100'000) {
            return run.problem("has more than 100,000 series; is it of one server?");
        }
        went_back_ = went_back_ || (counter.scrapes > 0 && *value < counter.last && name.ends_with("_total"));
        counter.first = counter.scrapes == 0 ? *value : counter.first;
        counter.last = *value;
        scrapes_ = std::max(scrapes_, ++counter.scrapes);
        auto& [sum, times] = gauges_[name];
        sum += *value;
        ++times;
    }

    /// What a counter grew by between the scrapes, or its value in a single one; over all engines.
    [[nodiscard]] double grown(const std::string& name) const {
        double sum = 0.0;
        for (auto found = counters_.lower_bound(name + "|"); found != counters_.end() && found->first.starts_with(name + "|");
             ++found) {
            sum += scrapes_ > 1 ? found->second.last - (found->second.scrapes > 1 ? found->second.first : 0.0)
                                : found->second.last;
        }
        return sum;
    }

    [[nodiscard]] double mean_of_gauges(const std::string& name) const {
        const auto found = gauges_.find(name);
        return found == gauges_.end() ? 0.0 : found->second.first / std::max(1, scrapes_);
    }

    std::map<std::string, Counter> counters_;
    std::map<std::string, std::pair<double, int>> gauges_;
    std::set<int> positions_;
    std::set<std::string> engines_;  ///< of vLLM, by their labels
    int scrapes_ = 0;
    bool went_back_ = false, of_tensorrt_llm_ = false;
};

}  // namespace

std::unique_ptr<LineReader> prometheus() { return std::make_unique<Prometheus>(); }

}  // namespace treeline::runs::run_formats_of
