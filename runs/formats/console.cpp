// What benchmarks print at their end: `vllm bench serve`, SGLang's bench_serving and bench_offline_throughput, trtllm-bench.
// vllm/benchmarks/serve.py; python/sglang/bench_serving.py, bench_offline_throughput.py; tensorrt_llm/bench/dataclasses/
// reporting.py. The labels become the keys of the files that the same programs write.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "runs/formats/benchmarks.h"
#include "runs/formats/report_caption.h"
#include "runs/log_lines.h"
#include "text/parse_number.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

const std::map<std::string, const char*, std::less<>> trtllm_labels = {
    {"Model", "/engine/model"},
    {"Number of requests", "/request_info/num_requests"},
    {"Number of concurrent requests", "/request_info/avg_num_concurrent_requests"},
    {"Average Input Length (tokens)", "/request_info/avg_input_length"},
    {"Average Output Length (tokens)", "/request_info/avg_output_length"},
    {"Total Output Throughput (tokens/sec)", "/performance/system_output_throughput_tok_s"},
    {"Average time-to-first-token [TTFT] (ms)", "/streaming_metrics/avg_ttft_ms"},
    {"Average time-per-output-token [TPOT] (ms)", "/streaming_metrics/avg_tpot_ms"},
    {"TP Size", "/tp"},
    {"PP Size", "/pp"},
    {"[DT] AVERAGE", "/decoding_stats/num_draft_tokens_percentiles/average"},
    {"[ADT] AVERAGE", "/decoding_stats/num_accepted_draft_tokens_percentiles/average"},
    {"[AL] AVERAGE", "/decoding_stats/acceptance_length_percentiles/average"},
    {"[AR] AVERAGE", "/decoding_stats/acceptance_rate_percentiles/average"}};

/// A line that ends a report: nothing but "=" after a prefix.
bool is_rule(std::string_view text) {
    constexpr std::size_t least = 40;
    return text.size() >= least && text.substr(text.size() - least).find_first_not_of('=') == std::string_view::npos;
}

/// Whether a label goes on in front: "Drafts" after a word is another label, and so is a mean after "P99".
bool is_word_of_label(std::string_view before) {
    const bool colour = before.rfind('\x1b') != std::string_view::npos && before.ends_with('m');
    if (before.empty() || colour) {
        return false;
    }
    const std::string_view word = before.substr(before.rfind(' ') + 1);  // npos + 1 is 0
    const bool percentile =
        word.size() > 1 && word.front() == 'P' && word.find_first_not_of("0123456789.", 1) == std::string_view::npos;
    return percentile || std::islower(static_cast<unsigned char>(before.back())) != 0;
}

/// The longest label with which `text` ends, whatever a launcher put before it; null if there is none.
const std::pair<const std::string, const char*>* label_of(std::string_view text,
                                                          const std::map<std::string, const char*, std::less<>>& labels) {
    const std::pair<const std::string, const char*>* found = nullptr;
    for (const auto& label : labels) {
        if (!text.ends_with(label.first) || (found != nullptr && found->first.size() >= label.first.size())) {
            continue;
        }
        const std::string_view before = text.substr(0, text.size() - label.first.size());
        if (!is_word_of_label(before.substr(0, before.find_last_not_of(' ') + 1))) {
            found = &label;
        }
    }
    return found;
}

class ConsoleReport : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool serving = line.find("Serving Benchmark Result") != std::string_view::npos ||
                             line.find("Offline Throughput Benchmark Result") != std::string_view::npos;
        const bool trtllm = line.find("= PYTORCH BACKEND") != std::string_view::npos ||
                            line.find("= ENGINE DETAILS") != std::string_view::npos ||
                            (kind_ != Kind::trtllm && (line.find("= REQUEST DETAILS") != std::string_view::npos ||
                                                       line.find("= PERFORMANCE OVERVIEW") != std::string_view::npos));
        if (serving || trtllm) {
            flush(run);
            kind_ = serving ? Kind::serving : Kind::trtllm;
            prefix_ = std::min(line.find(serving ? "==" : "= "), line.size());
            run.format(serving ? "what a serving benchmark printed" : "what trtllm-bench printed");
            return true;
        }
        if (const std::size_t part = line.find("---Speculative Decoding---");
            kind_ == Kind::none && part != std::string_view::npos) {
            kind_ = Kind::serving;  // its last part alone
            is_part_ = true;
            prefix_ = line.find("---");
            run.format("the speculative part of what a serving benchmark printed");
            return true;
        }
        if (kind_ == Kind::none && begins_figures(line)) {
            kind_ = Kind::serving;
            is_headless_ = true;
            prefix_ = 0;
        }
        if (kind_ == Kind::none) {
            take_caption(line);
            return false;
        }
        if (is_headless_) {
            return take_figure(line, run);
        }
        const std::string_view text = without_prefix(line);
        if (kind_ == Kind::trtllm && text.find("= DECODING STATISTICS") != std::string_view::npos) {
            json_["decoding_stats"]["printed"] = true;
            return true;
        }
        if (kind_ == Kind::serving && is_rule(text)) {
            flush(run);
            return true;
        }
        if (kind_ == Kind::serving && begins_another(text)) {
            flush(run);
            take_caption(line);
            return false;
        }
        // Where a prefix is as long as that of the header, the label is known to begin after it.
        return (line.size() > prefix_ && take_entry(line.substr(prefix_), true)) || take_entry(text, false);
    }

    void finish(RunBuilder& run) override {
        flush(run);
        read_uncounted(run);
    }

