// What the columns of a table hold.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runs/formats/load_numbers.h"
#include "runs/formats/load_table.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"
#include "text/wording.h"

namespace treeline::runs::run_formats_of {
namespace {

/// A time or rate without a unit: no share, factor or count.
bool may_be_time(const std::string& heading, const std::string& cell) {
    const std::string name = plain_words(heading);
    const std::string number = cell.substr(0, cell.find('('));  // without a remark such as "(+52%)"
    const bool other = names_something_else(name) || heading.find('%') != std::string::npos ||
                       number.find('%') != std::string::npos || number.find_first_of("x\u00D7") != std::string::npos;
    static const std::vector<const char*> others = {"speedup", "speed up", "gain",    "memory",  "mem",    "gb",       "vram",
                                                    "power",   "w",        "latency", "delta",   "change", "diff",     "effect",
                                                    "pass",    "ratio",    "prefill", "pp",      "prompt", "requests", "req",
                                                    "vs",      "versus",   "over",    "relative"};
    return !other && mean_of_runs(cell) &&
           std::none_of(others.begin(), others.end(), [&](const char* word) { return says(name, word); });
}

/// "96.1 (+52%)": the rate is 1.52 times another; nothing where a cell says no such gain.
std::optional<double> gain_in(const std::string& cell) {
    const std::size_t open = cell.find("(+"), minus = cell.find("(-");
    const std::size_t at = std::min(open, minus);
    if (at == std::string::npos || cell.find('%', at) == std::string::npos) {
        return std::nullopt;
    }
    const std::optional<double> percent = number_of(cell.substr(at + 2));
    return percent ? std::optional(1.0 + (open == at ? 0.01 : -0.01) * *percent) : std::nullopt;
}

}  // namespace

/// The columns' roles; false where they do not make a table of loads.
bool LoadTable::understand(RunBuilder& run) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string name = plain_words(names_[i]), with_unit = plain_words(names_[i] + " " + unit_of(row_[i]));
        Column column{name.empty() ? Role::none : role_of(with_unit), means_plain(name), says(name, "mean")};
        column.role = column.role == Role::none ? role_of(name) : column.role;
        column.bonus = leaves_bonus_out(name) ? 1.0 : 0.0;
        column.requests = requests_of_heading(names_[i]);
        column.unit = unit_in_words(name).seconds;
        column.drafts = column.requests > 0 ? -1 : drafts_of_setting(names_[i]);
        if (column.role == Role::none && column.drafts >= 0) {
            column.role = role_of(plain_words(unit_of(row_[i])));
        }
        columns_.push_back(column);
    }
    take_blocks();
    tell_times_from_drafts();
    take_lengths_of_drafts();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].role == Role::none && says(plain_words(names_[i]), "acc")) {
            run.remark(
                fmt::format("{}: the column \"{}\" may hold acceptance or accuracy, and was left out", run.file(), names_[i]));
        }
    }
    if (has_metrics_in_rows()) {
        return false;  // it is read when it is turned
    }
    if (is_of_prompts()) {
        why_not_ = "its table stands under a line that names the reading of prompts, which says nothing of decoding";
        return false;
    }
    take_units_of_others();
    take_medians();
    leave_out_beside_means();
    take_rates_by_speedup(run);
    take_throughput(run);
    take_loads();
    for (Column& column : columns_) {
        column.plain = column.plain || (is_time(column.role) && column.drafts == 0);  // "n_max:0"
    }
    say_unnamed(run);
    settle_meanings();
    const std::string left_out = leave_out_further_drafters();
    if (!(why_not_ = unknown_unit()).empty()) {
        return false;
    }
    const bool timed = has_times(false) || has_times(true), accepts = has(Role::length) || has(Role::accept_rate);
    const bool says_drafts = has(Role::drafts) || has(Role::tree) || drafts_of_row() >= 0 || says_that_it_drafts();
    const bool loaded = has(Role::batch) || has(Role::context) || has(Role::test) || accepts || says_drafts ||
                        (has_times(false) && has_times(true)) || (has(Role::setup) && run.draft_tokens_or(0) > 0);
    // What `recommend` prints is predicted.
    const bool measured = std::find(names_.begin(), names_.end(), "tokens/s/device") == names_.end();
    const std::string load = timed ? unknown_load() : "";
    const bool understood = measured && loaded && load.empty() && (timed || (accepts && says_drafts));
    const bool any_number =
        std::any_of(row_.begin(), row_.end(), [](const std::string& cell) { return number_of(cell).has_value(); });
    if (understood) {
        say_further_plain(run);
    }
    if (understood && !left_out.empty()) {
        run.remark(run.file() + ": " + left_out);
    } else if (!understood && any_number) {
        why_not_ = !load.empty() ? load : left_out.empty() || !arrows_.empty() ? reason(timed && left_out.empty()) : left_out;
    }
    return understood;
}

