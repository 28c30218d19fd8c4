// SGLang's log: a line every few decoding steps (scheduler metrics), and the server's arguments at its start.
#include <algorithm>
#include <cmath>
#include <memory>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Decoding steps between two lines, unless --decode-log-interval says otherwise.
constexpr double steps_of_line = 40.0;

class SglangLog : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const bool decode =
            line.find("Decode batch") != std::string_view::npos && line.find("#running-req:") != std::string_view::npos;
        const bool prefill =
            line.find("Prefill batch") != std::string_view::npos && line.find("#new-token:") != std::string_view::npos;
        const bool arguments = line.find("server_args=ServerArgs(") != std::string_view::npos;
        if (decode || prefill || arguments) {
            run.format("a log of SGLang");
            run.engine("sglang");
        }
        if (arguments) {
            run.model(word_after(line, "model_path="));
            run.method(none_is_empty(word_after(line, "speculative_algorithm=")));
            run.drafter(none_is_empty(word_after(line, "speculative_draft_model_path=")));
            if (const auto tokens = number_after(line, "speculative_num_draft_tokens=");
                tokens && *tokens > 1.0 && *tokens < 1e6) {
                run.draft_tokens(static_cast<int>(*tokens) - 1);
            }
            run.ranks(number_after(line, "tp_size=").value_or(0.0));
        } else if (prefill) {
            prompts_between_ = true;
        } else if (decode) {
            take_decode(line, run);
        }
        return decode || prefill || arguments;
    }

    void finish(RunBuilder&) override {}

private:
    static std::string none_is_empty(const std::string& word) { return word == "None" ? std::string() : word; }

    void take_decode(std::string_view line, RunBuilder& run) {
        const auto running = number_after(line, "#running-req:"), throughput = number_after(line, "gen throughput (token/s):");
        if (!running || !throughput) {
            return run.problem("lacks the running requests or the throughput that lines of SGLang's log give");
        }
        const bool interrupted = std::exchange(prompts_between_, false);
        const bool unchanged = *running == std::exchange(last_running_, *running);
        if (*running <= 0.0 || *throughput <= 0.0) {
            return;
        }
        const auto length = number_after(line, "accept len:");
        int drafts = 0;
        if (length) {
            drafts = run.draft_tokens_or(0);
            if (drafts <= 0) {
                return run.problem(
                    "gives an accept length, but neither the log nor --draft-tokens K says how many tokens were drafted");
            }
            if (!(*length >= 1.0) || *length > drafts + 1.0) {
                return run.problem("gives an accept length that is not between 1 and the draft tokens plus one");
            }
        }
        const double tokens = number_after(line, "#token:").value_or(number_after(line, "#full token:").value_or(0.0));
        RunCell& cell = run.cell(*running, drafts);
        const double lines = cell.tokens_per_second.times();
        cell.context = (cell.context * lines + tokens / *running) / (lines + 1.0);
        cell.tokens_per_second.add(*throughput);
        if (length) {
            run.count(cell, counts_of_mean(*length, *length * *running * steps_of_line, drafts));
        }
        if (!interrupted && unchanged) {  // else prompts or a changing batch are in the time
            run.time(cell.round, "a step", *running * length.value_or(1.0) / *throughput);
        }
        if (const std::string graph = word_after(line, "cuda graph: "); !graph.empty()) {
            (graph == "True" ? cell.captured_steps : cell.eager_steps) += steps_of_line;
        }
    }

    bool prompts_between_ = false;
    double last_running_ = -1.0;
};

}  // namespace

std::unique_ptr<LineReader> sglang_log() { return std::make_unique<SglangLog>(); }

}  // namespace treeline::runs::run_formats_of
