// What scripts around the engines print: vLLM's examples/offline_inference/spec_decode.py, SGLang's bench_one_batch,
// llama.cpp's llama-speculative and llama-speculative-simple, and the bench of llama.cpp's pull request 22673 ("pred= 192
// draft= 180 acc= 146 ... tok/s=31.3").
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/llama_generation.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/report_caption.h"
#include "runs/formats/time_units.h"
#include "runs/log_lines.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Counts of a whole run, line by line; they end where another begins.
class ScriptReports : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (from_label(line, "Throughput:").find(" requests/s") != std::string_view::npos) {
            run.unread(
                "vllm bench throughput prints neither requests in flight nor a time per token; vllm bench serve "
                "--max-concurrency N does");
        }
        if (take_request(line, run) || take_mlxcel(line, run) || take_tuned_depth(line, run) || take_questions(line, run) ||
            take_vllm(line, run) || take_one_batch(line, run) || take_send_one(line, run) || take_task(line, run) ||
            take_llama(line, run)) {
            drafters_.end_report();
            return true;
        }
        take_methods(line);
        drafters_.take(line);
        return false;
    }

    void finish(RunBuilder& run) override {
        flush_vllm(run);
        flush_llama(run);
        flush_mixed(run);
    }

private:
    bool take_request(std::string_view line, RunBuilder& run) {
        const auto predicted = number_after(line, "pred="), drafted = number_after(line, "draft="),
                   accepted = number_after(line, "acc="), rate = number_after(line, "tok/s=");
        if (!predicted || !drafted || !accepted || !rate) {
            return false;
        }
        run.format("what a bench of requests to llama.cpp printed");
        run.engine("llama.cpp");
        const LlamaGeneration of{*predicted, *rate > 0.0 ? 1e3 * *predicted / *rate : 0.0, *drafted, *accepted, 0.0, 0.0, {},
                                 0.0};
        constexpr std::size_t most_requests = 65'536;
        if (methods_.find(',') != std::string::npos && mixed_.size() < most_requests) {
            mixed_.push_back(of);
        } else {
            add_llama_generation(run, of);
        }
        return true;
    }

    /// "spec-type = draft-mtp,ngram-mod", of a command or of an ini file: the methods of the server below.
    void take_methods(std::string_view line) {
        const std::size_t named = line.find("spec-type");
        if (named != std::string_view::npos) {
            const std::string rest(line.substr(named + std::string_view("spec-type").size()));
            const std::size_t begin = std::min(rest.find_first_not_of(" ="), rest.size());
            methods_ = rest.substr(begin, rest.find(' ', begin) - begin);
        }
    }

    /// Requests whose drafts come of several methods have no one length: they are kept under the longest.
    void flush_mixed(RunBuilder& run) {
        double longest = 0.0;
        for (const LlamaGeneration& of : mixed_) {
            const double rounds = rounds_of(of);
            longest = rounds >= 1.0 && of.drafted > 0.0 ? std::max(longest, of.drafted / rounds) : longest;
        }
        const auto drafts = static_cast<int>(std::lround(std::clamp(longest, 0.0, 1e6)));
        for (LlamaGeneration& of : mixed_) {
            of.length = std::max(1, drafts);
            add_llama_generation(run, of);
        }
        if (!mixed_.empty()) {
            run.remark(
                fmt::format("{}: drafts of several methods ({}) have no one length; they are kept under {} tokens, as many "
                            "as a request drafted a round at most",
                            run.file(), methods_, drafts));
        }
        mixed_.clear();
    }

    /// SGLang's benchmarks of speculation: "#questions: 80, Throughput: 300.0 token/s, Acceptance length: 3.20".
    /// mlxcel's: "[bench/mtp] Done: prompt=14 ... decode_ms=5936.1 generated=88 ... rounds=34 acceptance_rate=0.529
    /// mean_accepted_len=1.59", whose length counts no bonus token.
    static bool take_mlxcel(std::string_view line, RunBuilder& run) {
        const auto generated = number_after(line, "generated="), rounds = number_after(line, "rounds="),
                   milliseconds = number_after(line, "decode_ms="), rate = number_after(line, "acceptance_rate="),
                   length = number_after(line, "mean_accepted_len=");
        if (!generated || !rounds || !milliseconds || !rate || !length) {
            return false;
        }
        run.format("what mlxcel's bench printed");
        run.engine("mlx");
        const double accepted = std::round(*length * *rounds), drafted = *rate > 0.0 ? std::round(accepted / *rate) : 0.0;
        add_llama_generation(run, {.predicted = *generated,
                                   .milliseconds = *milliseconds,
                                   .drafted = drafted,
                                   .accepted = accepted,
                                   .context = number_after(line, "prompt=").value_or(0.0) + 0.5 * *generated,
                                   .rounds = *rounds});
        return true;
    }

    /// `mtplx tune`: "AR     14.8 tok/s   1.00x", "D2     21.4 tok/s   1.45x  BEST".
    static bool take_tuned_depth(std::string_view line, RunBuilder& run) {
        std::istringstream in{std::string(line.substr(0, 200))};
        std::string depth, rate, unit, ratio;
        in >> depth >> rate >> unit >> ratio;
        const int drafts = depth == "AR" ? 0 : depth.starts_with('D') ? whole_number(std::string_view(depth).substr(1)) : -1;
        const std::optional<double> tokens = number_of(rate);
        if (drafts < 0 || !tokens || *tokens <= 0.0 || unit != "tok/s" || !ratio.ends_with('x')) {
            return false;
        }
        run.format("what mtplx tune printed");
        run.engine("mlx");
        run.time(run.cell(run.batch_or(1.0), drafts).tpot, "a time per token", 1.0 / *tokens);
        return true;
    }

    bool take_questions(std::string_view line, RunBuilder& run) {
        const std::string_view text = from_label(line, "#questions:");
        const auto rate = number_after(text, "Throughput:"), length = number_after(text, "Acceptance length:");
        if (!rate || !length) {
            return false;
        }
        run.format("what SGLang's benchmarks of speculation printed");
        run.engine("sglang");
        if (drafters_.is_first(run)) {
            add_mean_length(*length, 1.0 / std::max(*rate, 1e-9), run, drafters_.stated().tokens);
        }
        return true;
    }

    /// The first of some labels that the line has, and the number after it.
    static std::optional<double> number_of_any(std::string_view line, std::initializer_list<std::string_view> labels) {
        for (const std::string_view label : labels) {
            if (const std::string_view text = from_label(line, label); !text.empty()) {
                return number_of(std::string(text.substr(label.size())));
            }
        }
        return std::nullopt;
    }

    bool take_vllm(std::string_view line, RunBuilder& run) {
        if (const auto tokens = number_of_any(line, {"total_num_output_tokens:", "Total output tokens:"})) {
            generated_ = *tokens;
        }
        const std::size_t colon = line.rfind(':');
        if (counts_.drafts > 0.0 && colon != std::string_view::npos &&
            unit_in_cell(text::trimmed(line.substr(colon + 1))).named()) {
            run.remark(run.file() + ": times of whole runs give none per token, and were left out");
        }
        if (const auto drafts = number_of_any(line, {"num_drafts:", "Number of drafts:", "Number of draft proposals:"})) {
            flush_vllm(run);
            counts_.drafts = *drafts;
        } else if (counts_.drafts <= 0.0 || !take_vllm_count(line)) {
            return false;
        }
        run.format("what vLLM's offline example of speculation printed");
        run.engine("vllm");
        return true;
    }

    /// A further count of the run whose drafts were counted; false for another line.
    bool take_vllm_count(std::string_view line) {
        if (const auto drafted =
                number_of_any(line, {"num_draft_tokens:", "Number of draft tokens:", "Number of draft tokens generated:"})) {
            counts_.drafted = *drafted;
            return true;
        }
        if (const auto accepted = number_of_any(line, {"num_accepted_tokens:", "Number of accepted tokens:"})) {
            counts_.accepted = *accepted;
            return true;
        }
        const std::string_view at_token = from_label(line, "acceptance at token "),
                               rate = at_token.empty() ? from_label(line, "Acceptance rate at token ") : at_token;
        if (rate.find(':') == std::string_view::npos) {
            return false;
        }
        counts_.reached.push_back(std::round(number_after(rate.substr(rate.find(':')), ":").value_or(0.0) * counts_.drafts));
        counts_.drafts_with_positions = counts_.drafts;
        return true;
    }

    void flush_vllm(RunBuilder& run) {
        AcceptanceCounts counts = std::exchange(counts_, {});
        const double generated = counts.drafts > 0.0 ? std::exchange(generated_, 0.0) : 0.0;
        if (counts.drafts > 0.0) {
            const long drafted = std::lround(std::clamp(counts.draft_length(), 1.0, 1e6));
            // The example prints a fixed number of positions; those behind the last draft are never reached.
            while (counts.drafted > 0.0 && std::ssize(counts.reached) > drafted && counts.reached.back() == 0.0) {
                counts.reached.pop_back();
            }
            const auto length = std::max<std::ptrdiff_t>(drafted, std::ssize(counts.reached));
            if (std::ssize(counts.reached) < length && !counts.reached.empty()) {
                run.remark(fmt::format("{}: prints rates of {} of {} positions; the mean alone is kept", run.file(),
                                       counts.reached.size(), length));
                counts.reached.clear();
                counts.drafts_with_positions = 0.0;
            }
            run.add_undrafted_rounds(counts, generated, false);
            run.count(run.cell(0.0, run.draft_tokens_or(static_cast<int>(length))), counts);
        }
    }

    /// SGLang's bench_one_batch: the sequences are the step's time times its throughput; so are the tokens of the prompts.
    bool take_one_batch(std::string_view line, RunBuilder& run) {
        if (line.starts_with("Warmup ...") || line.starts_with("Benchmark ...")) {
            warming_up_ = line.starts_with("Warmup");
            return true;
        }
        const std::string_view prompt = from_label(line, "Prefill."), step = from_label(line, "Decode.");
        const std::string_view text = prompt.empty() ? step : prompt;
        const auto seconds = number_after(text, "latency:"), rate = number_after(text, "throughput:");
        if (!seconds || !rate) {
            return false;
        }
        const double tokens = std::round(*seconds * *rate);
        if (!prompt.empty()) {
            prompt_tokens_ = tokens;
        } else if (!warming_up_ && step.find("median") != std::string_view::npos && tokens >= 1.0) {
            run.format("what SGLang's bench_one_batch printed");
            run.engine("sglang");
            run.time(run.cell(tokens, 0, std::round(prompt_tokens_ / tokens)).round, "a step", *seconds);
        }
        return true;
    }

    /// SGLang's send_one before it printed a table: "acc_length=2.20", then "speed=125.59 token/s" of one request.
    bool take_send_one(std::string_view line, RunBuilder& run) {
        if (const auto length = number_after(from_label(line, "acc_length="), "acc_length=")) {
            accept_length_ = *length;
            return true;
        }
        const auto speed = number_after(from_label(line, "speed="), "speed=");
        if (!speed || accept_length_ < 1.0 || line.find("token/s") == std::string_view::npos) {
            return false;
        }
        run.format("what SGLang's send_one printed");
        run.engine("sglang");
        add_mean_length(std::exchange(accept_length_, 0.0), *speed > 0.0 ? 1.0 / *speed : 0.0, run);
        return true;
    }

    /// SGLang's benchmarks of tasks (gsm8k, humaneval): "Output throughput: 1100.0 token/s" of all requests, then "Accept
    /// length: 2.50", which is 1 without drafts.
    bool take_task(std::string_view line, RunBuilder& run) {
        if (line.starts_with("Output throughput:") && line.find("token/s") != std::string_view::npos) {
            task_rate_ = number_after(line, "Output throughput:").value_or(0.0);
            return false;
        }
        const auto length = line.starts_with("Accept length:") ? number_after(line, "Accept length:") : std::nullopt;
        const double rate = length ? std::exchange(task_rate_, 0.0) : 0.0;
        if (!(rate > 0.0)) {
            return false;
        }
        run.format("what SGLang's benchmarks of tasks printed");
        run.engine("sglang");
        // A server that drafts and accepts nothing has a length of 1, too.
        const StatedDrafts& stated = drafters_.stated();
        const bool drafting = *length > 1.0 || stated.drafting || (stated.tokens < 0 && run.command_drafts());
        const int drafts = drafting ? run.draft_tokens_or(stated.tokens) : 0;
        if (drafts < 0 || *length > drafts + 1.0) {
            run.problem(drafts < 0 ? "gives an accept length, but not how many tokens were drafted; --draft-tokens K says it"
                                   : "gives an accept length above the draft tokens plus one");
            return true;
        }
        RunCell& cell = run.cell(0.0, drafts);
        run.state_length(cell, drafts > 0 ? *length : 0.0);
        cell.tokens_per_second.add(rate);
        return true;
    }

    /// A mean of requests one after the other; an accept length of 1 is plain decoding. `captioned` is what stands above it,
    /// below 0 where nothing does.
    static void add_mean_length(double length, double seconds_per_token, RunBuilder& run, int captioned = -1) {
        const int drafts = length > 1.0 ? run.draft_tokens_or(captioned) : 0;
        if (length > 1.0 && drafts <= 0) {
            return run.lacks_draft_tokens(
                "gives an accept length, but not how many tokens were drafted; --draft-tokens K says it, of a tree --shape "
                "sglang:STEPS,TOPK,TOKENS");
        }
        RunCell& cell = run.cell(run.batch_or(1.0), drafts);
        if (drafts > 0 && length > cell.most_accepted() + 1.0) {
            return run.problem("gives an accept length above the draft tokens plus one");
        }
        run.state_length(cell, drafts > 0 ? length : 0.0);
        run.time(cell.tpot, "a time per token", seconds_per_token);
    }

    /// What llama-speculative says of one answer. Its counts follow the time; people also paste them above it.
    struct LlamaReport {
        std::optional<double> tokens, seconds, longest, drafted, accepted;

        [[nodiscard]] bool empty() const { return !tokens && !drafted && !accepted && !longest; }
    };

    bool take_llama(std::string_view line, RunBuilder& run) {
        if (line.starts_with('#')) {
            flush_llama(run);
        }
        const std::string_view decoded = from_label(line, "decoded "),
                               text = decoded.empty() ? from_label(line, "generated ") : decoded;
        if (text.find(" tokens in ") != std::string_view::npos) {
            llama_.seconds =
                set_llama(llama_.tokens, number_after(text, "ed "), run) ? number_after(text, " tokens in ") : llama_.seconds;
            return true;
        }
        return set_llama(llama_.longest, number_after(from_label(line, "n_draft "), "n_draft"), run) ||
               set_llama(llama_.drafted, number_after(from_label(line, "n_drafted "), "n_drafted"), run) ||
               set_llama(llama_.accepted, number_after(from_label(line, "n_accept "), "n_accept"), run);
    }

    /// A figure that the report has already begins the next one. False where the line holds none.
    bool set_llama(std::optional<double>& figure, const std::optional<double>& read, RunBuilder& run) {
        if (!read) {
            return false;
        }
        if (figure) {
            flush_llama(run);
        }
        figure = read;
        return true;
    }

    void flush_llama(RunBuilder& run) {
        const LlamaReport report = std::exchange(llama_, {});
        if (!report.tokens || !report.drafted || *report.tokens <= 0.0 || *report.drafted <= 0.0) {
            return;
        }
        run.format("what llama-speculative printed");
        run.engine("llama.cpp");
        const LlamaGeneration of{*report.tokens,
                                 report.seconds.value_or(0.0) * 1e3,
                                 *report.drafted,
                                 report.accepted.value_or(0.0),
                                 0.0,
                                 0.0,
                                 {},
                                 0.0};
        add_llama_generation(run, of);
        if (const double rounds = rounds_of(of);
            report.longest && rounds >= 1.0 && of.drafted / rounds < *report.longest - 0.5) {
            run.remark(
                fmt::format("{}: drafts of up to {:g} tokens ended after {:.1f} in the mean; they are kept under that length",
                            run.file(), *report.longest, of.drafted / rounds));
        }
    }

    AcceptanceCounts counts_;
    double generated_ = 0.0;  ///< tokens of vLLM's example, the first of each request among them
    bool warming_up_ = false;
    double prompt_tokens_ = 0.0, accept_length_ = 0.0;
    double task_rate_ = 0.0;  ///< of a task whose accept length is to follow
    LlamaReport llama_;
    std::string methods_;  ///< that the lines before name, between commas
    std::vector<LlamaGeneration> mixed_;
    ReportDrafters drafters_;
};

}  // namespace

std::unique_ptr<LineReader> script_reports() { return std::make_unique<ScriptReports>(); }

}  // namespace treeline::runs::run_formats_of