/// "block_size" beside what was accepted is that of a draft and its root; by itself it may be a cache's.
void LoadTable::take_blocks() {
    const bool accepts = has(Role::length) || has(Role::accept_rate) || caption_.drafting();
    for (std::size_t i = 0; accepts && i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool block = name == "block size" || name == "block";
        columns_[i].role = columns_[i].role == Role::none && block ? Role::tree : columns_[i].role;
    }
}

/// Why times cannot be read: a heading of them names a unit that is not known. Empty where none does.
std::string LoadTable::unknown_unit() const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool time = columns_[i].role == Role::tpot || columns_[i].role == Role::ttft;
        const std::string unit = time ? unit_in_words(plain_words(names_[i])).unknown : std::string();
        if (!unit.empty()) {
            return "its table " + unknown_unit_text(unit, "\"" + names_[i] + "\"");
        }
    }
    return {};
}

/// Behind the first one, which may hold labels.
bool LoadTable::has_column_without_heading(const std::vector<std::string>& cells) const {
    for (std::size_t i = 1; i < names_.size() && i < cells.size(); ++i) {
        if (plain_words(names_[i]).empty() && number_of(cells[i])) {
            return true;
        }
    }
    return false;
}

/// "| baseline | MTP |" over "| 22.0 | 40.0 |": what is no count of drafts was measured with that drafter.
void LoadTable::tell_times_from_drafts() {
    constexpr double most_counted = 32.0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const std::optional<double> number = number_of(row_[i]);
        const bool count = !number || (*number <= most_counted && row_[i].find('.') == std::string::npos);
        if (columns_[i].role == Role::drafts && drafter_in(name) == name && !count) {
            columns_[i].role = Role::none;
        }
    }
}

/// "A(2)", "AL k=2" beside "k=2": the accept length of as many drafts.
void LoadTable::take_lengths_of_drafts() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::string name = plain_words(names_[i]);
        const std::size_t last = name.rfind(' ');
        const int drafts = last == std::string::npos ? -1 : whole_number(std::string_view(name).substr(last + 1));
        name = name.substr(0, drafts > 0 ? last : 0);
        name = name.substr(0, name.size() - (name.ends_with(" k") || name.ends_with(" n") ? 2 : 0));
        const bool beside = std::any_of(columns_.begin(), columns_.end(), [&](const Column& other) {
            return &other != &columns_[i] && other.drafts == drafts && other.role != Role::length;
        });
        if (drafts > 0 && beside && (name == "a" || role_of(name) == Role::length)) {
            columns_[i].role = Role::length;
            columns_[i].drafts = drafts;
        }
    }
}

/// "| | baseline | MTP |" above "decode", "TTFT": a setting in each column, and what was measured of it in each row.
bool LoadTable::has_metrics_in_rows() const {
    static const std::vector<std::string> metrics = {"decode", "decode speed", "generation", "generation speed", "tg",
                                                     "speed",  "throughput",   "gen",        "prefill"};
    const std::string words = plain_words(row_.front());
    const Role role = role_of(words);
    const bool metric = is_time(role) || role == Role::ttft || role == Role::length || role == Role::accept_rate ||
                        std::find(metrics.begin(), metrics.end(), words) != metrics.end();
    const std::string corner = plain_words(names_.front());
    return metric && columns_.front().role == Role::none && (corner.empty() || corner == "metric" || corner == "measure") &&
           std::all_of(names_.begin() + 1, names_.end(), [](const std::string& name) {
               const std::string heading = plain_words(name);
               return drafts_of_setting(name) >= 0 || names_drafter(heading) || says(heading, "speedup");
           });
}

