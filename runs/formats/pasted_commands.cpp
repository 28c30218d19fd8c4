// Commands of servers that people paste above what they measured: how many tokens the server drafts, where its log or the
// client's report does not say it, and of what deployment they are. Each command holds up to the next.
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <utility>

#include "runs/builder.h"
#include "runs/formats/command_flags.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/pipe_cells.h"
#include "runs/formats/sglang_counts.h"
#include "runs/formats/stated_lengths.h"
#include "text/plain_text.h"

namespace treeline::runs::run_formats_of {
namespace {

bool holds_any(std::string_view line, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

/// The number after "--flag " or "--flag=".
std::optional<double> flag_in(std::string_view line, const std::string& flag) {
    const auto apart = number_after(line, flag + " ");
    return apart ? apart : number_after(line, flag + "=");
}

/// The value of the first of some flags that a line has; 0 without.
double value_of_flags(std::string_view line, std::initializer_list<const char*> flags) {
    for (const char* flag : flags) {
        if (const auto value = flag_in(line, flag)) {
            return *value;
        }
    }
    return 0.0;
}

bool holds_draft_flag(std::string_view text) {
    return holds_any(text, {"--spec", "--draft-", "--num-draft-tokens", "--model-draft", " -md ", " -sc"});
}

/// Whether a line of a command leaves open what it gives: a variable of the shell, or a file of settings.
bool leaves_settings_open(std::string_view line) {
    for (std::size_t at = line.find('$'); at != std::string_view::npos; at = line.find('$', at + 1)) {
        if (at + 1 < line.size() && (line[at + 1] == '{' || std::isalpha(static_cast<unsigned char>(line[at + 1])) != 0)) {
            return true;
        }
    }
    return holds_any(line, {"config", "options", "preset", "--args"});
}

/// Of a row of a table, the cells that hold flags of drafts: numbers beside them are none of the command.
std::string command_in(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] != '|') {
        return std::string(line);
    }
    std::string command;
    for (const std::string& cell : cells_of_row(line.substr(first))) {
        command += holds_draft_flag(" " + cell) ? " " + cell : "";
    }
    return command;
}

/// Requests that a client keeps in flight: as many as it may, or all of them where they come at once.
double in_flight(std::string_view line) {
    constexpr double most_at_once = 256.0;  // that servers admit by default
    const double most = value_of_flags(line, {"--max-concurrency", "--concurrency"}),
                 all = value_of_flags(line, {"--num-prompts", "--num-prompt"}), rate = value_of_flags(line, {"--request-rate"});
    const bool at_once = all <= most_at_once && (rate == 0.0 || rate >= all);  // "inf" is no number
    return most > 0.0 ? most : at_once ? all : 0.0;
}

/// The command of a benchmark's client in a line (`vllm bench serve`, SGLang's bench_serving): its requests' lengths and how
/// many run at once.
void take_client(std::string_view line, RunBuilder& run) {
    const double prompt = value_of_flags(line, {"--random-input-len", "--random-input", "--input-len"}),
                 output = value_of_flags(line, {"--random-output-len", "--random-output", "--output-len"});
    if (prompt > 0.0 && output > 0.0) {
        run.client({in_flight(line), prompt, output});
    }
}

class PastedCommands : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        constexpr std::size_t longest_command = 1u << 16;
        line = text::head(line, longest_command);
        take_client(line, run);
        if (!goes_on_) {
            judge(run);
        }
        if (const std::string engine = engine_of_command(line); !engine.empty()) {
            engine_ = engine;
            goes_on_ = true;
            steps_ = top_k_ = tokens_ = std::nullopt;
            drafts_nothing_ = true;
            run.command_drafts(false);
            run.command_is_plain(false);
            if (std::exchange(stated_, false)) {
                run.draft_tokens(-1);
            }
        }
        if (goes_on_) {
            const RunIdentity said = identity_of_flags(line, engine_);
            run.command(said);
            run.command_drafts(run.command_drafts() || !said.method.empty());
            goes_on_ = line.find_last_not_of(" \t") != std::string_view::npos && line[line.find_last_not_of(" \t")] == '\\';
            drafts_nothing_ = drafts_nothing_ && said.method.empty() && !holds_draft_flag(line) && !leaves_settings_open(line);
            run.command_is_plain(drafts_nothing_ && !goes_on_);
        }
        if (!holds_draft_flag(line)) {
            return false;
        }
        const std::string command = command_in(line);
        const auto steps = flag_in(command, "--speculative-num-steps"), top_k = flag_in(command, "--speculative-eagle-topk"),
                   tokens = flag_in(command, "--speculative-num-draft-tokens");
        steps_ = steps ? steps : steps_;
        top_k_ = top_k ? top_k : top_k_;
        tokens_ = tokens ? tokens : tokens_;
        if (steps || top_k || tokens) {
            const SglangDraft draft = sglang_draft(steps_, top_k_, tokens_);
            state(draft.draft_tokens(), run);
            if (draft.draft_tokens() > 0) {
                run.draft(draft);
            }
            unjudged_ = draft;
        } else if (const int drafts = drafts_of_caption(command); drafts > 0) {
            state(drafts, run);
            unjudged_ = {0, 1, drafts + 1};
        }
        return false;
    }
    void finish(RunBuilder& run) override { judge(run); }

private:
    void state(int drafts, RunBuilder& run) {
        stated_ = true;
        run.draft_tokens(drafts);
    }

    /// Once all lines of a command are read, what it drafts is set against what the user says.
    void judge(RunBuilder& run) { run.agree_with_hint(std::exchange(unjudged_, {})); }

    SglangDraft unjudged_;         ///< of the command that is read
    std::string engine_;           ///< whose command the line before began or went on with
    bool drafts_nothing_ = false;  ///< no line of that command asks for drafts
    bool goes_on_ = false;         ///< the line is of that command: the one before ends in "\\"
    std::optional<double> steps_, top_k_, tokens_;
    bool stated_ = false;  ///< a command before this line says how many tokens are drafted
};

}  // namespace

std::unique_ptr<LineReader> pasted_commands() { return std::make_unique<PastedCommands>(); }

}  // namespace treeline::runs::run_formats_of
