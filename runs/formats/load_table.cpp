#include "runs/formats/load_table.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "runs/formats/load_numbers.h"
#include "runs/formats/metric_columns.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Two numbers of a cell.
struct PairOfCell {
    std::string first, second;
    double speedup = 0.0;  ///< that stands before them; 0 = none
};

/// "22.7 → 40.6", "1.27× (63 → 80 tok/s)"; nothing for another cell. A factor that the numbers in its brackets contradict is
/// of something else.
std::optional<PairOfCell> pair_of_cell(const std::string& cell) {
    const auto sides = sides_of_arrow(cell);
    const std::size_t opens = sides ? sides->first.find('(') : std::string::npos;
    if (opens == std::string::npos) {
        const bool numbers = sides && number_of(sides->first) && number_of(sides->second);
        return numbers ? std::optional(PairOfCell{sides->first, sides->second}) : std::nullopt;
    }
    std::string factor = sides->first.substr(0, opens);
    std::erase(factor, '*');
    factor = text::trimmed(factor);
    const std::string unit = text::trimmed(unit_of(factor));
    PairOfCell pair{text::trimmed(sides->first.substr(opens + 1)), sides->second.substr(0, sides->second.find(')')),
                    unit == "x" || unit == "X" || unit == "\u00D7" ? number_of(factor).value_or(0.0) : 0.0};
    const double before = number_of(pair.first).value_or(0.0), after = number_of(pair.second).value_or(0.0);
    constexpr double printed = 0.05;
    const bool agrees = before > 0.0 && std::abs(after / before - pair.speedup) <= printed * pair.speedup;
    return agrees ? std::optional(pair) : std::nullopt;
}

/// "Throughput (off → MTP)" is "Throughput off" and "Throughput MTP"; nothing without an arrow.
std::optional<std::pair<std::string, std::string>> sides_of_heading(const std::string& heading) {
    auto sides = sides_of_arrow(heading);
    const std::size_t opens = sides ? sides->first.find('(') : std::string::npos;
    if (opens != std::string::npos && sides->second.ends_with(')')) {
        const std::string what = sides->first.substr(0, opens);
        sides->second.pop_back();
        *sides = {what + sides->first.substr(opens + 1), what + sides->second};
    }
    return sides;
}

/// "DFlash K=5 / K=3".
bool names_two_lengths(const std::string& setup) {
    const std::size_t slash = setup.find('/');
    if (slash == std::string::npos) {
        return false;
    }
    const int first = drafts_of_caption(setup.substr(0, slash)), second = drafts_of_caption(setup.substr(slash + 1));
    return first >= 0 && second >= 0 && first != second;
}

}  // namespace

