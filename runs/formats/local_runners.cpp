// What programs of local users print at the end of an answer: mlx_lm.generate (ml-explore/mlx-lm, generate.py), ollama run
// --verbose, TabbyAPI ("Metrics (ID: ...)", common/gen_logging.py), none of which says what was accepted; and answers that
// count predictions as OpenAI's API does, which TabbyAPI fills in with drafts (pull request 452).
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "runs/builder.h"
#include "runs/formats/llama_generation.h"
#include "runs/log_lines.h"

namespace treeline::runs::run_formats_of {
namespace {

bool says(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

class LocalRunner : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (says(line, " tokens-per-sec")) {
            run.format("what mlx_lm prints");
            run.engine("mlx");
            if (const std::string_view prompt = from_label(line, "Prompt:"); !prompt.empty()) {
                prompt_ = number_after(prompt, "Prompt:").value_or(0.0);
            } else if (const std::string_view answer = from_label(line, "Generation:"); !answer.empty()) {
                add(run, number_after(answer, "Generation:").value_or(0.0), number_after(answer, "tokens,").value_or(0.0));
            }
            return true;
        }
        if (says(line, "eval count:") || says(line, "eval rate:")) {
            run.format("what ollama prints");
            run.engine("llama.cpp");
            if (says(line, "prompt eval count:")) {
                prompt_ = number_after(line, "eval count:").value_or(0.0);
            } else if (says(line, "eval count:")) {
                answer_ = number_after(line, "eval count:").value_or(0.0);
            } else if (!says(line, "prompt eval rate:")) {
                add(run, answer_, number_after(line, "eval rate:").value_or(0.0));
            }
            return true;
        }
        if (says(line, " tokens generated in ") && says(line, "Generate: ") && says(line, " T/s")) {
            run.format("a log of TabbyAPI");
            run.engine("exllamav3");
            prompt_ = number_after(line, "Context: ").value_or(0.0);
            add(run, number_after(line, "): ").value_or(0.0), number_after(line, "Generate: ").value_or(0.0));
            return true;
        }
        return false;
    }
    void finish(RunBuilder&) override {}

private:
    /// An answer of `tokens` at so many a second; the first one comes from the prompt.
    void add(RunBuilder& run, double tokens, double rate) {
        if (!(rate > 0.0) || !(tokens > 1.0)) {
            return run.problem("lacks the tokens or the rate of an answer");
        }
        const int drafts = std::max(0, run.draft_tokens_or(0));
        RunCell& cell = run.cell_of_request(1.0, drafts, prompt_ + 0.5 * tokens, tokens);
        run.time(cell.tpot, "a time per token", 1.0 / rate, tokens);
        prompt_ = answer_ = 0.0;
    }

    double prompt_ = 0.0, answer_ = 0.0;
};

constexpr const char* accepted_predictions = "usage.completion_tokens_details.accepted_prediction_tokens";
constexpr const char* rejected_predictions = "usage.completion_tokens_details.rejected_prediction_tokens";

bool is_answer_with_predictions(const RunJson& json) {
    return number_at(json, accepted_predictions).value_or(0.0) + number_at(json, rejected_predictions).value_or(0.0) > 0.0;
}

void read_answer_with_predictions(const RunJson& json, RunBuilder& run) {
    run.model(text_at(json, "model"));
    const double tokens = number_at(json, "usage.completion_tokens").value_or(0.0),
                 rate = number_at(json, "usage.completion_tokens_per_sec").value_or(0.0),
                 accepted = number_at(json, accepted_predictions).value_or(0.0),
                 rejected = number_at(json, rejected_predictions).value_or(0.0);
    if (!(tokens > 0.0) || accepted < 0.0 || rejected < 0.0) {
        return run.problem("must give completion_tokens above 0, and no predictions below 0");
    }
    LlamaGeneration of;
    of.predicted = tokens;
    of.drafted = accepted + rejected;
    of.accepted = accepted;
    of.context = number_at(json, "usage.prompt_tokens").value_or(0.0) + 0.5 * tokens;
    if (rate > 0.0) {
        of.milliseconds = 1e3 * tokens / rate;
        return add_llama_generation(run, of);
    }
    AcceptanceCounts counts;
    counts.drafts = rounds_of(of);
    counts.drafted = of.drafted;
    counts.accepted = accepted;
    if (counts.drafts < 1.0) {
        return run.remark("Answers that end in their first draft hold no whole round and were left out.");
    }
    const auto drafts = static_cast<int>(std::max(1L, std::lround(std::min(1e6, counts.draft_length()))));
    run.count(run.cell(0.0, run.draft_tokens_or(drafts)), counts);
}

}  // namespace

std::vector<JsonFormat> local_answers() {
    return {{"an answer that counts predictions (OpenAI's form)", is_answer_with_predictions, read_answer_with_predictions}};
}

std::unique_ptr<LineReader> local_runners() { return std::make_unique<LocalRunner>(); }

}  // namespace treeline::runs::run_formats_of
