// What the columns of a table hold.
#include <algorithm>

#include <fmt/format.h>

#include "runs/formats/load_table.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

/// A time or rate without a unit: no share, factor or count.
bool may_be_time(const std::string& heading, const std::string& cell) {
    const std::string name = plain_words(heading);
    const std::string number = cell.substr(0, cell.find('('));  // without a remark such as "(+52%)"
    const bool other = names_something_else(name) || heading.find('%') != std::string::npos ||
                       number.find('%') != std::string::npos || number.ends_with('x');
    static const std::vector<const char*> others = {"speedup", "speed up", "gain",    "memory", "mem",    "gb",      "vram",
                                                    "power",   "w",        "latency", "delta",  "change", "diff",    "effect",
                                                    "pass",    "ratio",    "prefill", "pp",     "prompt", "requests"};
    return !other && mean_of_runs(cell) &&
           std::none_of(others.begin(), others.end(), [&](const char* word) { return says(name, word); });
}

}  // namespace

/// The columns' roles; false where they do not make a table of loads.
bool LoadTable::understand(RunBuilder& run) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string name = plain_words(names_[i]), with_unit = plain_words(names_[i] + " " + unit_of(row_[i]));
        Column column{name.empty() ? Role::none : role_of(with_unit), means_plain(name), says(name, "mean")};
        column.role = column.role == Role::none ? role_of(name) : column.role;
        column.drafts = drafts_of_setting(names_[i]);
        if (column.role == Role::none && column.drafts >= 0) {
            column.role = role_of(plain_words(unit_of(row_[i])));
        }
        columns_.push_back(column);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].role == Role::none && says(plain_words(names_[i]), "acc")) {
            run.remark(
                fmt::format("{}: the column \"{}\" may hold acceptance or accuracy, and was left out", run.file(), names_[i]));
        }
    }
    take_units_of_others();
    take_medians();
    take_throughput(run);
    for (Column& column : columns_) {
        column.plain = column.plain || (is_time(column.role) && column.drafts == 0);  // "n_max:0"
    }
    settle_meanings();
    const std::string left_out = leave_out_further_drafters();
    const bool timed = has_times(false) || has_times(true), accepts = has(Role::length) || has(Role::accept_rate);
    const bool says_drafts = has(Role::drafts) || has(Role::tree) || drafts_of_row() >= 0 || says_that_it_drafts();
    const bool loaded = has(Role::batch) || has(Role::context) || has(Role::test) || accepts || says_drafts ||
                        (has_times(false) && has_times(true)) || (has(Role::setup) && run.draft_tokens_or(0) > 0);
    // What `recommend` prints is predicted.
    const bool measured = std::find(names_.begin(), names_.end(), "tokens/s/device") == names_.end();
    const bool understood = measured && loaded && (timed || (accepts && says_drafts));
    const bool any_number =
        std::any_of(row_.begin(), row_.end(), [](const std::string& cell) { return number_of(cell).has_value(); });
    if (understood && !left_out.empty()) {
        run.remark(run.file() + ": " + left_out);
    } else if (!understood && any_number) {
        why_not_ = left_out.empty() ? reason(timed) : left_out;
    }
    return understood;
}

/// Numbers without a unit are what other columns or the lines before the table say; both sides of an arrow are the same.
void LoadTable::take_units_of_others() {
    for (std::size_t pair = 0; pair < arrows_.size(); ++pair) {
        Column &before = columns_[arrows_[pair] + pair], &after = columns_[arrows_[pair] + pair + 1];
        const Role role = before.role == Role::none ? after.role : before.role;
        before.role = after.role = role;
    }
    const auto timed =
        std::find_if(columns_.begin(), columns_.end(), [](const Column& column) { return is_time(column.role); });
    const bool any = timed != columns_.end();
    const Role stated = any ? timed->role : caption_.times();
    for (std::size_t i = 0; i < columns_.size() && stated != Role::none; ++i) {
        // Beside times, a column has to name its drafts or drafter ("| AR (tok/s) | MTP-1 | MTP-2 |").
        const std::string name = plain_words(names_[i]);
        const bool named = any ? columns_[i].drafts >= 0 || names_drafter(name) : !name.empty();
        if (columns_[i].role == Role::none && named && may_be_time(names_[i], row_[i])) {
            columns_[i].role = stated;
        }
    }
}

/// Where no column holds means of times, those that hold medians.
void LoadTable::take_medians() {
    if (std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return is_time(column.role); })) {
        return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::string words = plain_words(names_[i] + " " + unit_of(row_[i]));
        if (const std::size_t at = words.find("p50"); at != std::string::npos) {
            words.erase(at, 3);
            const Role role = role_of(plain_words(words));
            columns_[i].role = is_time(role) ? role : columns_[i].role;
        }
    }
}

/// Where no column holds times, one that is called throughput and no more.
void LoadTable::take_throughput(RunBuilder& run) {
    if (std::any_of(columns_.begin(), columns_.end(), [](const Column& column) { return is_time(column.role); })) {
        return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool called = name == "throughput" || name == "output throughput" || name == "gen throughput" ||
                            name == "decode throughput" || name == "generation throughput";
        if (called && may_be_time(names_[i], row_[i])) {
            columns_[i].role = Role::rate;
            run.remark(fmt::format("{}: the column \"{}\" names no unit and was taken for tokens/s", run.file(), names_[i]));
            return;
        }
    }
}

/// What headings leave open, by the first row and by each other.
void LoadTable::settle_meanings() {
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
        const bool setting_of_drafts = drafts_of_setting(row_[i]) >= 0 || names_drafter(plain_words(row_[i]));
        if (may_be_setting && setting == columns_.size() && !number && setting_of_drafts) {
            setting = i;
        }
    }
    if (setting < columns_.size() && !has(Role::setup)) {
        columns_[setting].role = Role::setup;
    }
}

std::string LoadTable::reason(bool timed) const {
    if (!timed && !arrows_.empty()) {
        return "its cells hold two numbers each (\"22.7 → 40.6\"), and neither their heading nor the lines before the table "
               "name "
               "a unit and both sides (\"off → MTP, tok/s\")";
    }
    std::vector<std::string> quoted;
    for (const std::string& name : names_) {
        quoted.push_back("\"" + name + "\"");
    }
    return fmt::format(
        "its table of {} has no column of {}", text::listed(quoted, "and"),
        timed ? "requests in flight, draft tokens, context or accept length" : "times per token (TPOT, in ms) or of tokens/s");
}

/// A run is of one deployment: of columns that say the same of several drafters, none is taken. Returns why, or nothing.
std::string LoadTable::leave_out_further_drafters() {
    std::string why;
    for (const Role role : time_roles) {
        std::vector<std::string> same, drafters;
        int alike = 0;  // that name no draft length, one that another names, or another drafter
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool repeats =
                columns_[i].drafts <= 0 ||
                std::any_of(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(i), [&](const Column& before) {
                    return before.role == role && !before.plain && before.drafts == columns_[i].drafts;
                });
            if (columns_[i].role == role && !columns_[i].plain) {
                const std::string drafter = drafter_in(plain_words(names_[i]));
                const bool other = !drafters.empty() && drafter != drafters.front();
                alike += repeats || other ? 1 : 0;
                drafters.push_back(drafter);
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
    }
    return why;
}

}  // namespace treeline::runs::run_formats_of