bool LoadTable::take(std::vector<std::string> cells, RunBuilder& run) {
    if (is_none_) {
        return false;
    }
    const bool first = rows_ == 0;
    const bool unnamed = first && has_column_without_heading(cells);
    keep_averages();
    keep_statistics(cells);
    row_ = split_arrows(std::move(cells), run.draft_tokens_or(0) > 0);
    is_none_ = first && !understand(run);
    if (is_none_) {
        return false;
    }
    if (first) {
        before_ = run;
    }
    run.format(format_);
    if (unnamed) {
        run.remark(run.file() + ": columns without a heading were left out");
    }
    static const std::vector<std::string> sums = {"overall", "average", "avg", "mean", "total", "all"};
    if (rows_++ > 0 && std::find(sums.begin(), sums.end(), plain_words(row_.front())) != sums.end()) {
        return true;  // of the rows before it
    }
    if (passes_over(run)) {
        return true;
    }
    if (const std::string other = other_deployment(), setup = other_setup(); !other.empty() || !setup.empty()) {
        run.remark(run.file() + ": " + (other.empty() ? setup : other));
        return true;
    }
    tell_variant(run);
    if (!drafter_.empty()) {
        RunIdentity said;
        said.method = drafter_ == "draft model" ? "draft_model" : drafter_;
        run.command(said);
    }
    if (names_two_lengths(cell(Role::setup))) {
        run.problem(fmt::format("names two draft lengths (\"{}\"); give each a row of its own", cell(Role::setup)));
        return true;
    }
    if (const SglangDraft draft = sglang_draft_of_row(); draft.draft_tokens() > 0) {
        run.draft(draft);
    } else if (is_of_tree()) {
        run.remark(run.file() + ": rows of trees (more than one child a node) were left out: a run has chains of drafts");
        return true;
    }
    const std::vector<std::size_t> loads = columns_of_loads();
    for (const std::size_t column : loads) {
        only_ = column;
        const std::string& own = row_[column];
        if (own.find_first_of("0123456789") != std::string::npos) {  // "-": not measured
            add(columns_[column].plain, run);
        }
    }
    only_.reset();
    if (!loads.empty()) {
        return true;
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

/// Beside a column of averages, those of the single runs say nothing more ("| Run 1 | Run 2 | Average |").
void LoadTable::keep_averages() {
    const auto averages = [](const std::string& name) {
        const std::string words = plain_words(name);
        return words == "average" || words == "avg" || words == "mean" || words == "median";
    };
    if (rows_ == 0 && std::any_of(names_.begin(), names_.end(), averages)) {
        for (std::string& name : names_) {
            name = repeats_run(name) ? "" : name;
        }
    }
}

/// Of cells with several statistics ("264.8 / 278.0 / 320.6" under "tok/s (mean / median / max)") the mean, or else the median.
void LoadTable::keep_statistics(std::vector<std::string>& cells) {
    for (std::size_t i = 0; rows_ == 0 && i < names_.size(); ++i) {
        const std::size_t open = names_[i].find('(');
        const std::string within = open == std::string::npos ? "" : names_[i].substr(open);
        std::vector<std::string> statistics;
        std::istringstream in(within);
        for (std::string part; std::getline(in, part, '/');) {
            statistics.push_back(plain_words(part));
        }
        for (const char* wanted : {"median", "p50", "mean", "avg", "average"}) {
            const auto found = std::find(statistics.begin(), statistics.end(), wanted);
            if (statistics.size() > 1 && found != statistics.end()) {
                statistics_[i] = static_cast<std::size_t>(found - statistics.begin());
            }
        }
        names_[i] = statistics_.contains(i) ? text::trimmed(names_[i].substr(0, open)) : names_[i];
    }
    for (const auto& [column, place] : statistics_) {
        std::istringstream in(column < cells.size() ? cells[column] : "");
        std::string part;
        for (std::size_t i = 0; i <= place && std::getline(in, part, '/'); ++i) {}
        cells[column] = in ? text::trimmed(part) : cells[column];
    }
}

/// The row with two cells for each column of two numbers; the first row says which those are.
std::vector<std::string> LoadTable::split_arrows(std::vector<std::string> cells, bool drafting) {
    if (rows_ == 0) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (const auto pair = pair_of_cell(cells[i])) {
                arrows_.push_back(i);
                arrow_cell_ = arrow_cell_.empty() ? cells[i] : arrow_cell_;
                if (pair->speedup > 0.0) {
                    speedups_.insert(i);
                }
            }
        }
        name_sides(drafting);
    }
    for (auto column = arrows_.rbegin(); column != arrows_.rend(); ++column) {
        const PairOfCell sides = pair_of_cell(cells[*column]).value_or(PairOfCell());
        cells[*column] = sides.first;
        cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(*column) + 1, sides.second);
    }
    return cells;
}

/// Headings of both sides: the heading's own ("baseline → MTP"), those of the caption, or, where a column, the caption or the
/// user says how much is drafted and nothing names the sides, those of before and after.
void LoadTable::name_sides(bool drafting) {
    drafting = drafting || caption_.drafting() || std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
                   return role_of(plain_words(name)) == Role::drafts;
               });
    for (auto column = arrows_.rbegin(); column != arrows_.rend(); ++column) {
        const std::string heading = names_[*column];
        auto sides = sides_of_heading(heading);
        const bool unnamed =
            sides ? plain_words(sides->first).starts_with("before") && plain_words(sides->second).starts_with("after")
                  : !caption_.sides() && drafting;
        if (speedups_.contains(*column)) {
            const bool named = drafts_of_setting(heading) > 0;  // the second is that much faster
            sides = {"baseline", named ? heading : "drafts"};
        } else if (unnamed && drafting) {
            sides = {"baseline " + (sides ? sides->first : heading), "drafts " + (sides ? sides->second : heading)};
        } else if (!sides) {
            const auto around = caption_.sides().value_or(std::pair<std::string, std::string>());
            sides = {around.first + " " + heading, around.second + " " + heading};
        }
        names_[*column] = sides->first;
        names_.insert(names_.begin() + static_cast<std::ptrdiff_t>(*column) + 1, sides->second);
    }
}

