// Tables of measurements as people put them into issues and pull requests: a load or a draft length in each row, whatever its
// columns are called ("| n-max | tok/s | accept rate |", "| Concurrency | Baseline tok/s | MTP tok/s | AL |"), between bars of
// Markdown or of a printed box. Columns are told by their words, and by the units of the first row.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/load_columns.h"
#include "runs/formats/pipe_cells.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

class LoadTables : public LineReader {
public:
    bool take(std::string_view line, RunBuilder& run) override {
        if (take_underline(line)) {
            return false;  // whether it is a heading is not known yet
        }
        if (only_draws(line)) {
            spans_.clear();
            return false;
        }
        const bool crosses = std::any_of(spans_.begin(), spans_.end(), [&](const auto& span) {
            return span.first > 0 && span.first < line.size() && line[span.first - 1] != ' ';
        });
        if (crosses) {
            spans_.clear();  // prose below the table
        }
        std::vector<std::string> cells = spans_.empty() ? cells_between_bars(line) : cells_below(line);
        last_line_ = line;
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
    static std::vector<std::string> cells_between_bars(std::string_view line) {
        const std::string bars = with_plain_bars(line);
        const std::size_t first = bars.find('|'), last = bars.find_last_not_of(" \t\r");
        return first == std::string::npos || bars[last] != '|' ? std::vector<std::string>() : cells_of_row(bars.substr(first));
    }

    /// A line of dashes in groups, one under each heading, which says where the columns of the lines below stand.
    bool take_underline(std::string_view line) {
        std::vector<std::pair<std::size_t, std::size_t>> spans;
        const bool only_dashes = line.find_first_not_of("- \t\r") == std::string_view::npos;
        for (std::size_t at = only_dashes ? line.find('-') : std::string_view::npos; at != std::string_view::npos;
             at = line.find('-', at)) {
            const std::size_t end = std::min(line.find_first_not_of('-', at), line.size());
            spans.emplace_back(at, end - at);
            at = end;
        }
        constexpr std::size_t most_columns = 64;
        if (!only_dashes || spans.size() < 2 || spans.size() > most_columns || spans.front().second < 2) {
            return false;
        }
        spans_ = std::move(spans);
        names_ = cells_below(last_line_);
        columns_.clear();
        return true;
    }

    [[nodiscard]] std::vector<std::string> cells_below(std::string_view line) const {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < spans_.size(); ++i) {
            const std::size_t begin = std::min(spans_[i].first, line.size());
            const std::size_t end = i + 1 < spans_.size() ? std::min(spans_[i + 1].first, line.size()) : line.size();
            const std::string_view cell = line.substr(begin, end - begin);
            const std::size_t first = std::min(cell.find_first_not_of(" \t\r"), cell.size());
            cells.emplace_back(cell.substr(first, cell.find_last_not_of(" \t\r") + 1 - first));
        }
        return cells;
    }

    bool take_row(std::vector<std::string> cells, RunBuilder& run) {
        row_ = std::move(cells);
        if (columns_.empty() && !understand(run)) {
            names_.clear();
            return false;
        }
        run.format("a table of measured loads");
        static const std::vector<std::string> sums = {"overall", "average", "avg", "mean", "total", "all"};
        if (rows_++ > 0 && std::find(sums.begin(), sums.end(), plain_words(row_.front())) != sums.end()) {
            return true;  // of the rows before it
        }
        if (has_times(true)) {
            add(true, run);
        }
        const std::vector<std::size_t> lengths = columns_of_lengths();
        for (const std::size_t column : lengths) {
            only_ = column;
            add(false, run);
        }
        only_.reset();
        if (lengths.empty() && (has_times(false) || !has_times(true))) {
            add(false, run);
        }
        return true;
    }

    static bool is_time(Role role) { return role == Role::rate || role == Role::rate_of_user || role == Role::tpot; }

