// Tables of measurements as people put them into issues and pull requests: a load or a draft length in each row, whatever its
// columns are called ("| n-max | tok/s | accept rate |", "| Concurrency | Baseline tok/s | MTP tok/s | AL |"), between bars of
// Markdown or of a printed box. Columns are told by their words, and by the units of the first row.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/pipe_cells.h"
#include "sim/input_limits.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

using Words = std::vector<std::string>;

enum class Role {
    none,
    setup,
    batch,
    drafts,
    tree,
    context,
    prompt,
    output,
    tpot,
    ttft,
    rate,
    rate_of_user,
    length,
    accept_rate
};

struct Column {
    Role role = Role::none;
    bool plain = false;  ///< of the same deployment without speculation
    bool mean = false;
};

/// Letters and digits in lower case, single blanks between them: "Mean TPOT (ms)" is "mean tpot ms".
std::string plain_words(std::string_view name) {
    std::string words;
    for (const char letter : name) {
        const auto c = static_cast<unsigned char>(letter);
        if (std::isalnum(c) != 0) {
            words += static_cast<char>(std::tolower(c));
        } else if (!words.empty() && words.back() != ' ') {
            words += ' ';
        }
    }
    return words.substr(0, words.find_last_not_of(' ') + 1);
}

/// Whether `words` holds `phrase` as whole words.
bool says(const std::string& words, std::string_view phrase) {
    const std::string padded = " " + words + " ";
    return padded.find(" " + std::string(phrase) + " ") != std::string::npos;
}

bool says_any(const std::string& words, const Words& phrases) {
    return std::any_of(phrases.begin(), phrases.end(), [&](const std::string& phrase) { return says(words, phrase); });
}

bool is_any(const std::string& words, const Words& names) {
    return std::find(names.begin(), names.end(), words) != names.end();
}

/// A cell, a heading or a setting that means decoding without drafts.
bool means_plain(const std::string& words) {
    static const Words plain = {"baseline", "plain",    "ar",       "no spec", "none",          "off",        "vanilla",
                                "without",  "no mtp",   "no draft", "n a",     "disabled",      "no drafter", "no speculation",
                                "base",     "spec off", "mtp off",  "no",      "autoregressive"};
    return says_any(words, plain);
}

Role role_of(const std::string& words) {
    static const Words batches = {"concurrency",
                                  "conc",
                                  "max concurrency",
                                  "batch",
                                  "batch size",
                                  "bs",
                                  "np",
                                  "parallel",
                                  "n parallel",
                                  "users",
                                  "requests in flight",
                                  "slots",
                                  "streams",
                                  "concurrent requests",
                                  "concurrent users",
                                  "num concurrent"};
    static const Words drafts = {"k",
                                 "n max",
                                 "n",
                                 "draft n max",
                                 "spec draft n max",
                                 "draft max",
                                 "drafts",
                                 "draft tokens",
                                 "spec tokens",
                                 "draft n",
                                 "num speculative tokens",
                                 "gamma",
                                 "draft len",
                                 "draft length",
                                 "mtp n",
                                 "mtp",
                                 "speculative tokens",
                                 "steps",
                                 "num steps",
                                 "nextn",
                                 "n draft",
                                 "spec n max",
                                 "num spec tokens",
                                 "depth n",
                                 "speculative num steps",
                                 "draft depth",
                                 "mtp depth",
                                 "spec steps"};
    static const Words contexts = {"context", "ctx", "depth", "context length", "ctx len", "n ctx", "context tokens"};
    static const Words prompts = {"isl", "input len", "input length", "prompt tokens", "input tokens", "prompt len", "prompt"};
    static const Words outputs = {"osl", "output len", "output length", "output tokens", "generated tokens"};
    static const Words setups = {"config",  "configuration", "setup",   "mode", "method",
                                 "drafter", "spec",          "variant", "run",  "speculation"};
    static const Words others = {"p50",    "p90", "p95",     "p99",   "min",   "max", "std",
                                 "prompt", "pp",  "prefill", "input", "total", "peak"};
    static const Words rates = {
        "tok s", "t s", "tk s", "tps", "tokens s", "token s", "tokens sec", "tok sec", "tokens per second"};
    const bool of_accepting = says_any(words, {"accept", "acceptance", "acc", "accepted"});
    if (is_any(words, batches)) {
        return Role::batch;
    }
    if (is_any(words, {"speculative num draft tokens", "num draft tokens"})) {
        return Role::tree;
    }
    const bool of_drafts = says_any(words, {"draft", "spec", "dflash", "dspark", "mtp", "eagle", "eagle3", "nextn"});
    if (is_any(words, drafts) || (of_drafts && words.ends_with(" tokens"))) {
        return Role::drafts;
    }
    if (is_any(words, contexts)) {
        return Role::context;
    }
    if (is_any(words, prompts) || is_any(words, outputs)) {
        return is_any(words, prompts) ? Role::prompt : Role::output;
    }
    if (is_any(words, setups)) {
        return Role::setup;
    }
    if ((of_accepting && says_any(words, {"len", "length"})) ||
        is_any(words, {"al", "tau", "mean len", "tokens step", "tok step", "tokens iter", "tok iter", "tokens per step"})) {
        return Role::length;
    }
    if (of_accepting && (says(words, "rate") || is_any(words, {"accept", "acceptance", "draft acceptance", "accepted"}))) {
        return Role::accept_rate;
    }
    if (says_any(words, others)) {
        return Role::none;
    }
    if (says_any(words, {"tpot", "ms tok", "ms token", "time per output token"})) {
        return Role::tpot;
    }
    if (says(words, "ttft") || says(words, "time to first token")) {
        return Role::ttft;
    }
    if (says_any(words, rates)) {
        return says_any(words, {"user", "req", "request", "slot", "stream"}) ? Role::rate_of_user : Role::rate;
    }
    return Role::none;
}