/// Where several columns of times name a draft length each: those columns.
std::vector<std::size_t> LoadTable::columns_of_lengths() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (is_time(columns_[i].role) && !columns_[i].plain && columns_[i].drafts > 0) {
            found.push_back(i);
        }
    }
    return found.size() < 2 ? std::vector<std::size_t>() : found;
}

/// Where several columns of times name a load each: those columns.
std::vector<std::size_t> LoadTable::columns_of_loads() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (is_time(columns_[i].role) && columns_[i].requests > 0) {
            found.push_back(i);
        }
    }
    return found;
}

bool LoadTable::has_times(bool plain) const {
    return std::any_of(time_roles.begin(), time_roles.end(), [&](Role role) { return has(role, plain); });
}

/// The column of a role; the mean where several are.
std::size_t LoadTable::at(Role role, bool plain) const {
    std::size_t found = columns_.size();
    if (only_ && is_time(role) && columns_[*only_].plain == plain) {
        return columns_[*only_].role == role ? *only_ : found;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool fits = columns_[i].role == role && columns_[i].plain == plain;
        found = fits && (found == columns_.size() || (columns_[i].mean && !columns_[found].mean)) ? i : found;
    }
    return found;
}

std::string LoadTable::cell(Role role, bool plain) const {
    const std::size_t column = at(role, plain);
    return column < row_.size() ? row_[column] : std::string();
}

double LoadTable::number(Role role, bool plain) const { return number_of(cell(role, plain)).value_or(0.0); }

/// The heading of the times that are read; with `beside_plain` only where plain times stand beside them.
std::string LoadTable::heading_of_times(bool beside_plain) const {
    if (only_) {
        return names_[*only_];
    }
    for (const Role role : time_roles) {
        if (has(role, false) && (has(role, true) || !beside_plain)) {
            return names_[at(role, false)];
        }
    }
    return {};
}

/// "tg128", whose tokens follow the context.
bool LoadTable::heading_names_answer() const { return number_after(heading_of_times(false), "tg").has_value(); }

LoadTable::Times LoadTable::times(bool plain) const {
    const auto mean = [&](Role role) { return mean_of_runs(cell(role, plain)).value_or(0.0); };
    return {mean(Role::rate), mean(Role::rate_of_user), seconds(Role::tpot, plain)};
}

/// A time, in milliseconds unless its cell, its heading, that of another column or the lines before the table name another
/// unit.
double LoadTable::seconds(Role role, bool plain) const {
    const std::size_t column = at(role, plain);
    if (column >= row_.size()) {
        return 0.0;
    }
    const TimeUnit own = unit_in_cell(row_[column]);
    return mean_of_runs(row_[column]).value_or(0.0) * (own.named() ? own.seconds : unit_of_column(column));
}

/// The unit of the times in a column, in seconds.
double LoadTable::unit_of_column(std::size_t column) const {
    constexpr double millisecond = 1e-3;
    if (columns_[column].unit > 0.0) {
        return columns_[column].unit;
    }
    const Role role = columns_[column].role;
    const auto other = std::find_if(columns_.begin(), columns_.end(), [&](const Column& each) {
        return role == Role::tpot && each.role == role && each.unit > 0.0;
    });
    const double stated = other != columns_.end() ? other->unit : caption_.unit_of(role);
    return stated > 0.0 ? stated : millisecond;
}

