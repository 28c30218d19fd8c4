#include "requests/loop/import_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "requests/load_matrix.h"
#include "runs/scrape.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline::requests {
namespace {

constexpr double longest_wait = 86'400.0;

double number_of_flag(const FlagTexts& flags, const char* path, const char* name, double low, double high, double fallback) {
    const std::string& text = given(flags, path);
    if (text.empty()) {
        return fallback;
    }
    const std::optional<double> value = text::parse_number(text);
    if (!value || *value < low || *value > high) {
        throw text::InputError({fmt::format("{}: must be a number from {} to {}, not \"{}\"", name, text::short_text(low),
                                            text::short_text(high), text)});
    }
    return *value;
}

runs::RunHints hints_of(const FlagTexts& flags) {
    runs::RunHints hints;
    hints.identity = {given(flags, "run.engine"),  "", given(flags, "run.model"),
                      given(flags, "run.drafter"), "", given(flags, "run.device")};
    hints.draft_tokens =
        static_cast<int>(number_of_flag(flags, "run.draft_tokens", "--draft-tokens", 0, sim::most_draft_tokens, -1));
    if (const std::string& shape = given(flags, "run.shape"); !shape.empty()) {
        const std::optional<runs::SglangDraft> tree = runs::sglang_draft_of(shape);
        if (!tree || hints.draft_tokens >= 0) {
            throw text::InputError(
                {hints.draft_tokens >= 0
                     ? "--shape: says how many tokens are drafted, and so does --draft-tokens; give one"
                     : fmt::format("--shape: must be a tree of SGLang, \"sglang:STEPS,TOPK,TOKENS\" with a top-k "
                                   "above 1, not \"{}\"; a chain is --draft-tokens K",
                                   shape)});
        }
        hints.tree = *tree;
    }
    hints.batch = number_of_flag(flags, "run.batch", "--batch", 1, sim::largest_batch, 0);
    hints.context = number_of_flag(flags, "run.context", "--context", 1, sim::longest_context, 0);
    return hints;
}

/// A matrix of loads is told from a file that nobody knows.
runs::MeasuredRun imported(const std::vector<std::string>& files, const runs::RunHints& hints) {
    try {
        return runs::import_runs(files, hints);
    } catch (const runs::UnknownFormat&) {
        std::for_each(files.begin(), files.end(), refuse_matrix);
        throw;
    }
}

}  // namespace

const std::vector<KeyFlag>& import_flags() {
    static const std::vector<KeyFlag> flags = {
        {"--from", "URL", "run.from", "A live server: reads /metrics and /server_info (http://localhost:8000)"},
        {"--seconds", "N", "run.seconds",
         "With --from: reads its counters twice, so long apart (default 0: since the server started)"},
        {"--engine", "NAME", "run.engine", "Engine, where no file says it"},
        {"--model", "NAME", "run.model", "Model, where no file says it"},
        {"--drafter", "NAME", "run.drafter", "Drafter, where no file says it"},
        {"--device", "NAME", "run.device", "Device, which no file says"},
        {"--draft-tokens", "K", "run.draft_tokens",
         "Draft tokens, root excluded, where no file says it (SGLang's count less one)"},
        {"--shape", "SHAPE", "run.shape",
         "The tree that SGLang drafts, where no file says it: sglang:STEPS,TOPK,TOKENS, in the words of its flags"},
        {"--batch", "N", "run.batch", "Requests in flight, where no file says it"},
        {"--context", "TOKENS", "run.context", "Mean tokens of a sequence while it decodes, where no file says it"},
    };
    return flags;
}

runs::MeasuredRun import_requested(const std::vector<std::string>& files, const FlagTexts& flags) {
    const runs::RunHints hints = hints_of(flags);
    const double seconds = number_of_flag(flags, "run.seconds", "--seconds", 0, longest_wait, 0);
    const std::string& from = given(flags, "run.from");
    if (files.empty() && from.empty()) {
        throw text::InputError(
            {"import: needs files of a run, or a server (--from http://host:port); see treeline import --help"});
    }
    if (!given(flags, "run.seconds").empty() && from.empty()) {
        throw text::InputError({"--seconds: is the time between two looks at a server, so it needs --from"});
    }
    std::vector<runs::MeasuredRun> runs;
    if (!files.empty()) {
        runs.push_back(imported(files, hints));
    }
    if (!from.empty()) {
        runs.push_back(runs::scrape_run(from, seconds, hints));
    }
    return runs::joined(runs);
}

}  // namespace treeline::requests