/// Under "Prefill (tok/s)", where no column names decoding.
bool LoadTable::is_of_prompts() const {
    static const std::vector<const char*> decoding = {"decode", "decoding", "generation", "gen", "tpot", "output", "test"};
    return caption_.of_prompts() && std::none_of(names_.begin(), names_.end(), [](const std::string& name) {
               const std::string words = plain_words(name);
               return names_generation(words) ||
                      std::any_of(decoding.begin(), decoding.end(), [&](const char* word) { return says(words, word); });
           });
}

/// Whether a time per token beside columns of loads is what one of them gives as tokens/s of all its requests.
bool LoadTable::loads_are_rates() const {
    constexpr double same = 0.1;
    for (std::size_t i = 0; i < columns_.size() && has(Role::tpot, false); ++i) {
        const double rate = columns_[i].requests > 0 ? number_of(row_[i]).value_or(0.0) : 0.0,
                     time = seconds(Role::tpot, false);
        if (rate > 0.0 && time > 0.0 && std::abs(columns_[i].requests / rate / time - 1.0) < same) {
            return true;
        }
    }
    return false;
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
    const auto loads =
        std::count_if(columns_.begin(), columns_.end(), [](const Column& column) { return column.requests > 0; });
    const Role of_loads = caption_.times() == Role::none && loads_are_rates() ? Role::rate : caption_.times();
    for (std::size_t i = 0; i < columns_.size() && any && loads > 1; ++i) {
        // Another column's unit is not that of columns of loads ("| K | C=1 | C=8 | TPOT |").
        if (columns_[i].requests > 0 && columns_[i].role == Role::none && may_be_time(names_[i], row_[i])) {
            columns_[i].role = of_loads;
        }
    }
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

/// Beside means, medians and quantiles of the same are none of their own.
void LoadTable::leave_out_beside_means() {
    for (const Role role : time_roles) {
        const bool means = std::any_of(columns_.begin(), columns_.end(),
                                       [&](const Column& column) { return column.role == role && column.mean; });
        for (std::size_t i = 0; means && i < columns_.size(); ++i) {
            if (columns_[i].role == role && says(plain_words(names_[i]), "median")) {
                columns_[i].role = Role::none;
            }
        }
    }
}

/// Where several columns name a load each, other columns of times say not of which.
void LoadTable::take_loads() {
    const auto named =
        std::count_if(columns_.begin(), columns_.end(), [](const Column& column) { return column.requests > 0; });
    if (named < 2) {
        for (Column& column : columns_) {
            column.requests = 0;
        }
        return;
    }
    for (Column& column : columns_) {
        const bool other = column.requests == 0 && (is_time(column.role) || column.role == Role::ttft);
        column.role = other ? Role::none : column.role;
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
    if (take_throughput_of_sides()) {
        run.remark(run.file() + ": columns of a throughput without a unit were taken for tokens/s");
        return;
    }
    const auto drafting =
        std::count_if(columns_.begin(), columns_.end(), [](const Column& column) { return column.drafts >= 0; });
    for (std::size_t i = 0; caption_.names_throughput() && drafting > 1 && i < columns_.size(); ++i) {
        if (columns_[i].role == Role::none && columns_[i].drafts >= 0 && may_be_time(names_[i], row_[i])) {
            columns_[i].role = Role::rate;
            run.remark(run.file() + ": columns of draft lengths under a throughput without a unit were taken for tokens/s");
        }
    }
}

/// Columns without a unit are tokens/s where a speed-up beside them, or in the second one's cell ("96.1 (+52%)"), is the second
/// over the first.
void LoadTable::take_rates_by_speedup(RunBuilder& run) {
    const auto factor = [&]() -> std::optional<double> {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string name = plain_words(names_[i]);
            if (says(name, "speedup") || says(name, "speed up")) {
                return number_of(row_[i]);
            }
        }
        return std::nullopt;
    }();
    std::vector<std::size_t> sides;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool side =
            columns_[i].plain || columns_[i].drafts > 0 || names_drafter(plain_words(names_[i])) || gain_in(row_[i]);
        if (is_time(columns_[i].role)) {
            return;
        }
        if (columns_[i].role == Role::none && side && may_be_time(names_[i], row_[i])) {
            sides.push_back(i);
        }
    }
    if (sides.size() != 2 || columns_[sides[0]].plain == columns_[sides[1]].plain) {
        return;
    }
    const std::size_t plain = columns_[sides[0]].plain ? sides[0] : sides[1], with = sides[0] + sides[1] - plain;
    const double said = factor ? *factor : gain_in(row_[with]).value_or(0.0);
    constexpr double printed = 0.02;
    const double ratio = mean_of_runs(row_[with]).value_or(0.0) / std::max(1e-9, mean_of_runs(row_[plain]).value_or(0.0));
    if (said > 0.0 && std::abs(ratio - said) <= printed * said && std::abs(said - 1.0) > printed) {
        columns_[plain].role = columns_[with].role = Role::rate;
        run.remark(fmt::format("{}: the columns \"{}\" and \"{}\" name no unit; by the speed-up beside them they are tokens/s",
                               run.file(), names_[plain], names_[with]));
    }
}

