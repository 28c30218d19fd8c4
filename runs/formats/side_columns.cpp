#include "runs/formats/side_columns.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/metric_columns.h"
#include "runs/formats/prose_labels.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/table_caption.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// What a heading names of a side, and in which column rows say it.
const std::vector<std::string> columns_of_sides = {"engine", "backend", "device", "tp", "context"};

/// Further ones are prose.
constexpr std::size_t longest_heading = 48;

/// A heading without the first part whose plain words are `words`; as it is where none is.
std::string without_words(const std::string& heading, const std::string& words) {
    const auto ends_word = [&](std::size_t at) {
        return at == 0 || at == heading.size() ||
               (std::isalnum(static_cast<unsigned char>(heading[at - 1])) != 0) !=
                   (std::isalnum(static_cast<unsigned char>(heading[at])) != 0);
    };
    for (std::size_t begin = 0; !words.empty() && begin < heading.size(); ++begin) {
        for (std::size_t end = begin + words.size(); ends_word(begin) && end <= heading.size(); ++end) {
            if (ends_word(end) && plain_words(std::string_view(heading).substr(begin, end - begin)) == words) {
                return heading.substr(0, begin) + heading.substr(end);
            }
        }
    }
    return heading;
}

/// Whether a heading says what was measured or how much was drafted.
bool means_something(const std::string& heading) {
    const std::string words = plain_words(heading);
    return role_of(words) != Role::none || means_plain(words) || names_drafter(words) || drafts_of_setting(heading) >= 0 ||
           requests_of_heading(heading) > 0 || context_in(words) > 0.0;
}

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool names_context(const std::string& words) { return role_of(words) == Role::context || words == "prompt"; }

/// The tokens of "ctx 16k", "8k" or "ctx 0", as a cell says them; empty where a heading names none.
std::string context_of_heading(const std::string& heading) {
    const double tokens = context_in(in_lower_case(heading));
    const std::string words = plain_words(heading);
    const bool none = words.ends_with(" 0") && names_context(words.substr(0, words.size() - 2));
    return tokens > 0.0 ? fmt::format("{:.0f}", tokens) : none ? "0" : "";
}

/// "TPOT" of "TPOT @ 16k (ctx)".
std::string without_context(const std::string& heading, const std::string& context) {
    std::string rest;
    for (std::size_t begin = 0; begin < heading.size();) {
        const std::size_t end = std::min(heading.find(' ', begin), heading.size());
        const std::string word = heading.substr(begin, end - begin), plain = plain_words(word);
        const bool of_context = names_context(plain) || plain == "at" || plain == "tokens" ||
                                (!plain.empty() && number_of(plain) == number_of(context));
        rest += of_context ? "" : word + " ";
        begin = end + 1;
    }
    return rest;
}

/// Whether a row is of a load, a draft length or a setting, so that contexts in columns are loads, too.
bool has_loads_in_rows(const std::vector<std::string>& headings) {
    bool loads = false;
    for (const std::string& heading : headings) {
        const Role role = role_of(plain_words(heading));
        if (role == Role::context) {
            return false;
        }
        loads = loads || role == Role::batch || role == Role::drafts || role == Role::setup;
    }
    return loads;
}

}  // namespace

SideColumns::SideColumns(const std::vector<std::string>& headings) : headings_(headings) {
    find_sides(headings);
    if (!are_alike()) {
        sides_.clear();
        return;
    }
    headings_.clear();
    for (const std::size_t column : shared_) {
        headings_.push_back(headings[column]);
    }
    for (std::size_t i = 0; i < sides_.front().rests.size(); ++i) {
        const std::string& rest = sides_.front().rests[i];
        // Without a word of what it is, a heading that messages can quote.
        headings_.push_back(rest.empty() ? headings[sides_[0].columns[i]] + " / " + headings[sides_[1].columns[i]] : rest);
    }
    for (std::size_t i = 0; i < columns_of_sides.size(); ++i) {
        if (std::any_of(sides_.begin(), sides_.end(), [&](const Side& side) { return !side.name[i].empty(); })) {
            told_by_.push_back(i);
            headings_.push_back(columns_of_sides[i]);
        }
    }
}

void SideColumns::find_sides(const std::vector<std::string>& headings) {
    const bool contexts = has_loads_in_rows(headings);
    for (std::size_t i = 0; i < headings.size(); ++i) {
        const std::string words = plain_words(headings[i]);
        const bool named = headings[i].size() <= longest_heading && !compares_runs(headings[i]);
        const std::string back_end = back_end_in(words), processor = says(words, "cpu") ? "cpu" : "";
        const std::vector<std::string> name = {
            named ? engine_in(words) : "", named ? (back_end.empty() ? processor : back_end) : "",
            named ? deployment_in(in_lower_case(headings[i])).device : "", named ? ranks_in(words).text : "",
            named && contexts ? context_of_heading(headings[i]) : ""};
        if (std::all_of(name.begin(), name.end(), [](const std::string& part) { return part.empty(); })) {
            shared_.push_back(i);
            continue;
        }
        std::string rest = name.back().empty() ? headings[i] : without_context(headings[i], name.back());
        for (const std::string& part : name) {
            rest = without_words(rest, plain_words(part));
        }
        rest = means_something(rest) ? text::trimmed(rest) : "";
        auto side = std::find_if(sides_.begin(), sides_.end(), [&](const Side& known) { return known.name == name; });
        side = side == sides_.end() ? sides_.insert(side, Side{name, {}, {}}) : side;
        side->columns.push_back(i);
        side->rests.push_back(rest);
    }
}

/// Whether there are several, and all have the same columns.
bool SideColumns::are_alike() const {
    return sides_.size() > 1 && !shared_.empty() && std::all_of(sides_.begin() + 1, sides_.end(), [&](const Side& side) {
               return std::equal(side.rests.begin(), side.rests.end(), sides_[0].rests.begin(), sides_[0].rests.end(),
                                 [](const auto& a, const auto& b) { return plain_words(a) == plain_words(b); });
           });
}

bool SideColumns::tell_ranks() const { return std::find(headings_.begin(), headings_.end(), "tp") != headings_.end(); }

std::vector<std::vector<std::string>> SideColumns::rows(const std::vector<std::string>& cells) const {
    if (sides_.empty()) {
        return {cells};
    }
    std::vector<std::vector<std::string>> rows;
    for (const Side& side : sides_) {
        const bool measured = std::any_of(side.columns.begin(), side.columns.end(), [&](std::size_t column) {
            return cells[column].find_first_of("0123456789") != std::string::npos;  // "-": not measured
        });
        if (!measured) {
            continue;
        }
        rows.emplace_back();
        for (const std::size_t column : shared_) {
            rows.back().push_back(cells[column]);
        }
        for (const std::size_t column : side.columns) {
            rows.back().push_back(cells[column]);
        }
        for (const std::size_t part : told_by_) {
            rows.back().push_back(side.name[part]);
        }
    }
    return rows;
}

}  // namespace treeline::runs::run_formats_of
