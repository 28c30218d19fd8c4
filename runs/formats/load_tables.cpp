// Tables of measurements as people put them into issues and pull requests: a load or a draft length in each row, whatever its
// columns are called ("| n-max | tok/s | accept rate |", "| Concurrency | Baseline tok/s | MTP tok/s | AL |"), or a setting in
// each column ("| | AR | MTP k=3 |"); between bars of Markdown, with or without bars at its sides, or of a printed box, under
// dashes, or between tabs. The lines before a table may say its unit, its draft length and its load.
#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "runs/builder.h"
#include "runs/formats/chinese_words.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/load_table.h"
#include "runs/formats/pipe_cells.h"
#include "runs/formats/side_columns.h"
#include "runs/formats/stated_lengths.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

using Cells = std::vector<std::string>;

/// A longer table is not read anew.
constexpr std::size_t most_kept_rows = 1024;

Cells cells_between_bars(std::string_view line) {
    const std::string bars = with_plain_bars(line);
    const std::size_t first = bars.find('|'), last = bars.find_last_not_of(" \t\r");
    return first == std::string::npos || bars[last] != '|' ? Cells() : cells_of_row(bars.substr(first));
}

/// Of a row without bars at its sides ("1 | 108.45 | 1.63"), or of one copied from a page, with a tab between its cells.
Cells cells_without_sides(std::string_view line, char between) {
    std::string bars = "|" + std::string(line) + "|";
    std::replace(bars.begin(), bars.end(), between, '|');
    return bars.find('|', 1) == bars.size() - 1 ? Cells() : cells_of_row(bars);
}

/// "-- | -- | --".
bool is_ruler_without_sides(std::string_view line) {
    return line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos &&
           line.find_first_not_of("-:| \t\r") == std::string_view::npos && cells_between_bars(line).empty();
}

/// The rows' quantity of a corner that names those of both sides ("TP \ Concurrency"); empty where it names no load above
/// numbers.
std::string rows_of_corner(const Cells& names) {
    const std::size_t between = names.front().find_first_of("\\/");
    const bool loads = between != std::string::npos && between > 0 &&
                       role_of(plain_words(std::string_view(names.front()).substr(between + 1))) == Role::batch;
    const bool numbers =
        std::all_of(names.begin() + 1, names.end(), [](const std::string& name) { return whole_number(name) > 0; });
    return loads && numbers ? text::trimmed(std::string_view(names.front()).substr(0, between)) : "";
}

/// "| concurrency | 1 | 4 | 32 |".
bool are_counts_of_load(const Cells& names) {
    return role_of(plain_words(names.front())) == Role::batch && names.size() > 1 &&
           std::all_of(names.begin() + 1, names.end(), [](const std::string& name) { return whole_number(name) > 0; });
}

/// "| Concurrency | tok/s | | TPOT | |" over "| | main | new | main | new |": headings of the first line are said of the empty
/// ones behind them, too. Nothing where the second line is none of headings.
std::optional<Cells> joined_headings(const Cells& over, const Cells& under) {
    Cells joined;
    std::string heading;
    bool any = false;
    for (std::size_t i = 0; i < over.size(); ++i) {
        const bool spanned = i > 0 && plain_words(over[i]).empty(), named = !plain_words(under[i]).empty();
        if (number_of(under[i]) || (spanned && !named)) {
            return std::nullopt;
        }
        any = any || spanned;
        heading = spanned ? heading : over[i];
        joined.push_back(named ? text::trimmed(heading + " " + under[i]) : over[i]);
    }
    return any ? std::optional(joined) : std::nullopt;
}

/// The same table with a setting or a load in each row; empty where its columns are neither.
std::vector<Cells> turned(const Cells& names, const std::vector<Cells>& rows) {
    const bool labels =
        std::none_of(rows.begin(), rows.end(), [](const Cells& row) { return number_of(row.front()).has_value(); });
    const bool settings =
        labels && std::all_of(names.begin() + 1, names.end(), [](const std::string& name) {
            const std::string words = plain_words(name);
            return drafts_of_setting(name) >= 0 || names_drafter(words) || says(words, "speed up") || says(words, "speedup");
        });
    const std::string corner = rows_of_corner(names);
    const bool counts = labels && are_counts_of_load(names);
    const bool loads = counts || !corner.empty() || std::all_of(names.begin() + 1, names.end(), [](const std::string& name) {
                           return requests_of_heading(name) > 0;
                       });
    std::vector<Cells> turned;
    for (std::size_t column = 0; (settings || loads) && column < names.size(); ++column) {
        const std::string load = corner.empty() && !counts ? std::to_string(requests_of_heading(names[column])) : names[column];
        turned.push_back({column == 0 ? (loads ? "concurrency" : "setup") : loads ? load : names[column]});
        for (const Cells& row : rows) {
            // "k" above "0", "1", "2" is "k 0", "k 1", "k 2".
            turned.back().push_back(column == 0 && !labels ? (corner.empty() ? names[0] : corner) + " " + row[0] : row[column]);
        }
    }
    return turned;
}

