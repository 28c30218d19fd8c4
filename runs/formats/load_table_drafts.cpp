// How much a row of a table of loads drafts, and what of it was accepted.
#include <algorithm>
#include <initializer_list>

#include "runs/formats/load_numbers.h"
#include "runs/formats/load_table.h"
#include "runs/formats/stated_lengths.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// A cell that is a whole number and nothing else; below 0 for another.
int whole_count(const std::string& cell) {
    const std::string digits = text::trimmed(cell);
    constexpr std::size_t most = 9;
    const bool whole = !digits.empty() && digits.size() <= most && digits.find_first_not_of("0123456789") == std::string::npos;
    return whole ? std::stoi(digits) : -1;
}

/// "yes", "off"; nothing for another cell.
std::optional<bool> switch_of_cell(const std::string& cell) {
    const std::string words = plain_words(cell), whole = text::trimmed(cell);
    const auto is_any = [&](std::initializer_list<std::string_view> all) {
        return std::any_of(all.begin(), all.end(), [&](std::string_view one) { return words == one || whole == one; });
    };
    if (is_any({"yes", "y", "on", "true", "enabled", "used", "\u2713", "\u2714", "\u2705"})) {
        return true;
    }
    const bool off = is_any({"no", "n", "off", "false", "disabled", "unused", "not used", "\u2717", "\u2718", "\u274C"});
    return off ? std::optional(false) : std::nullopt;
}

}  // namespace

/// Its accept length, the bonus token counted; 0 where its cell says none.
double LoadTable::length_of_row() const {
    const std::size_t column = at(Role::length, false);
    const std::optional<double> own = mean_of_runs(cell(Role::length));
    return own ? *own + columns_[column].bonus : 0.0;
}

/// The accept length of the same draft tokens as a column of times ("| k=2 | A(2) |"); 0 without.
double LoadTable::length_beside(std::size_t times) const {
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        if (columns_[i].role == Role::length && columns_[i].drafts > 0 && columns_[i].drafts == columns_[times].drafts) {
            return number_of(row_[i]).value_or(0.0);
        }
    }
    return 0.0;
}

/// By rates in columns of positions ("pos 1", "pos 2"); 0 where the row lacks one of so many.
double LoadTable::length_by_position(int drafts) const {
    double length = 1.0;
    for (int position = 1; position <= drafts; ++position) {
        const std::string number = std::to_string(position);
        const auto column = std::find_if(names_.begin(), names_.end(), [&](const std::string& name) {
            const std::string words = plain_words(name);
            return words == "pos " + number || words == "position " + number || words == "acc pos " + number;
        });
        const auto at = static_cast<std::size_t>(column - names_.begin());
        const double rate = at < row_.size() ? number_of(row_[at]).value_or(0.0) : 0.0;
        if (!(rate > 0.0)) {
            return 0.0;
        }
        length += rate > 1.0 ? rate / 100.0 : rate;
    }
    return length;
}

/// "96.1%" of a cell of times that says it, too: "37.5 t/s, 96.1% accept", "37.5 t/s @ 96.1%". Empty where it says none.
std::string LoadTable::rate_beside_time() const {
    for (const Role role : time_roles) {
        const std::string own = has(role, false) ? cell(role) : "";
        const std::size_t percent = own.find('%'), comma = own.rfind(", ", percent);
        if (const std::size_t at = own.rfind("@ ", percent); percent != std::string::npos && at != std::string::npos) {
            return own.substr(at + 2, percent - at - 1);
        }
        if (percent != std::string::npos && comma != std::string::npos &&
            plain_words(std::string_view(own).substr(percent)).starts_with("acc")) {
            return own.substr(comma + 2, percent - comma - 1);
        }
    }
    return {};
}

/// "0/387": drafts of which none may be accepted.
bool LoadTable::counts_accepted() const {
    const std::string own = cell(Role::accept_rate);
    const std::size_t slash = own.find('/');
    return slash != std::string::npos && number_of(own.substr(slash + 1)).value_or(0.0) > 0.0;
}