private:
    enum class Kind { none, serving, trtllm };

    struct Uncounted {
        RunJson json;
        int drafts;  ///< below 0: not known
        bool said;   ///< by words right above it, not by a command
    };

    /// A heading, or a line that ends in ":" and says whether the report below drafts: the one above was copied without its
    /// last rule.
    static bool begins_another(std::string_view text) {
        text = text.substr(0, text.find_last_not_of(" \t*") + 1);
        ReportCaption caption;
        if (text.ends_with(':')) {
            caption.take(text);
        }
        return text.starts_with("# ") || text.starts_with("##") || caption.stated().tokens >= 0 || caption.stated().drafting;
    }

    /// "Mean TPOT (ms): 26.74": figures of a report that were copied without its header, told by their units.
    static bool begins_figures(std::string_view line) {
        const std::size_t colon = line.find(':'), first = line.find_first_not_of(" \t");
        if (colon == std::string_view::npos || first >= colon) {
            return false;
        }
        const std::string label(line.substr(first, colon - first));
        return label.ends_with(')') && serving_labels().contains(label) &&
               text::parse_number(text::trimmed(line.substr(colon + 1)));
    }

    /// A line among such figures: one of theirs, or a heading, which ends them, as the first label does that comes again.
    bool take_figure(std::string_view line, RunBuilder& run) {
        constexpr int sure = 3;
        if (begins_another(line) || is_rule(line)) {
            flush(run);
            take_caption(line);
            return false;
        }
        const RunJson before = json_;
        const int entries = entries_;
        if (!take_entry(line, true)) {
            return false;
        }
        if (entries_ > entries && json_.size() == before.size()) {
            json_ = before;
            flush(run);
            return take(line, run);
        }
        return entries_ >= sure;
    }

    void take_caption(std::string_view line) {
        caption_.take(line);
        titles_.take(line);
    }

    bool take_entry(std::string_view text, bool whole_label) {
        const std::size_t colon = text.rfind(':');
        if (colon == std::string_view::npos) {
            return false;
        }
        std::string_view label = text.substr(0, colon), value = text.substr(colon + 1);
        label = label.substr(0, label.find_last_not_of(" \t") + 1);
        const auto& labels = kind_ == Kind::serving ? serving_labels() : trtllm_labels;
        label.remove_prefix(whole_label ? std::min(label.find_first_not_of(" \t"), label.size()) : 0);
        if (whole_label && !labels.contains(label) && !label.starts_with("Position ")) {
            return false;
        }
        value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
        value = value.substr(0, value.find_last_not_of(" \t") + 1);
        const bool percent = value.ends_with('%');
        const std::optional<double> number = text::parse_number(percent ? value.substr(0, value.size() - 1) : value);
        if (const std::size_t position = label.rfind("Position ");
            kind_ == Kind::serving && number && position != std::string_view::npos &&
            label.find_first_not_of("0123456789", position + 9) == std::string_view::npos) {
            rates_.push_back(*number / 100.0);
            return true;
        }
        const auto* found = label_of(label, labels);
        if (found == nullptr || value.empty()) {
            return false;
        }
        ++entries_;
        RunJson& place = kind_ == Kind::serving ? json_[found->second] : json_[RunJson::json_pointer(found->second)];
        place = number ? RunJson(*number) : RunJson(std::string(value));
        return true;
    }

    void flush(RunBuilder& run) {
        const Kind kind = std::exchange(kind_, Kind::none);
        RunJson json = std::exchange(json_, RunJson::object());
        if (!rates_.empty()) {
            json["spec_decode_per_position_acceptance_rates"] = std::exchange(rates_, {});
        }
        const int entries = std::exchange(entries_, 0);
        const bool is_part = std::exchange(is_part_, false), headless = std::exchange(is_headless_, false);
        if (kind == Kind::none || entries == 0 || (headless && !number_at(json, "mean_tpot_ms"))) {
            return;
        }
        if (headless) {
            json[without_header] = true;
            run.format("figures of what a serving benchmark printed");
        }
        caption_.end_report();
        if (const double requests = titles_.requests();
            kind == Kind::serving && requests >= 1.0 && !json.contains("max_concurrency")) {
            json["max_concurrency"] = requests;
        }
        if (titles_.leave_out("report", run)) {
            return;
        }
        if (kind == Kind::trtllm) {
            json["world_info"]["world_size"] = number_at(json, "tp").value_or(1.0) * number_at(json, "pp").value_or(1.0);
            return read_trtllm_bench(json, run, caption_.stated().tokens);
        }
        if (!is_part && !number_at(json, "total_output_tokens") && !number_at(json, "mean_tpot_ms")) {
            return run.problem("ends a report of a benchmark that does not say how many tokens were generated");
        }
        const std::string backend = text_at(json, "backend");
        const bool sglang = json.contains("accept_length") || backend.starts_with("sglang") || backend == "engine";
        sglang ? take_sglang(json, run) : read_vllm_bench(json, run, caption_.stated());
    }

    /// A report of SGLang's, which has an accept length where the server drafts and the client asks it.
    void take_sglang(const RunJson& json, RunBuilder& run) {
        if (json.contains("accept_length")) {
            sglang_accepts_ = true;
            return read_sglang_bench(json, run);
        }
        const StatedDrafts& stated = caption_.stated();
        const bool said = stated.drafting || stated.tokens >= 0;
        if (!said && !run.command_drafts() && run.stated_draft_tokens() <= 0) {
            return read_sglang_bench(json, run);
        }
        const bool plain = stated.tokens == 0 && !stated.drafting;
        uncounted_.push_back({json, plain ? 0 : run.draft_tokens_or(stated.tokens), said});
    }

    /// Reports without an accept length below words or a command that draft.
    void read_uncounted(RunBuilder& run) {
        for (const Uncounted& report : std::exchange(uncounted_, {})) {
            // Where another report has an accept length, the command is its own.
            const int drafts = report.said || !sglang_accepts_ ? report.drafts : 0;
            if (drafts < 0) {
                run.lacks_draft_tokens(
                    "was measured with drafts, but nothing says how many tokens were drafted; --draft-tokens K says it");
                continue;
            }
            if (drafts > 0) {
                run.remark(run.file() +
                           ": a report without an accept length stands below a set-up that drafts, and is taken as of it");
            }
            read_sglang_bench(report.json, run, drafts);
        }
    }

    Kind kind_ = Kind::none;
    RunJson json_ = RunJson::object();
    std::vector<double> rates_;
    std::size_t prefix_ = 0;  ///< letters before the rule of the header
    int entries_ = 0;
    bool is_part_ = false;      ///< without times
    bool is_headless_ = false;  ///< figures alone, as people copy them
    std::vector<Uncounted> uncounted_;
    bool sglang_accepts_ = false;  ///< a report of SGLang's has an accept length
    ReportCaption caption_;
    ReportTitles titles_;
};

}  // namespace

