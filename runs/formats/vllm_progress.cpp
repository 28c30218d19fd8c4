// The progress lines of vLLM's offline generation: "Processed prompts: 100%|###| 10/10 [00:28<00:00, 2.85s/it, est. speed
// input: 48.08 toks/s, output: 74.31 toks/s]". All prompts are given at once, so that as many are in flight as the scheduler
// takes.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/report_caption.h"

namespace treeline::runs::run_formats_of {
namespace {

/// vLLM's default for offline generation: of more prompts it is not known how many are in flight.
constexpr double most_sequences = 256.0;

/// Whether a flag of a command asks for drafts: "--with_speculation True", "--speculative-model x".
bool asks_for_drafts(std::string_view command) {
    for (std::size_t at = command.find(" --"); at != std::string_view::npos; at = command.find(" --", at + 1)) {
        const std::string_view rest = command.substr(at + 3);
        const std::string words = plain_words(rest.substr(0, rest.find(" --")));
        if (words.find("spec") != std::string::npos && !words.ends_with(" false") && !words.ends_with(" none") &&
            !words.ends_with(" 0")) {
            return true;
        }
    }
    return false;
}

class VllmProgress : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        const std::size_t bar = line.find("Processed prompts: 100%");
        if (bar == std::string_view::npos || line.find("est. speed input:") == std::string_view::npos) {
            take_caption(line);
            return false;
        }
        const std::string_view text = line.substr(bar);
        const std::size_t count = text.find("| ", text.find('|') + 1);
        const auto prompts = count == std::string_view::npos ? std::nullopt : number_after(text.substr(count), "| "),
                   rate = number_after(text, "output:");
        if (!prompts || !rate || *rate <= 0.0) {
            return false;
        }
        run.format("the progress of vLLM's offline generation");
        run.engine("vllm");
        add(*prompts, *rate, run);
        caption_.end_report();
        return true;
    }
    void finish(RunBuilder&) override {}

private:
    void take_caption(std::string_view line) {
        const bool flags = line.find(" --") != std::string_view::npos && line.find("python") != std::string_view::npos;
        if (flags || is_command_line(line)) {
            command_drafts_ = asks_for_drafts(line);
            caption_ = {};
        }
        caption_.take(line);
    }

    void add(double prompts, double rate, RunBuilder& run) {
        const StatedDrafts& stated = caption_.stated();
        const bool drafting = stated.tokens > 0 || (stated.tokens < 0 && (stated.drafting || command_drafts_));
        const int drafts = drafting ? run.draft_tokens_or(stated.tokens) : 0;
        if (drafting && drafts <= 0) {
            return run.lacks_draft_tokens(
                "was measured with drafts, but nothing says how many tokens were drafted; --draft-tokens K says it");
        }
        const double batch = run.batch_or(prompts <= most_sequences ? prompts : 0.0);
        if (batch < 1.0) {
            return run.problem(
                fmt::format("gives the progress of {:g} prompts, of which not all were in flight at once; "
                            "--batch N says how many",
                            prompts));
        }
        run.remark(run.file() +
                   ": all prompts of a progress line are taken as in flight at once, from their first token to "
                   "the last of all; its rate is with their prompts");
        run.cell(batch, drafts).tokens_per_second.add(rate);
    }

    ReportCaption caption_;
    bool command_drafts_ = false;  ///< the last command asks for drafts
};

}  // namespace

std::unique_ptr<LineReader> vllm_progress() { return std::make_unique<VllmProgress>(); }

}  // namespace treeline::runs::run_formats_of