/// What follows the number of a cell, without its spread or a remark in brackets: "204.27 tok/s" has "tok/s".
std::string unit_of(const std::string& cell) {
    const std::size_t digits = cell.find_first_of("0123456789");
    if (digits != 0) {
        return {};
    }
    std::string unit = cell.substr(std::min(cell.find_first_not_of("0123456789.,"), cell.size()));
    unit = unit.substr(0, unit.find_first_of("(\xC2"));  // "±" begins with the byte C2
    return unit;
}

/// "8,192", "8K", "1.5k": a number with thousands; nothing where the cell begins with none.
std::optional<double> number_of(std::string cell) {
    cell.erase(std::remove(cell.begin(), cell.end(), ','), cell.end());
    const std::optional<double> number = number_after(cell, "");
    const std::size_t after = cell.find_first_not_of("0123456789. ");
    const bool thousands = number && after != std::string::npos && after > 0 && (cell[after] == 'k' || cell[after] == 'K');
    return thousands ? std::optional(*number * 1024.0) : number;
}

class LoadTables : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (only_draws(line)) {
            return false;
        }
        const std::string bars = with_plain_bars(line);
        const std::size_t first = bars.find('|'), last = bars.find_last_not_of(" \t\r");
        std::vector<std::string> cells =
            first == std::string::npos || bars[last] != '|' ? std::vector<std::string>() : cells_of_row(bars.substr(first));
        if (cells.size() < 2) {
            names_.clear();
            return false;
        }
        if (cells.size() == names_.size()) {
            return take_row(std::move(cells), run);
        }
        names_ = std::move(cells);
        columns_.clear();
        return false;  // whether it is a heading is not known yet
    }
    void finish(RunBuilder&) override {}