/// Whether cells between commas are the headings of a table, and no sentence: two of them, and half of all, are known.
bool are_headings(const Cells& cells) {
    constexpr std::ptrdiff_t least = 2, most = 64;
    const bool names = std::ssize(cells) >= least && std::ssize(cells) <= most &&
                       std::all_of(cells.begin(), cells.end(), [](const auto& cell) {
                           return !cell.empty() && std::isdigit(static_cast<unsigned char>(cell.front())) == 0 &&
                                  std::count(cell.begin(), cell.end(), ' ') < 4;
                       });
    if (!names) {
        return false;
    }
    const auto known = std::count_if(cells.begin(), cells.end(),
                                     [](const std::string& cell) { return role_of(plain_words(cell)) != Role::none; });
    return known >= least && 2 * known >= std::ssize(cells);
}

class LoadTables : public LineReader {
public:
    bool take(std::string_view original, RunBuilder& run) override {
        const std::string english = may_be_chinese(original) ? in_english(original) : std::string();
        const std::string_view line = english.empty() ? original : english;
        if (run.line_is_open() && lacks_cells(line)) {
            run.line_breaks_off();
            return true;
        }
        if (take_underline(line, run) || take_ruler(line, run)) {
            return false;  // whether it is a heading is not known yet
        }
        if (only_draws(line)) {
            spans_.clear();
            if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
                caption_.take(line);
            }
            return false;
        }
        const bool crosses = std::any_of(spans_.begin(), spans_.end(), [&](const auto& span) {
            return span.first > 0 && span.first < line.size() && line[span.first - 1] != ' ';
        });
        if (crosses) {
            spans_.clear();  // prose below the table
        }
        Cells cells = cells_of(line);
        last_line_ = line;
        if (cells.size() < 2) {
            end_table(run);
            caption_.take(line);
            return false;
        }
        if (cells.size() == names_.size()) {
            return take_row(std::move(cells), run);
        }
        begin_table(std::move(cells), run);
        return false;  // whether it is a heading is not known yet
    }
    void finish(RunBuilder& run) override { end_table(run); }

