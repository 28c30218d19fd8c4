// Logs of single steps: vLLM's with --enable-logging-iteration-details (pull requests 31193 and 46647) and TensorRT-LLM's with
// print_iter_log (tensorrt_llm/_torch/pyexecutor/py_executor.py; pull requests 3914, 14206 and 14734). Steps that read prompts
// are left out: they say nothing about a round.
#include <cmath>
#include <memory>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {
namespace {

/// The number that stands before a text ("20 generation requests").
std::optional<double> number_before(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view before = line.substr(0, found);
    const std::size_t begin = before.find_last_not_of("0123456789.") + 1;
    return number_after(before.substr(begin), "");
}

struct Step {
    std::optional<double> prompts, requests, tokens, seconds;
};

/// A step verifies the same number of tokens of each request, unless it pads.
int drafts_of(const Step& step, const RunBuilder& run) {
    const double drafts = *step.tokens / *step.requests - 1.0;
    const bool whole = drafts >= 1.0 && drafts < 1e6 && std::abs(drafts - std::round(drafts)) < 1e-9;
    return std::max(0, run.draft_tokens_or(whole ? static_cast<int>(std::lround(drafts)) : 0));
}

void add(const Step& step, RunBuilder& run) {
    if (!step.requests || !step.seconds) {
        return run.problem("lacks the requests or the time that lines on a step give");
    }
    if (step.prompts.value_or(0.0) > 0.0 || *step.requests < 1.0) {
        return;
    }
    run.time(run.cell(*step.requests, step.tokens ? drafts_of(step, run) : std::max(0, run.draft_tokens_or(0))).round, "a step",
             *step.seconds, *step.requests);
}

class EngineSteps : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (line.find("Iteration(") != std::string_view::npos && line.find(" generation requests") != std::string_view::npos) {
            run.format("vLLM's log of steps");
            run.engine("vllm");
            const auto milliseconds = number_after(line, "elapsed time:");
            add({number_before(line, " context requests"), number_before(line, " generation requests"),
                 number_before(line, " generation tokens"), milliseconds ? std::optional(*milliseconds * 1e-3) : std::nullopt},
                run);
            return true;
        }
        if (line.find("iter = ") == std::string_view::npos || line.find("'num_generation_tokens'") == std::string_view::npos) {
            return false;
        }
        run.format("TensorRT-LLM's log of steps");
        run.engine("tensorrt-llm");
        if (number_after(line, ", rank =").value_or(0.0) != 0.0) {
            return true;  // the same step, on another device
        }
        const auto milliseconds = number_after(line, "host_step_time"), seconds = number_after(line, "elapsed_time");
        const auto tokens = number_after(line, "'num_generation_tokens'");
        auto requests = number_after(line, "num_scheduled_requests");
        requests = requests ? requests : tokens;  // before that field, drafting nothing
        add({number_after(line, "'num_ctx_requests'"), requests, tokens,
             milliseconds ? std::optional(*milliseconds * 1e-3) : seconds},
            run);
        return true;
    }
    void finish(RunBuilder&) override {}
};

}  // namespace

std::unique_ptr<LineReader> engine_steps() { return std::make_unique<EngineSteps>(); }

}  // namespace treeline::runs::run_formats_of