private:
    bool take_row(std::vector<std::string> cells, RunBuilder& run) {
        row_ = std::move(cells);
        if (columns_.empty() && !understand(run)) {
            names_.clear();
            return false;
        }
        run.format("a table of measured loads");
        for (const bool plain : {true, false}) {
            if (has_times(plain)) {
                add(plain, run);
            }
        }
        return true;
    }

    /// The columns' roles by the headings and the first row's units; false where they do not make a table of loads.
    bool understand(RunBuilder& run) {
        std::vector<Column> columns;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::string name = plain_words(names_[i]), with_unit = plain_words(names_[i] + " " + unit_of(row_[i]));
            Column column{name.empty() ? Role::none : role_of(with_unit), means_plain(name), says(name, "mean")};
            column.role = column.role == Role::none ? role_of(name) : column.role;
            columns.push_back(column);
        }
        columns_ = std::move(columns);
        leave_out_further_drafters(run);
        const bool timed = has_times(false) || has_times(true);
        const bool loaded = has(Role::batch) || has(Role::drafts) || has(Role::tree) || has(Role::context) ||
                            has(Role::length) || has(Role::accept_rate);
        if (!timed || !loaded) {
            if (std::any_of(row_.begin(), row_.end(), [](const std::string& cell) { return number_of(cell).has_value(); })) {
                run.unread(fmt::format("its table of {} has no column of {}", text::listed(headings(), "and"),
                                       timed ? "requests in flight, draft tokens, context or accept length"
                                             : "times per token (TPOT, in ms) or of tokens/s"));
            }
            columns_.clear();
        }
        return timed && loaded;
    }

    [[nodiscard]] std::vector<std::string> headings() const {
        std::vector<std::string> quoted;
        for (const std::string& name : names_) {
            quoted.push_back("\"" + name + "\"");
        }
        return quoted;
    }

    /// A run is of one deployment: of columns that say the same of several drafters, none is taken.
    void leave_out_further_drafters(RunBuilder& run) {
        for (const Role role : {Role::rate, Role::rate_of_user, Role::tpot}) {
            std::vector<std::string> same;
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                if (columns_[i].role == role && !columns_[i].plain) {
                    same.push_back("\"" + names_[i] + "\"");
                }
            }
            if (same.size() < 2) {
                continue;
            }
            for (Column& column : columns_) {
                column.role = column.role == role && !column.plain ? Role::none : column.role;
            }
            run.remark(
                fmt::format("{}: the columns {} were left out: a run is of one deployment; leave one of them in the table",
                            run.file(), text::listed(same, "and")));
        }
    }

    [[nodiscard]] bool has(Role role) const { return has(role, false) || has(role, true); }
    [[nodiscard]] bool has(Role role, bool plain) const { return at(role, plain) < columns_.size(); }
    [[nodiscard]] bool has_times(bool plain) const {
        return has(Role::tpot, plain) || has(Role::rate, plain) || has(Role::rate_of_user, plain);
    }

    /// The column of a role; the mean where several are.
    [[nodiscard]] std::size_t at(Role role, bool plain) const {
        std::size_t found = columns_.size();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool fits = columns_[i].role == role && columns_[i].plain == plain;
            found = fits && (found == columns_.size() || (columns_[i].mean && !columns_[found].mean)) ? i : found;
        }
        return found;
    }

    [[nodiscard]] std::string cell(Role role, bool plain = false) const {
        const std::size_t column = at(role, plain);
        return column < row_.size() ? row_[column] : std::string();
    }
    [[nodiscard]] double number(Role role, bool plain = false) const { return number_of(cell(role, plain)).value_or(0.0); }

    /// Of the row, by its own column or by what it says of its setting ("MTP n=3", "baseline"); below 0 where it says nothing.
    [[nodiscard]] int drafts_of_row() const {
        if (const auto tokens = number_of(cell(Role::tree))) {
            return static_cast<int>(std::clamp(*tokens - 1.0, 0.0, 1e6));  // the root is one of them
        }
        for (const Role role : {Role::drafts, Role::setup}) {
            const std::string text = cell(role), words = plain_words(text);
            if (const auto count = number_of(text); count && role == Role::drafts) {
                return static_cast<int>(std::clamp(*count, 0.0, 1e6));
            }
            for (const char* before : {"n max", "num speculative tokens", "tokens", "drafts", "draft", "n", "k", "mtp"}) {
                const std::size_t found = (" " + words).find(" " + std::string(before) + " ");
                const auto count =
                    found == std::string::npos
                        ? std::nullopt
                        : number_after(std::string_view(words).substr(found + std::string_view(before).size()), "");
                if (count && *count >= 1.0 && *count <= sim::most_draft_tokens) {
                    return static_cast<int>(*count);
                }
            }
            if (!text.empty() && (means_plain(words) || (words.empty() && role == Role::drafts))) {
                return 0;
            }
        }
        return -1;
    }

    void add(bool plain, RunBuilder& run) {
        const double rate = number(Role::rate, plain), of_user = number(Role::rate_of_user, plain),
                     each = number(Role::tpot, plain) * 1e-3;
        if (!(rate > 0.0) && !(of_user > 0.0) && !(each > 0.0)) {
            return run.problem("is a row of a table without a time per token or tokens/s above 0");
        }
        double batch = number(Role::batch);
        if (!(batch >= 1.0)) {
            batch = run.batch_or(1.0);
            run.remark(fmt::format("{}: the table states no requests in flight; {} {} assumed (--batch says another number)",
                                   run.file(), batch, batch > 1.0 ? "are" : "is"));
        }
        const int stated = plain ? 0 : drafts_of_row();
        double length = plain || stated == 0 ? 0.0 : number(Role::length);
        double accepted = plain || stated == 0 ? 0.0 : number(Role::accept_rate);
        accepted *= accepted > 1.0 || cell(Role::accept_rate).find('%') != std::string::npos ? 0.01 : 1.0;
        const bool drafting = length > 1.0 || accepted > 0.0 || stated > 0;
        const int drafts = stated >= 0 ? stated : std::max(0, run.draft_tokens_or(0));
        if (drafting && drafts <= 0) {
            return run.problem(
                "gives an accept length or rate, but not how many tokens were drafted; --draft-tokens K says it");
        }
        length = length > 1.0 ? length : accepted > 0.0 ? 1.0 + drafts * accepted : 0.0;
        if (length > drafts + 1.0) {
            return run.problem(
                fmt::format("gives an accept length of {:.2f} of {} draft tokens, which is more than can be", length, drafts));
        }
        const double prompt = number(Role::prompt), output = number(Role::output);
        RunCell& at = run.cell(batch, drafts, has(Role::context) ? number(Role::context) : prompt + 0.5 * output);
        at.concurrency = true;
        at.prompt_tokens = prompt;
        at.output_tokens = output;
        if (at.tpot.known()) {
            run.remark(run.file() +
                       ": rows of the same load and draft length were averaged; if other columns tell deployments "
                       "apart, give each a table of its own");
        }
        at.stated_length = drafts > 0 ? length : 0.0;
        run.time(at.tpot, "a time per token", each > 0.0 ? each : of_user > 0.0 ? 1.0 / of_user : batch / rate);
        if (const double first = number(Role::ttft, plain) * 1e-3; first > 0.0) {
            run.time(at.ttft, "a TTFT", first);
        }
        if (rate > 0.0) {
            at.tokens_per_second.add(rate);
        }
    }

    std::vector<std::string> names_, row_;
    std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<LineReader> load_tables() { return std::make_unique<LoadTables>(); }

}  // namespace treeline::runs::run_formats_of