private:
    [[nodiscard]] Cells cells_of(std::string_view line) {
        if (!spans_.empty()) {
            return cells_below(line);
        }
        Cells cells = cells_between_bars(line);
        if (cells.empty() && sideless_ > 0) {
            cells = cells_without_sides(line, '|');
            sideless_ = cells.size() == sideless_ ? sideless_ : 0;
            return sideless_ > 0 ? cells : Cells();
        }
        if (!cells.empty() || line.find('|') != std::string_view::npos) {
            return cells;
        }
        cells = cells_between_tabs(line);
        cells = cells.empty() ? cells_between_commas(line) : cells;
        return cells.empty() ? cells_between_blanks(line) : cells;
    }

    /// Of a table copied from a page, which ends a row before its empty last cells.
    Cells cells_between_tabs(std::string_view line) {
        Cells cells = cells_without_sides(line, '\t');
        const bool row = cells.size() > 1 && number_of(cells[1]);
        if (row && cells.size() < tabs_ && 2 * cells.size() > tabs_) {
            cells.resize(tabs_);
        }
        tabs_ = cells.size();
        return cells;
    }

    /// Of headings that stand two blanks or more apart, and of rows of as many cells below them.
    Cells cells_between_blanks(std::string_view line) {
        Cells cells(1);
        for (std::size_t at = 0; at < line.size(); ++at) {
            const bool gap = line.substr(at).starts_with("  ") || line[at] == '\r';
            if (!gap) {
                cells.back() += line[at];
            } else if (!cells.back().empty()) {
                cells.emplace_back();
            }
            at = gap ? std::min(line.find_first_not_of(" \r", at), line.size()) - 1 : at;
        }
        if (cells.back().empty()) {
            cells.pop_back();
        }
        const bool row = blanks_ > 0 && cells.size() == blanks_;
        blanks_ = row || are_headings(cells) ? cells.size() : 0;
        return blanks_ > 0 ? cells : Cells();
    }

    /// Of headings, and of rows as long as they are below them.
    Cells cells_between_commas(std::string_view line) {
        if (line.find(',') == std::string_view::npos) {
            commas_ = 0;
            return {};
        }
        Cells cells = cells_without_sides(line, ',');
        const bool row = commas_ > 0 && cells.size() == commas_;
        commas_ = row || are_headings(cells) ? cells.size() : 0;
        return commas_ > 0 ? cells : Cells();
    }

    /// A line of dashes in groups, one under each heading, which says where the columns of the lines below stand.
    bool take_underline(std::string_view line, RunBuilder& run) {
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
        begin_table(cells_below(last_line_), run);
        return true;
    }

    /// A ruler without bars at its sides, which makes a heading of the line before it.
    bool take_ruler(std::string_view line, RunBuilder& run) {
        if (!is_ruler_without_sides(line)) {
            return false;
        }
        Cells cells = cells_without_sides(last_line_, '|');
        sideless_ = cells.size();
        begin_table(std::move(cells), run);
        return true;
    }

    [[nodiscard]] Cells cells_below(std::string_view line) const {
        Cells cells;
        for (std::size_t i = 0; i < spans_.size(); ++i) {
            const std::size_t begin = std::min(spans_[i].first, line.size());
            const std::size_t end = i + 1 < spans_.size() ? std::min(spans_[i + 1].first, line.size()) : line.size();
            const std::string_view cell = line.substr(begin, end - begin);
            const std::size_t first = std::min(cell.find_first_not_of(" \t\r"), cell.size());
            cells.emplace_back(cell.substr(first, cell.find_last_not_of(" \t\r") + 1 - first));
        }
        return cells;
    }

    /// Whether a line below a table holds numbers, but fewer cells than its heading.
    [[nodiscard]] bool lacks_cells(std::string_view line) const {
        if (!table_ || line.find_first_of("0123456789") == std::string_view::npos) {
            return false;
        }
        const std::string text = text::trimmed(line);
        const bool bars = text.find('|') != std::string::npos, commas = !bars && commas_ > 0;
        const Cells cells = bars && text.starts_with('|') ? cells_between_bars(text)
                            : bars || commas              ? cells_without_sides(text, bars ? '|' : ',')
                                                          : Cells();
        return (bars || (commas && (!cells.empty() || number_of(text)))) && cells.size() < names_.size();
    }

    void begin_table(Cells names, RunBuilder& run) {
        end_table(run);
        name_columns(std::move(names));
    }

    void name_columns(Cells names) {
        names_ = std::move(names);
        caption_.end_paragraph();
        table_.reset();
        read_apart_ = false;
        unread_.clear();
    }

    bool take_row(Cells cells, RunBuilder& run) {
        if (!unread_.empty()) {
            constexpr std::size_t most_rows = 256;
            if (unread_.size() < most_rows) {
                unread_.push_back(std::move(cells));
            }
            return false;
        }
        if (!table_ && stands_over_headings(cells)) {
            return false;
        }
        if (const auto headings = table_ ? std::nullopt : joined_headings(names_, cells)) {
            name_columns(*headings);
            return false;
        }
        if (!table_ && is_of_another_deployment(run)) {
            return false;
        }
        if (!table_) {
            sides_.emplace(names_);
            table_.emplace(sides_->headings(), caption_);
            keep_apart(*table_);
            rows_.clear();
        }
        if (!table_->contradiction().empty()) {
            return true;
        }
        if (rows_.size() < most_kept_rows) {
            rows_.emplace_back(run.line(), cells);
        }
        for (std::vector<std::string>& row : sides_->rows(cells)) {
            if (!table_->take(std::move(row), run)) {
                unread_.push_back(std::move(cells));
                return false;
            }
        }
        if (leave_out_another(*table_, run)) {
            return true;
        }
        read_apart(run);
        told_ = told_.value_or(table_->names_deployment());
        deployment_.add(caption_.deployment());
        keep_ranks(run);
        return true;
    }

    /// Whether a table turns out to be of another set-up than numbers before it: then nothing of it is kept.
    bool leave_out_another(const LoadTable& table, RunBuilder& run) {
        if (table.contradiction().empty()) {
            return false;
        }
        const long line = run.line();
        run = *table.before();
        run.at_line(line);
        const std::string title = caption_.title();
        run.remark(fmt::format("{}: {} was left out, since {}: it is of another set-up; import it by itself", run.file(),
                               title.empty() ? "a table" : "the table under \"" + title + "\"", table.contradiction()));
        return true;
    }

    /// Reads the table anew where a column of it turns out to tell set-ups apart.
    void read_apart(RunBuilder& run) {
        const std::optional<std::size_t> column = table_->found_apart();
        if (!column || read_apart_ || rows_.size() == most_kept_rows) {
            return;
        }
        const long line = run.line();
        run = *table_->before();
        table_.emplace(sides_->headings(), caption_);
        keep_apart(*table_);
        table_->keep_apart_by(*column);
        read_apart_ = true;
        for (const auto& [number, cells] : rows_) {
            run.at_line(number);
            for (std::vector<std::string>& row : sides_->rows(cells)) {
                table_->take(std::move(row), run);
            }
        }
        run.at_line(line);
    }

    /// How the lines before a table share the model out; replicas are none of a run.
    void keep_ranks(RunBuilder& run) const {
        const StatedRanks ranks = sides_->tell_ranks() ? StatedRanks() : caption_.ranks();
        if (ranks.data > 1) {
            run.remark(
                fmt::format("{}: \"{}\" above the table was not kept: a run has the devices of one cut; name it where the "
                            "run is asked about (--tensor-parallel, --attention-data-parallel), and loads of replicas are "
                            "those of each",
                            run.file(), ranks.text));
        } else if (ranks.tensor > 0) {
            RunIdentity said;
            said.ranks = ranks.tensor;
            run.command(said);
        }
    }

    /// "| | TPOT ms | |" over "| BS 1 | off | k=1 |": what stands alone in the first line is said of all columns, whose
    /// headings stand in the second.
    bool stands_over_headings(const Cells& cells) {
        const auto empty =
            std::count_if(names_.begin(), names_.end(), [](const auto& name) { return plain_words(name).empty(); });
        const auto headings =
            std::count_if(cells.begin(), cells.end(), [](const auto& cell) { return !plain_words(cell).empty(); });
        const bool numbers =
            std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return number_of(cell).has_value(); });
        if (names_.size() < 3 || empty + 1 != std::ssize(names_) || headings < 3 || numbers) {
            return false;
        }
        for (const std::string& name : names_) {
            caption_.take(plain_words(name).empty() ? "" : name);
        }
        name_columns(cells);
        return true;
    }

    /// Whether a table stands under the name of another model, format or device than one before it, of which rows were taken.
    bool is_of_another_deployment(RunBuilder& run) {
        const DeploymentWords own = caption_.deployment();
        if (!deployment_.contradicts(own)) {
            return false;
        }
        run.remark(run.file() + ": the table under " + own.text() + " was left out beside that of " + deployment_.text() +
                   ": a run is of one deployment");
        return true;
    }

    /// One table names its model and the other does not.
    void keep_apart(LoadTable& table) const {
        if (told_ && *told_ != table.names_deployment()) {
            table.keep_apart();
        }
    }

    /// A table whose rows are no loads may have them in its columns.
    void end_table(RunBuilder& run) {
        if (!unread_.empty()) {
            const std::vector<Cells> rows = turned(names_, unread_);
            bool taken = false;
            std::optional<SideColumns> sides;
            std::optional<LoadTable> table;
            for (const Cells& row : rows) {
                if (!table) {
                    TableCaption caption = caption_;
                    if (is_time(role_of(plain_words(names_.front())))) {
                        caption.take_heading(names_.front());  // "| aggregate t/s | np=1 | np=2 |"
                    }
                    sides.emplace(row);
                    table.emplace(sides->headings(), std::move(caption));
                    keep_apart(*table);
                    continue;
                }
                const std::vector<Cells> folded = sides->rows(row);
                taken = std::all_of(folded.begin(), folded.end(), [&](const Cells& each) { return table->take(each, run); });
                if (!taken || leave_out_another(*table, run)) {
                    break;
                }
            }
            deployment_.add(taken ? caption_.deployment() : DeploymentWords());
            told_ = taken ? told_.value_or(table->names_deployment()) : told_;
            if (!taken) {
                const bool turned_tells = table && !table->why_not().empty() && !table_->lacks_unit();
                const std::string& why = turned_tells ? table->why_not() : table_->why_not();
                if (!why.empty()) {
                    run.unread(why);
                }
                if (!why.empty() && table_->lacks_unit() && run.has_measurements()) {
                    run.remark(run.file() + ": a table was left out, since " + why);
                }
            }
        }
        if (!names_.empty()) {
            name_columns({});
        }
    }

    Cells names_;
    std::optional<SideColumns> sides_;
    std::optional<LoadTable> table_;
    std::vector<Cells> unread_;                 ///< rows of a table that is none of loads
    std::vector<std::pair<long, Cells>> rows_;  ///< of the table, with their lines
    bool read_apart_ = false;                   ///< it was read anew
    TableCaption caption_;
    DeploymentWords deployment_;                              ///< that the lines before the tables say whose rows were taken
    std::optional<bool> told_;                                ///< whether the first table that was taken names its deployment
    std::vector<std::pair<std::size_t, std::size_t>> spans_;  ///< begins and lengths of columns without bars
    std::string last_line_;
    std::size_t commas_ = 0;    ///< columns of a table between commas
    std::size_t tabs_ = 0;      ///< columns of a table between tabs
    std::size_t blanks_ = 0;    ///< columns of a table that stand two blanks apart
    std::size_t sideless_ = 0;  ///< columns of a table without bars at its sides
};

}  // namespace

std::unique_ptr<LineReader> load_tables() { return std::make_unique<LoadTables>(); }

}  // namespace treeline::runs::run_formats_of