    /// Where several columns of times name a draft length each: those columns.
    [[nodiscard]] std::vector<std::size_t> columns_of_lengths() const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (is_time(columns_[i].role) && !columns_[i].plain && columns_[i].drafts > 0) {
                found.push_back(i);
            }
        }
        return found.size() < 2 ? std::vector<std::size_t>() : found;
    }

    /// The columns' roles by the headings and the first row's units; false where they do not make a table of loads.
    bool understand(RunBuilder& run) {
        std::vector<Column> columns;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::string name = plain_words(names_[i]), with_unit = plain_words(names_[i] + " " + unit_of(row_[i]));
            Column column{name.empty() ? Role::none : role_of(with_unit), means_plain(name), says(name, "mean")};
            column.role = column.role == Role::none ? role_of(name) : column.role;
            column.drafts = drafts_of_setting(names_[i]);
            if (column.role == Role::none && column.drafts >= 0) {
                column.role = role_of(plain_words(unit_of(row_[i])));
            }
            column.plain = column.plain || (is_time(column.role) && column.drafts == 0);  // "n_max:0"
            columns.push_back(column);
        }
        columns_ = std::move(columns);
        rows_ = plain_rows_ = 0;
        settle_meanings();
        const std::string left_out = leave_out_further_drafters(run);
        const bool timed = has_times(false) || has_times(true), accepts = has(Role::length) || has(Role::accept_rate);
        const bool says_drafts = has(Role::drafts) || has(Role::tree) || drafts_of_row() >= 0;
        const bool loaded = has(Role::batch) || has(Role::context) || accepts || says_drafts ||
                            (has_times(false) && has_times(true)) || (has(Role::setup) && run.draft_tokens_or(0) > 0);
        // What `recommend` prints is predicted.
        const bool measured = std::find(names_.begin(), names_.end(), "tokens/s/device") == names_.end();
        const bool understood = measured && loaded && (timed || (accepts && says_drafts));
        if (!understood) {
            if (std::any_of(row_.begin(), row_.end(), [](const std::string& cell) { return number_of(cell).has_value(); })) {
                run.unread(left_out.empty()
                               ? fmt::format("its table of {} has no column of {}", text::listed(headings(), "and"),
                                             timed ? "requests in flight, draft tokens, context or accept length"
                                                   : "times per token (TPOT, in ms) or of tokens/s")
                               : left_out);
            }
            columns_.clear();
        }
        return understood;
    }

    /// What headings leave open, by the first row and by each other.
    void settle_meanings() {
        constexpr double longest = 17.0;  // an accept length beyond it is a rate in percent
        const bool trees =
            std::any_of(names_.begin(), names_.end(), [](const auto& name) { return is_of_trees(plain_words(name)); });
        std::size_t setting = columns_.size();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string name = plain_words(names_[i]);
            const std::optional<double> number = number_of(row_[i]);
            if (columns_[i].role == Role::context && trees && name == "depth") {
                columns_[i].role = Role::none;
            }
            const bool percent = row_[i].find('%') != std::string::npos || names_[i].find('%') != std::string::npos;
            if (columns_[i].role == Role::accept_rate && !says_rate(name) && !percent && number && *number > 1.0 &&
                *number <= longest) {
                columns_[i].role = Role::length;
            }
            const bool may_be_setting = columns_[i].role == Role::none && !names_something_else(name);
            if (may_be_setting && setting == columns_.size() && !number && drafts_of_setting(row_[i]) >= 0) {
                setting = i;
            }
        }
        if (setting < columns_.size() && !has(Role::setup)) {
            columns_[setting].role = Role::setup;
        }
    }

    [[nodiscard]] std::vector<std::string> headings() const {
        std::vector<std::string> quoted;
        for (const std::string& name : names_) {
            quoted.push_back("\"" + name + "\"");
        }
        return quoted;
    }

    /// A run is of one deployment: of columns that say the same of several drafters, none is taken. Returns why, or nothing.
    std::string leave_out_further_drafters(RunBuilder& run) {
        std::string why;
        for (const Role role : {Role::rate, Role::rate_of_user, Role::tpot}) {
            std::vector<std::string> same;
            int alike = 0;  // that name no draft length, or one that another names
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                const bool repeats =
                    columns_[i].drafts <= 0 ||
                    std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(i), [&](const Column& before) {
                        return before.role == role && !before.plain && before.drafts == columns_[i].drafts;
                    });
                if (columns_[i].role == role && !columns_[i].plain) {
                    alike += repeats ? 1 : 0;
                    same.push_back("\"" + names_[i] + "\"");
                }
            }
            if (same.size() < 2 || alike == 0) {
                continue;
            }
            for (Column& column : columns_) {
                column.role = column.role == role && !column.plain ? Role::none : column.role;
            }
            why = fmt::format("the columns {} were left out: a run is of one deployment; leave one of them in the table",
                              text::listed(same, "and"));
            run.remark(run.file() + ": " + why);
        }
        return why;
    }

    [[nodiscard]] bool has(Role role) const { return has(role, false) || has(role, true); }
    [[nodiscard]] bool has(Role role, bool plain) const { return at(role, plain) < columns_.size(); }
    [[nodiscard]] bool has_times(bool plain) const {
        return has(Role::tpot, plain) || has(Role::rate, plain) || has(Role::rate_of_user, plain);
    }

    /// The column of a role; the mean where several are.
    [[nodiscard]] std::size_t at(Role role, bool plain) const {
        std::size_t found = columns_.size();
        if (only_ && is_time(role) && !plain) {
            return columns_[*only_].role == role ? *only_ : found;
        }
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
        const std::string own = cell(Role::drafts);
        if (const auto count = number_of(own)) {
            return static_cast<int>(std::clamp(*count, 0.0, 1e6));
        }
        if (has(Role::drafts) && plain_words(own).empty()) {
            return 0;
        }
        for (const std::string& text : {own, cell(Role::setup), heading_of_times()}) {
            if (const int drafts = drafts_of_setting(text); drafts >= 0) {
                return drafts;
            }
        }
        return -1;
    }

    /// Where plain times stand beside them.
    [[nodiscard]] std::string heading_of_times() const {
        if (only_) {
            return names_[*only_];
        }
        for (const Role role : {Role::rate, Role::rate_of_user, Role::tpot}) {
            if (has(role, false) && has(role, true)) {
                return names_[at(role, false)];
            }
        }
        return {};
    }

    void add(bool plain, RunBuilder& run) {
        const double rate = mean_of_runs(cell(Role::rate, plain)).value_or(0.0),
                     of_user = mean_of_runs(cell(Role::rate_of_user, plain)).value_or(0.0),
                     each = mean_of_runs(cell(Role::tpot, plain)).value_or(0.0) * 1e-3;
        if (has_times(plain) && !(rate > 0.0) && !(of_user > 0.0) && !(each > 0.0)) {
            return run.problem("is a row of a table without a time per token or tokens/s above 0");
        }
        double batch = number(Role::batch);
        if (!(batch >= 1.0)) {
            batch = run.batch_or(1.0);
            run.remark(fmt::format("{}: the table states no requests in flight; {} {} assumed (--batch says another number)",
                                   run.file(), batch, batch > 1.0 ? "are" : "is"));
        }
        const int stated = plain ? 0 : drafts_of_row();
        const bool accepts = !plain && stated != 0 && !only_;  // a column of acceptance does not say of which length
        double length = accepts ? number(Role::length) : 0.0;
        double accepted = accepts ? number(Role::accept_rate) : 0.0;
        accepted *= accepted > 1.0 || cell(Role::accept_rate).find('%') != std::string::npos ? 0.01 : 1.0;
        plain_rows_ += has_times(true) || stated != 0 ? 0 : 1;
        const bool beside_plain = !plain && stated < 0 && (has_times(true) || plain_rows_ > 0);
        const bool drafting = length > 1.0 || accepted > 0.0 || stated > 0 || beside_plain;
        const int drafts = stated >= 0 ? stated : std::max(0, run.draft_tokens_or(0));
        if (drafting && drafts <= 0) {
            return run.problem(fmt::format(
                "gives {}, but not how many tokens were drafted; --draft-tokens K says it",
                length > 1.0 || accepted > 0.0 ? "an accept length or rate" : "times with drafts beside those without"));
        }
        if (!(length > 1.0) && accepted > 0.0 && cuts_drafts(cell(Role::setup))) {
            return run.problem(
                "ends drafts by a threshold (p-min), so that its rate gives no accept length; a column of accept lengths does");
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
        if (!has_times(plain)) {
            run.remark(run.file() + ": the table has no column of times per token or of tokens/s, so only acceptance is kept");
        } else {
            run.time(at.tpot, "a time per token", each > 0.0 ? each : of_user > 0.0 ? 1.0 / of_user : batch / rate);
        }
        if (const double first = number(Role::ttft, plain) * 1e-3; first > 0.0) {
            run.time(at.ttft, "a TTFT", first);
        }
        if (rate > 0.0) {
            at.tokens_per_second.add(rate);
        }
    }

    std::vector<std::string> names_, row_;
    std::vector<Column> columns_;
    std::vector<std::pair<std::size_t, std::size_t>> spans_;  ///< begins and lengths of columns without bars
    std::string last_line_;
    std::optional<std::size_t> only_;  ///< the column of times that is read, where each is of a draft length
    long rows_ = 0, plain_rows_ = 0;   ///< of the table so far
};

}  // namespace

std::unique_ptr<LineReader> load_tables() { return std::make_unique<LoadTables>(); }

}  // namespace treeline::runs::run_formats_of