const std::map<std::string, const char*, std::less<>>& serving_labels() {
    static const std::map<std::string, const char*, std::less<>> labels = {
        {"Backend", "backend"},
        {"Successful requests", "completed"},
        {"Failed requests", "failed"},
        {"Maximum request concurrency", "max_concurrency"},
        {"Max request concurrency", "max_concurrency"},
        {"Benchmark duration (s)", "duration"},
        {"Total input tokens", "total_input_tokens"},
        {"Total generated tokens", "total_output_tokens"},
        {"Output token throughput (tok/s)", "output_throughput"},
        {"Concurrency", "concurrency"},
        {"Accept length", "accept_length"},
        {"Mean E2E Latency (ms)", "mean_e2el_ms"},
        {"Mean E2EL (ms)", "mean_e2el_ms"},
        {"Mean TTFT (ms)", "mean_ttft_ms"},
        {"Mean TPOT (ms)", "mean_tpot_ms"},
        {"Mean ITL (ms)", "mean_itl_ms"},
        {"Median ITL (ms)", "median_itl_ms"},
        // TensorRT-LLM's copy of the benchmark alone: a single mean until 2025, statistics of requests since.
        {"User throughput (tok/s)", "user_throughput"},
        {"Avg Decoded Tokens per Iter", "avg_decoded_tokens_per_iter"},
        {"Mean Avg Decoded Tokens per Iter", "avg_decoded_tokens_per_iter"},
        {"Acceptance length", "spec_decode_acceptance_length"},
        {"Drafts", "spec_decode_num_drafts"},
        {"Draft tokens", "spec_decode_draft_tokens"},
        {"Accepted tokens", "spec_decode_accepted_tokens"}};
    return labels;
}

std::unique_ptr<LineReader> console_report() { return std::make_unique<ConsoleReport>(); }

}  // namespace treeline::runs::run_formats_of