void LoadTable::add(bool plain, RunBuilder& run) {
    const Times measured = times(plain);
    if (has_times(plain) && !measured.known()) {
        if (has_times(!plain) && times(!plain).known()) {  // "| 217 | - |"
            return run.remark(run.file() + ": cells without a time beside others were left out");
        }
        return run.problem("is a row of a table without a time per token or tokens/s above 0");
    }
    const int stated = plain ? 0 : drafts_of_row();
    // Beside columns of draft lengths, one of acceptance does not say of which.
    const bool accepts = !plain && stated != 0 && (!only_ || columns_[*only_].requests > 0);
    double length = accepts ? length_of_row() : only_ ? length_beside(*only_) : 0.0;
    double accepted = accepts ? rate_accepted() : 0.0;
    plain_rows_ += has_times(true) || stated != 0 ? 0 : 1;
    const bool beside_plain =
        !plain && stated < 0 && run.draft_tokens_or(-1) != 0 && (has_times(true) || plain_rows_ > 0 || says_that_it_drafts());
    const bool drafting = length > 1.0 || accepted > 0.0 || stated > 0 || beside_plain || (accepts && counts_accepted());
    const int drafts = stated >= 0 ? stated : std::max(0, run.draft_tokens_or(0));
    if (drafting && drafts <= 0) {
        return run.lacks_draft_tokens(fmt::format("gives {}, but not how many tokens were drafted; --draft-tokens K says it",
                                                  length > 1.0 || accepted > 0.0 ? "an accept length or rate"
                                                  : has_times(true) || plain_rows_ > 0
                                                      ? "times with drafts beside those without"
                                                      : "times with drafts"));
    }
    if (!(length > 1.0) && accepted > 0.0 && cuts_drafts(cell(Role::setup))) {
        return run.problem(
            "ends drafts by a threshold (p-min), so that its rate gives no accept length; a column of accept lengths does");
    }
    if (!(length > 1.0) && accepted > 0.0 && names_look_up(plain_words(cell(Role::setup) + " " + heading_of_times(false)))) {
        run.remark(run.file() +
                   ": a look-up drafts only where it finds something, so that rates of its drafts give no accept length, and "
                   "were left out");
        accepted = 0.0;
    }
    if (!(length > 1.0) && accepted > 0.0 && caption_.cuts()) {
        run.remark(run.file() +
                   ": a threshold (p-min) ends drafts, so that rates of acceptance give no accept length, and were left out");
        accepted = 0.0;
    }
    if (!(length > 1.0) && accepted > 0.0 && has_wide_rate(run)) {
        accepted = 0.0;
    }
    length = length > 1.0     ? length
             : accepted > 0.0 ? run.length_of_rate(accepted, drafts)
             : accepts        ? length_by_position(drafts)
                              : 0.0;
    if (length > drafts + 1.0) {
        return run.problem(
            fmt::format("gives an accept length of {:.2f} of {} draft tokens, which is more than can be", length, drafts));
    }
    add_cell(plain, drafts, length, measured, run);
}

/// Whether the row's range of acceptance is too wide for its middle to be a mean; a range is said in any case.
bool LoadTable::has_wide_rate(RunBuilder& run) const {
    constexpr double widest = 1.25;
    const double spread = spread_of_rate();
    const bool wide = spread > widest || (spread > 0.0 && spread < 1.0 / widest);
    if (spread > 0.0) {
        run.remark(fmt::format("{}: acceptance is given as a range (\"{}\"), {}", run.file(), cell(Role::accept_rate),
                               wide ? "which is too wide for a mean, and was left out" : "whose middle was taken"));
    }
    return wide;
}

double LoadTable::Times::seconds(double batch) const {
    return tpot > 0.0 ? tpot : rate_of_user > 0.0 ? 1.0 / rate_of_user : batch / rate;
}

/// Plain decoding takes the same time on any text, so that another time at the same load is of another set-up.
void LoadTable::compare(const RunCell& before, const Times& measured, double batch) {
    constexpr double same = 0.1;
    if (before.draft_tokens > 0 || !measured.known()) {
        return;
    }
    const double own = measured.seconds(batch);
    const auto differs = [&](double other) { return std::abs(own - other) > same * std::min(own, other); };
    const auto [load, first] = own_loads_.emplace(
        std::tuple{before.draft_tokens, before.batch, std::lround(before.context), before.variant}, OwnLoad{row_, own});
    if (!first && differs(load->second.seconds)) {
        found_apart_ = found_apart_ ? found_apart_ : column_apart(load->second.row);
    } else if (first && before.tpot.known() && differs(before.tpot.mean())) {
        contradiction_ = fmt::format("plain decoding takes {:.3g} ms per token in it and {:.3g} ms at the same load before it",
                                     1e3 * own, 1e3 * before.tpot.mean());
    }
}

