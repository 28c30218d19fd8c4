// What programs of local users print at the end of an answer: mlx_lm.generate (ml-explore/mlx-lm, generate.py), ollama run
// --verbose, llama-cli, TabbyAPI ("Metrics (ID: ...)", common/gen_logging.py), none of which says what was accepted; and
// answers that count predictions as OpenAI's API does, which TabbyAPI fills in with drafts (pull request 452).
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "runs/builder.h"
#include "runs/formats/llama_generation.h"
#include "runs/formats/load_table.h"
#include "runs/formats/report_caption.h"
#include "runs/formats/stated_lengths.h"
#include "runs/log_lines.h"

namespace treeline::runs::run_formats_of {
namespace {

bool holds_text(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

class LocalRunner : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (holds_text(line, " tokens-per-sec")) {
            run.format("what mlx_lm prints");
            run.engine("mlx");
            in_answer_ = false;
            if (const std::string_view prompt = from_label(line, "Prompt:"); !prompt.empty()) {
                prompt_ = number_after(prompt, "Prompt:").value_or(0.0);
            } else if (const std::string_view answer = from_label(line, "Generation:"); !answer.empty()) {
                caption_.take(line.substr(0, line.size() - answer.size()));
                stated_ = caption_.stated();
                add(run, number_after(answer, "Generation:").value_or(0.0), number_after(answer, "tokens,").value_or(0.0));
            }
            return true;
        }
        if (holds_text(line, "eval count:") || holds_text(line, "eval rate:")) {
            run.format("what ollama prints");
            run.engine("llama.cpp");
            if (holds_text(line, "prompt eval count:")) {
                prompt_ = number_after(line, "eval count:").value_or(0.0);
            } else if (holds_text(line, "eval count:")) {
                answer_ = number_after(line, "eval count:").value_or(0.0);
            } else if (!holds_text(line, "prompt eval rate:")) {
                add(run, answer_, number_after(line, "eval rate:").value_or(0.0));
            }
            return true;
        }
        if (holds_text(line, " tokens generated in ") && holds_text(line, "Generate: ") && holds_text(line, " T/s")) {
            run.format("a log of TabbyAPI");
            run.engine("exllamav3");
            prompt_ = number_after(line, "Context: ").value_or(0.0);
            rate_of_drafts_ = drafts_accepted(line);
            add(run, number_after(line, "): ").value_or(0.0), number_after(line, "Generate: ").value_or(0.0));
            return true;
        }
        if (holds_text(line, "[ Prompt: ") && holds_text(line, "| Generation: ") && holds_text(line, " t/s ]")) {
            run.format("what llama-cli prints");
            run.engine("llama.cpp");
            add_rate(run, number_after(line, "| Generation: ").value_or(0.0));
            return true;
        }
        commanded_ = commanded_ || holds_text(line, "llama-cli ");
        if (line == rule_of_answer) {
            in_answer_ = !in_answer_;
        } else if (!in_answer_) {
            caption_.take(line);
        }
        return false;
    }
    void finish(RunBuilder&) override {}

private:
    /// The share of drafts accepted, as a line says it: "Draft ...: 68.4%", or "250 accepted, 50 rejected"; below 0 where it
    /// speaks of no drafts, 0 where it gives no share.
    static double drafts_accepted(std::string_view line) {
        const std::size_t at = std::min(line.find("Draft"), line.find("draft"));
        if (at == std::string_view::npos) {
            return -1.0;
        }
        const std::string_view rest = line.substr(at);
        if (const std::size_t percent = rest.find('%'); percent != std::string_view::npos) {
            const std::size_t before = rest.find_last_not_of("0123456789. ", percent - 1);
            return number_after(rest.substr(before + 1), "").value_or(0.0) / 100.0;
        }
        const auto before = [&](std::string_view word) {
            const std::size_t end = rest.find(word);
            const std::size_t digits = end == std::string_view::npos || end < 2 ? end : rest.find_last_of(" (:,", end - 2);
            return digits == std::string_view::npos ? 0.0 : number_after(rest.substr(digits + 1), "").value_or(0.0);
        };
        const double accepted = before("accepted"), rejected = before("rejected");
        return accepted + rejected > 0.0 ? accepted / (accepted + rejected) : 0.0;
    }

    /// llama-cli's "[ Prompt: 196.3 t/s | Generation: 47.6 t/s ]", of the command or the words above it. Without either,
    /// --draft-tokens says what it drafts.
    void add_rate(RunBuilder& run, double rate) {
        const StatedDrafts& stated = caption_.stated();
        const bool drafting = stated.drafting || run.command_drafts() || run.stated_draft_tokens() > 0;
        int drafts = stated.tokens == 0 ? 0 : drafting || !commanded_ ? run.draft_tokens_or(stated.tokens) : 0;
        if (drafts < 0 && drafting) {
            return run.lacks_draft_tokens(
                "was measured with drafts, but nothing says how many tokens were drafted; --draft-tokens K says it");
        }
        drafts = std::max(0, drafts);
        caption_.end_report();
        if (!(rate > 0.0)) {
            return run.problem("lacks the rate of an answer");
        }
        run.time(run.cell(run.batch_or(1.0), drafts).tpot, "a time per token", 1.0 / rate);
    }

