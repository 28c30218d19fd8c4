// What the benchmark of DFlash prints of a server's answers to questions (dflash/benchmark.py of z-lab/dflash, and its copies):
// "Backend: sglang", "Concurrency: 1", "Output tokens: 39253", "Throughput: 462.95 tok/s", "Accept length: 6.360", "Spec verify
// ct: 6428". The throughput holds prompts and the beginning and end of the run.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/report_caption.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

class QuestionReports : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const std::size_t colon = line.find(':');
        const std::string label = text::trimmed(line.substr(0, colon)),
                          value = colon == std::string_view::npos ? "" : text::trimmed(line.substr(colon + 1));
        if (label == "Backend" && !value.empty()) {
            flush(run);
            figures_["Backend"] = value;
            return true;
        }
        static const std::vector<std::string> labels = {"Dataset",       "Num prompts", "Concurrency",   "Latency",
                                                        "Output tokens", "Throughput",  "Accept length", "Spec verify ct"};
        if (!figures_.empty() && std::find(labels.begin(), labels.end(), label) != labels.end()) {
            figures_[label] = value;
            return true;
        }
        if (!text::trimmed(line).empty()) {
            flush(run);
            drafters_.take(line);
        }
        return false;
    }
    void finish(RunBuilder& run) override { flush(run); }

private:
    /// 0 where the report does not give it.
    [[nodiscard]] static double figure(const std::map<std::string, std::string>& figures, const std::string& label) {
        const auto found = figures.find(label);
        return found == figures.end() ? 0.0 : number_of(found->second).value_or(0.0);
    }

    void flush(RunBuilder& run) {
        const std::map<std::string, std::string> figures = std::exchange(figures_, {});
        const double rate = figure(figures, "Throughput"), tokens = figure(figures, "Output tokens"),
                     prompts = figure(figures, "Num prompts"), requests = figure(figures, "Concurrency");
        if (!(rate > 0.0) || !(tokens > prompts) || !figures.contains("Dataset")) {
            return;
        }
        run.format("what the benchmark of DFlash printed");
        const std::string& backend = figures.at("Backend");
        if (backend == "sglang" || backend == "vllm" || backend == "mlx") {
            run.engine(backend);
        }
        const StatedDrafts stated = drafters_.stated();
        const bool first = drafters_.is_first(run);
        if (first && !drafters_.name().empty() && stated.tokens != 0) {
            run.method(drafters_.name());
        }
        drafters_.end_report();
        const double length = figure(figures, "Accept length");
        const bool drafting = length > 1.0 || stated.drafting || stated.tokens > 0 || run.command_drafts();
        const int drafts = drafting ? run.draft_tokens_or(stated.tokens) : 0;
        if (!first) {
            return;
        }
        if (drafting && drafts <= 0) {
            return run.lacks_draft_tokens(
                "was measured with drafts, but nothing says how many tokens were drafted; "
                "--draft-tokens K says it (one less than a block)");
        }
        RunCell& cell = run.cell(requests, drafts);
        cell.concurrency = true;
        cell.output_tokens = prompts > 0.0 ? tokens / prompts : 0.0;
        if (drafts > 0) {
            count(cell, length, tokens - prompts, figure(figures, "Spec verify ct"), run);
        }
        cell.tokens_per_second.add(rate, tokens);
    }

    /// `tokens` of rounds, the first of each answer left out. Rounds are counted, or follow from the mean.
    static void count(RunCell& cell, double length, double tokens, double rounds, RunBuilder& run) {
        if (length > cell.most_accepted() + 1.0) {
            return run.problem(
                fmt::format("gives an accept length of {:.2f} of {}, which is more than can be", length, cell.draft_text()));
        }
        if (rounds > 0.0 && tokens >= rounds) {
            AcceptanceCounts counts = counts_of_mean(tokens / rounds, tokens, cell.draft_tokens);
            return run.count(cell, counts);
        }
        if (length > 1.0) {
            run.count(cell, counts_of_mean(length, tokens, cell.draft_tokens));
        }
    }

    std::map<std::string, std::string> figures_;  ///< of the report that is read, by their labels
    ReportDrafters drafters_;
};

}  // namespace

std::unique_ptr<LineReader> question_reports() { return std::make_unique<QuestionReports>(); }

}  // namespace treeline::runs::run_formats_of