/// The first column before those of times that tells this row from another one; nothing where that names texts or drafts.
std::optional<std::size_t> LoadTable::column_apart(const std::vector<std::string>& other) const {
    for (std::size_t i = 0; i < columns_.size() && i < other.size() && !is_time(columns_[i].role); ++i) {
        const bool labels = columns_[i].role == Role::none || columns_[i].role == Role::setup;
        if (!labels || plain_words(row_[i]) == plain_words(other[i])) {
            continue;
        }
        const auto drafts = [](const std::string& cell) {
            return drafts_of_setting(cell) >= 0 || names_drafter(plain_words(cell));
        };
        const std::string name = plain_words(names_[i]);
        const bool same_setup = names_something_else(name) || (names_repetition(name) && number_of(row_[i]));
        return same_setup || drafts(row_[i]) || drafts(other[i]) ? std::nullopt : std::optional(i);
    }
    return std::nullopt;
}

/// Why the row is of another set-up by the column that tells them apart; empty where it is not.
std::string LoadTable::other_setup() {
    const std::string own = apart_by_ && *apart_by_ < row_.size() ? row_[*apart_by_] : std::string();
    apart_ = apart_.empty() ? own : apart_;
    if (own.empty() || plain_words(own) == plain_words(apart_)) {
        return {};
    }
    return fmt::format(
        "rows of \"{}\" were left out beside those of \"{}\", since plain decoding runs at another speed with "
        "it: a run is of one deployment",
        own, apart_);
}

void LoadTable::add_cell(bool plain, int drafts, double length, const Times& measured, RunBuilder& run) {
    const std::string test = cell(Role::test);
    const bool states_lengths = has(Role::prompt) || has(Role::output) || has(Role::context) || has(Role::test);
    const RunBuilder::Client client = states_lengths ? RunBuilder::Client() : run.client();
    const double batch = requests(run),
                 prompt = number_after(test, "pp").value_or(states_lengths ? number(Role::prompt) : client.prompt_tokens),
                 output = number_after(test, "tg")
                              .value_or(number_after(heading_of_times(false), "tg")
                                            .value_or(states_lengths ? number(Role::output) : client.output_tokens));
    const std::optional<double> context = number_of(cell(Role::context));
    const double read = has(Role::context) ? context.value_or(0.0) : prompt,
                 written = has(Role::context) && !heading_names_answer() ? 0.0 : 0.5 * output;
    // "0" is a short context, and no unknown one.
    const double mean_context = context ? std::max(read + written, 1.0) : read + written;
    if (!has_times(plain) && !(length >= 1.0)) {
        return run.remark(run.file() + ": rows that give neither a time nor an accept length were left out");
    }
    run.variant(other_variant_);
    RunCell& measured_at = run.cell(batch, drafts, mean_context);
    run.variant("");
    if (keeps_apart_ && measured_at.tpot.known()) {
        return run.remark(
            run.file() +
            ": a table that does not say of which model or device it is was left out beside one that does, or the "
            "other way round: a run is of one deployment");
    }
    compare(measured_at, measured, batch);
    measured_at.concurrency = true;
    measured_at.prompt_tokens = prompt;
    measured_at.output_tokens = output;
    if (measured_at.tpot.known()) {
        run.remark(run.file() +
                   ": rows of the same load and draft length were averaged; if other columns tell deployments "
                   "apart, give each a table of its own");
    }
    if (drafts > 0) {
        run.state_length(measured_at, length);
    }
    if (!has_times(plain)) {
        run.remark(run.file() + ": the table has no column of times per token or of tokens/s, so only acceptance is kept");
    } else {
        run.time(measured_at.tpot, "a time per token", measured.seconds(batch));
    }
    if (const double first = seconds(Role::ttft, plain); first > 0.0 && !only_) {
        run.time(measured_at.ttft, "a TTFT", first);
    }
    if (measured.rate > 0.0) {
        measured_at.tokens_per_second.add(measured.rate);
    }
}

}  // namespace treeline::runs::run_formats_of