/// Why rows cannot be told apart: they begin with a number of which nothing says what it is. Empty where they do not.
std::string LoadTable::unknown_load() const {
    const std::string name = plain_words(names_.front());
    const std::size_t behind = std::min(row_.front().find_first_not_of("0123456789"), row_.front().size());
    const std::string unit = row_.front().substr(behind);
    const bool bare = behind > 0 && (unit.empty() || unit == "k" || unit == "K");
    const bool loaded = has(Role::batch) || has(Role::context) || has(Role::prompt) || has(Role::test) || has(Role::drafts);
    if (columns_.front().role != Role::none || name.empty() || !bare || loaded || names_something_else(name) ||
        tells_deployment(name) || tells_variant(name) || names_repetition(name)) {
        return "";
    }
    const bool arrivals = says(name, "qps") || says(name, "rps") || says(name, "rate") || says(name, "req s");
    return fmt::format(
        "its rows are told apart by \"{}\"{}; requests in flight (\"concurrency\") say at which batch they were "
        "measured",
        names_.front(), arrivals ? ", which are arrivals" : ", which is no load that is known");
}

/// "Throughput baseline" and "Throughput MTP", or "before → after" under "decode throughput"; false where none is.
bool LoadTable::take_throughput_of_sides() {
    bool any = false;
    const auto take = [&](std::size_t i) {
        const bool rate = columns_[i].role == Role::none && may_be_time(names_[i], row_[i]);
        columns_[i].role = rate ? Role::rate : columns_[i].role;
        any = any || rate;
    };
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool of_tokens = says(name, "throughput") && !says(name, "req s") && !says(name, "requests");
        if (of_tokens && (columns_[i].plain || columns_[i].drafts >= 0 || names_drafter(name))) {
            take(i);
        }
    }
    for (std::size_t pair = 0; pair < arrows_.size(); ++pair) {
        const std::string name = plain_words(names_[arrows_[pair] + pair]);
        const bool decodes =
            says(name, "decode") || says(name, "generation") || says(name, "decoding") || names_generation(name);
        if (caption_.names_throughput() || decodes) {
            take(arrows_[pair] + pair);
            take(arrows_[pair] + pair + 1);
        }
    }
    return any;
}

/// Under a caption that drafts, numbers beside plain times may be rates with drafts, of which nothing says so.
void LoadTable::say_unnamed(RunBuilder& run) {
    std::vector<std::string> unnamed;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].role == Role::none && !names_[i].empty() && may_be_time(names_[i], row_[i])) {
            unnamed.push_back("\"" + names_[i] + "\"");
        }
    }
    if (!unnamed.empty() && has_times(true) && !has_times(false) && caption_.drafts() > 0) {
        run.remark(fmt::format("{}: the columns {} name neither a unit nor drafts and were left out", run.file(),
                               text::listed(unnamed, "and")));
    }
}

/// Whether a cell of "depth" counts drafts and no tokens of context: beside acceptance, a small number, or none where nothing
/// is accepted.
bool LoadTable::counts_drafts(const std::string& depth) const {
    constexpr int most_counted = 32;
    const int count = whole_number(depth);
    const bool accepts = has(Role::length) || has(Role::accept_rate);
    const bool plain = length_of_row() == 1.0 || number_of(cell(Role::accept_rate)) == 0.0 || caption_.drafting();
    return accepts && !has(Role::drafts) && count >= 0 && count <= most_counted && (count > 0 || plain);
}