/// The share of drafts that was accepted; of a range ("45-53%") its middle, of counts ("118/144", "accept=118/144 (82%)")
/// their ratio. 0 where the row says none.
double LoadTable::rate_accepted() const {
    const std::string whole = has(Role::accept_rate) ? cell(Role::accept_rate) : rate_beside_time(),
                      bare = whole.substr(0, whole.find(" ("));
    const std::size_t label = bare.find('=');
    const std::string own = bare.substr(label == std::string::npos ? 0 : label + 1);
    if (const std::size_t slash = own.find('/'); slash != std::string::npos) {
        const int accepted = whole_count(own.substr(0, slash)), drafted = whole_count(own.substr(slash + 1));
        if (accepted >= 0 && drafted > 1 && accepted <= drafted) {
            return static_cast<double>(accepted) / drafted;
        }
    }
    const bool range = own.find('-') != std::string::npos || own.find("\u2013") != std::string::npos;
    const double rate = (range ? mean_of_runs(own) : number_of(own)).value_or(0.0);
    return rate > 1.0 || whole.find('%') != std::string::npos ? 0.01 * rate : rate;
}

/// The end of a range of acceptance ("45-53%", "0.54-0.98") over its beginning; 0 where the row gives none.
double LoadTable::spread_of_rate() const {
    const std::string own = cell(Role::accept_rate);
    const std::size_t dash = std::min(own.find('-', 1), own.find("\u2013"));
    if (dash == std::string::npos || own.find_first_of("/(") < dash) {
        return 0.0;
    }
    const double begin = number_of(own.substr(0, dash)).value_or(0.0), middle = mean_of_runs(own).value_or(0.0);
    return begin > 0.0 && middle != begin ? (2.0 * middle - begin) / begin : 0.0;
}

/// Of the row, by its own column, by what it says of its setting ("MTP n=3", "baseline") or by the caption; below 0 where
/// nothing says it.
int LoadTable::drafts_of_row() const {
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
    for (const std::string& text : {own, cell(Role::tree), cell(Role::setup), heading_of_times(true)}) {
        if (const int drafts = drafts_of_setting(text); drafts >= 0) {
            return drafts;
        }
    }
    if (const std::optional<bool> on = switched(); on && !*on) {
        return 0;
    }
    if (const int drafts = drafts_of_labels(); drafts > 0) {
        return drafts;
    }
    const int stated = drafts_of_lines_above();
    if (caption_.drafts() < 0 && lacks_acceptance_of_model()) {
        return 0;
    }
    return stated == 0 && (row_names_drafter() || has(Role::length) || has(Role::accept_rate)) ? -1 : stated;
}

/// That another column of words states ("Best config": "K=2", "Runtime": "MTPLX (draft depth 2)"); below 0 where none does.
int LoadTable::drafts_of_labels() const {
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool labels = columns_[i].role == Role::none && !names_something_else(name) && !tells_deployment(name);
        if (const int drafts = labels && !number_of(row_[i]) ? drafts_of_caption(row_[i]) : -1; drafts > 0) {
            return drafts;
        }
    }
    return -1;
}

/// Whether a column that is called after drafting ("MTP heads used") says that the row drafts ("yes", "off"); nothing without.
std::optional<bool> LoadTable::switched() const {
    for (std::size_t i = 0; i < columns_.size() && i < row_.size(); ++i) {
        const std::string name = plain_words(names_[i]);
        const bool of_drafts =
            columns_[i].role == Role::drafts || columns_[i].role == Role::setup || columns_[i].role == Role::none;
        const std::optional<bool> on = of_drafts && names_drafter(name) ? switch_of_cell(row_[i]) : std::nullopt;
        if (on) {
            return on;
        }
    }
    return std::nullopt;
}

/// By the caption, or by what is stated once farther above: that is not said of rows which are told apart by their settings.
int LoadTable::drafts_of_lines_above() const {
    const bool told_apart = has(Role::setup) || has(Role::drafts) || has(Role::tree) || has_times(true);
    const int stated = caption_.drafts();
    return stated < 0 && (!told_apart || row_names_drafter()) ? caption_.drafts_from_above() : stated;
}

bool LoadTable::row_names_drafter() const {
    return switched().value_or(false) || !drafter_of_row().empty() || names_drafter(plain_words(cell(Role::setup))) ||
           names_drafter(plain_words(heading_of_times(false)));
}

bool LoadTable::says_that_it_drafts() const { return row_names_drafter() || (caption_.drafts() != 0 && caption_.drafting()); }

}  // namespace treeline::runs::run_formats_of