    /// An answer of `tokens` at so many a second; the first one comes from the prompt.
    void add(RunBuilder& run, double tokens, double rate) {
        if (!(rate > 0.0) || !(tokens > 1.0)) {
            return run.problem("lacks the tokens or the rate of an answer");
        }
        const StatedDrafts stated = std::exchange(stated_, {});
        caption_.end_report();
        const int drafts = stated.tokens == 0 ? 0 : std::max(0, run.draft_tokens_or(std::max(0, stated.tokens)));
        const double accepted = std::exchange(rate_of_drafts_, -1.0);
        if ((accepted >= 0.0 || stated.drafting) && drafts == 0) {
            return run.lacks_draft_tokens("speaks of drafts, but not of how many tokens; --draft-tokens K says it");
        }
        RunCell& cell = run.cell_of_request(1.0, drafts, prompt_ + 0.5 * tokens, tokens);
        if (accepted > 0.0 && accepted <= 1.0) {
            if (const double length = run.length_of_rate(accepted, drafts); length > 0.0) {
                run.count(cell, counts_of_mean(length, tokens, drafts));
            }
        }
        run.time(cell.tpot, "a time per token", 1.0 / rate, tokens);
        prompt_ = answer_ = 0.0;
    }

    static constexpr std::string_view rule_of_answer = "==========";  ///< mlx_lm's, above an answer and below it

    double prompt_ = 0.0, answer_ = 0.0;
    ReportCaption caption_;
    StatedDrafts stated_;           ///< by the caption of the answer that is read
    bool commanded_ = false;        ///< a command of llama-cli stands above
    bool in_answer_ = false;        ///< lines are what a model wrote
    double rate_of_drafts_ = -1.0;  ///< of the line that is read; below 0 where it has none
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

/// LM Studio's REST API: its statistics of an answer, with what was drafted of it.
bool is_lm_studio(const RunJson& json) {
    return number_at(json, "stats.tokens_per_second") && number_at(json, "usage.completion_tokens");
}

void read_lm_studio(const RunJson& json, RunBuilder& run) {
    const std::string runtime = text_at(json, "runtime.name");
    run.engine(runtime.starts_with("mlx") ? "mlx" : "llama.cpp");
    run.model(text_at(json, "model"));
    run.drafter(text_at(json, "stats.draft_model"));
    const double tokens = number_at(json, "usage.completion_tokens").value_or(0.0),
                 rate = number_at(json, "stats.tokens_per_second").value_or(0.0);
    if (!(tokens > 0.0) || !(rate > 0.0)) {
        return run.problem("must give completion_tokens and tokens_per_second above 0");
    }
    add_llama_generation(run, {.predicted = tokens,
                               .milliseconds = 1e3 * tokens / rate,
                               .drafted = number_at(json, "stats.total_draft_tokens_count").value_or(0.0),
                               .accepted = number_at(json, "stats.accepted_draft_tokens_count").value_or(0.0),
                               .context = number_at(json, "usage.prompt_tokens").value_or(0.0) + 0.5 * tokens});
}

/// What LM Studio's SDK calls `stats` of a prediction, in an answer or alone.
const RunJson* stats_of_sdk(const RunJson& json) {
    const RunJson* stats = node_at(json, "stats");
    stats = stats == nullptr ? &json : stats;
    return number_at(*stats, "tokensPerSecond") && number_at(*stats, "predictedTokensCount") ? stats : nullptr;
}

bool is_lm_studio_sdk(const RunJson& json) { return stats_of_sdk(json) != nullptr; }

void read_lm_studio_sdk(const RunJson& json, RunBuilder& run) {
    const RunJson& stats = *stats_of_sdk(json);
    run.drafter(text_at(stats, "usedDraftModelKey"));
    const double tokens = number_at(stats, "predictedTokensCount").value_or(0.0),
                 rate = number_at(stats, "tokensPerSecond").value_or(0.0);
    if (!(tokens > 0.0) || !(rate > 0.0)) {
        return run.problem("must give predictedTokensCount and tokensPerSecond above 0");
    }
    add_llama_generation(run, {.predicted = tokens,
                               .milliseconds = 1e3 * tokens / rate,
                               .drafted = number_at(stats, "totalDraftTokensCount").value_or(0.0),
                               .accepted = number_at(stats, "acceptedDraftTokensCount").value_or(0.0),
                               .context = number_at(stats, "promptTokensCount").value_or(0.0) + 0.5 * tokens});
}

/// A record of a measured load, whose keys are those of the columns of tables.
bool is_record_of_load(const RunJson& json) {
    bool timed = false, loaded = false;
    for (const auto& [key, value] : json.items()) {
        if (value.is_structured()) {
            return false;
        }
        const Role role = role_of(plain_words(key));
        timed = timed || is_time(role);
        const std::string setting = role == Role::setup && value.is_string() ? value.get<std::string>() : std::string();
        loaded = loaded || role == Role::drafts || role == Role::tree ||
                 (!setting.empty() && (drafts_of_setting(setting) >= 0 || names_drafter(plain_words(setting))));
    }
    return timed && loaded;
}

void read_record_of_load(const RunJson& json, RunBuilder& run) {
    std::vector<std::string> names, cells;
    for (const auto& [key, value] : json.items()) {
        names.push_back(key);
        cells.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
    }
    LoadTable table(std::move(names), TableCaption(), "records of measured loads");
    if (!cells.empty() && !table.take(std::move(cells), run)) {
        run.problem(table.why_not().empty() ? "holds no measured load" : table.why_not());
    }
}

}  // namespace

std::vector<JsonFormat> local_answers() {
    return {{"an answer with the statistics of LM Studio", is_lm_studio, read_lm_studio},
            {"statistics of LM Studio's SDK", is_lm_studio_sdk, read_lm_studio_sdk},
            {"records of measured loads", is_record_of_load, read_record_of_load},
            {"an answer that counts predictions (OpenAI's form)", is_answer_with_predictions, read_answer_with_predictions}};
}

std::unique_ptr<LineReader> local_runners() { return std::make_unique<LocalRunner>(); }

}  // namespace treeline::runs::run_formats_of