/// What headings leave open, by the first row and by each other.
void LoadTable::settle_meanings() {
    constexpr double longest = 17.0;  // an accept length beyond it is a rate in percent
    const bool trees =
        std::any_of(names_.begin(), names_.end(), [](const auto& name) { return is_of_trees(plain_words(name)); });
    const bool lengths_of_answers = has(Role::prompt), both_rates = has(Role::rate) && has(Role::rate_of_user);
    std::size_t setting = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const std::optional<double> number = number_of(row_[i]);
        constexpr double least_answer = 64.0;
        const bool limits = number && *number >= least_answer && std::fmod(*number, least_answer) == 0.0;
        if (columns_[i].role == Role::context && !trees && name == "depth" && counts_drafts(row_[i])) {
            columns_[i].role = Role::drafts;
        }
        if ((columns_[i].role == Role::context && trees && name == "depth") ||
            (columns_[i].role == Role::drafts && name == "n" && (lengths_of_answers || both_rates)) ||  // requests
            (columns_[i].role == Role::output && name.ends_with("tokens") && name.find(' ') == std::string::npos && !limits)) {
            const bool requests = columns_[i].role == Role::drafts && both_rates && !has(Role::batch);  // "| n | agg | each |"
            columns_[i].role =
                requests ? Role::batch : Role::none;  // "tokens" of an answer are a load only where a limit ends them
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

/// Columns that name plain decoding, a drafter or a draft length over bare numbers, quoted; empty where not two are.
std::string LoadTable::columns_without_unit() const {
    std::vector<std::string> quoted;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const bool side = columns_[i].plain || columns_[i].drafts >= 0 || names_drafter(plain_words(names_[i]));
        const std::string name = plain_words(names_[i]);
        const bool has_unit = columns_[i].unit > 0.0 || says(name, "itl") || name.ends_with(" s");
        if (columns_[i].role == Role::none && side && !has_unit && may_be_time(names_[i], row_[i])) {
            quoted.push_back("\"" + names_[i] + "\"");
        }
    }
    return quoted.size() < 2 ? std::string() : text::listed(quoted, "and");
}

std::string LoadTable::reason(bool timed) const {
    if (!timed && !arrows_.empty()) {
        return fmt::format(
            "its cells hold two numbers each (\"{}\"), and neither their heading nor the lines before the table name a unit "
            "and "
            "both sides (\"off → MTP, tok/s\")",
            arrow_cell_);
    }
    std::vector<std::string> quoted;
    for (const std::string& name : names_) {
        quoted.push_back("\"" + name + "\"");
    }
    if (const std::string unnamed = columns_without_unit(); !timed && !unnamed.empty()) {
        return fmt::format("its columns {} name no unit: a line above the table (\"tok/s\" or \"ms per token\") says it",
                           unnamed);
    }
    return fmt::format(
        "its table of {} has no column of {}", text::listed(quoted, "and"),
        timed ? "requests in flight, draft tokens, context or accept length" : "times per token (TPOT, in ms) or of tokens/s");
}

/// Of columns of tasks, the one of all of them ("Code", "Story", "Overall").
void LoadTable::keep_overall(Role role) {
    static const std::vector<std::string> sums = {"overall", "average", "avg", "mean", "all"};
    const auto sums_up = [&](std::size_t i) {
        const std::string name = plain_words(names_[i]);
        return columns_[i].role == role && !columns_[i].plain &&
               std::find(sums.begin(), sums.end(), name.substr(0, name.find(' '))) != sums.end() && columns_[i].drafts < 0;
    };
    std::size_t overall = 0;
    while (overall < columns_.size() && !sums_up(overall)) {
        ++overall;
    }
    for (std::size_t i = 0; overall < columns_.size() && i < columns_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool task = columns_[i].role == role && !columns_[i].plain && columns_[i].drafts < 0 && i != overall &&
                          !names_drafter(name) && !says_rate_of_tokens(name) && name.find(' ') == std::string::npos &&
                          name != "decode";
        columns_[i].role = task ? Role::none : columns_[i].role;
    }
}

/// A run is of one deployment: of columns that say the same of several drafters, none is taken. Returns why, or nothing.
std::string LoadTable::leave_out_further_drafters() {
    std::string why;
    if (!columns_of_loads().empty()) {
        return why;
    }
    for (const Role role : time_roles) {
        keep_overall(role);
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
