#include "runs/formats/prose_lists.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "runs/formats/load_numbers.h"
#include "runs/formats/prose_figures.h"
#include "runs/formats/prose_labels.h"
#include "runs/formats/table_caption.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

using text::trimmed;
using Items = std::vector<std::string>;

bool is_figure_of_list(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Numbers between slashes or commas, and where they stand.
struct NumberList {
    std::size_t begin = 0, end = 0;
    Items items;
};

/// Where the separator in front of `at` begins; `at` itself where none stands there.
std::size_t before_separator(std::string_view text, std::size_t at) {
    const std::size_t last = at == 0 ? std::string_view::npos : text.find_last_not_of(' ', at - 1);
    if (last == std::string_view::npos || (text[last] != '/' && text[last] != ',')) {
        return at;
    }
    const std::size_t number = last == 0 ? std::string_view::npos : text.find_last_not_of(' ', last - 1);
    const bool follows = number != std::string_view::npos && (is_figure_of_list(text[number]) || text[number] == 'k');
    return follows ? number + 1 : at;
}

/// Where the number that ends before `end` begins; `end` where none does. A comma behind a digit is of the number only where
/// three digits follow it.
std::size_t begin_of_number(std::string_view text, std::size_t end) {
    std::size_t begin = end - (end > 0 && text[end - 1] == 'k' ? 1 : 0);
    const std::size_t last = begin;
    while (begin > 0) {
        const char c = text[begin - 1];
        const bool within = begin < last && begin > 1 && is_figure_of_list(text[begin - 2]);
        const std::size_t digits = std::min(text.find_first_not_of("0123456789", begin), text.size()) - begin;
        const bool point = c == '.' && within, thousands = c == ',' && within && digits == 3;
        if (!is_figure_of_list(c) && !point && !thousands) {
            break;
        }
        --begin;
    }
    const bool joined = begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '.');
    return begin == last || joined ? end : begin;
}

/// The list whose last number ends at `end`; one item where no other number stands before it.
NumberList list_ending_at(std::string_view text, std::size_t end, std::size_t from) {
    NumberList list{end, end, {}};
    for (std::size_t last = end;;) {
        const std::size_t begin = begin_of_number(text, last);
        if (begin == last || begin < from) {
            break;
        }
        list.begin = begin;
        list.items.insert(list.items.begin(), std::string(text.substr(begin, last - begin)));
        last = before_separator(text, begin);
        if (last == begin) {
            break;
        }
    }
    return list;
}

/// The last list of so many numbers between two places of a text.
std::optional<NumberList> list_between(std::string_view text, std::size_t from, std::size_t until, std::size_t count) {
    for (std::size_t end = until; end > from; --end) {
        const bool ends = is_figure_of_list(text[end - 1]) || text[end - 1] == 'k';
        const bool goes_on = end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0;
        if (!ends || goes_on) {
            continue;
        }
        const NumberList list = list_ending_at(text, end, from);
        if (list.items.size() == count) {
            return list;
        }
        end = std::min(end, std::max(list.begin, from) + 1);
    }
    return std::nullopt;
}

/// The words that name what the numbers of a list are: the last ones before it.
std::string name_before(std::string_view text, std::size_t from, std::size_t at) {
    constexpr std::size_t longest = 40;
    const std::string_view before = text.substr(from, at - from);
    const std::size_t stop = before.find_last_of(",;:(");
    const std::string_view own = before.substr(stop == std::string_view::npos ? 0 : stop + 1);
    return trimmed(own.substr(own.size() - std::min(own.size(), longest)));
}

/// Whether a label says of which set-up or load a figure is.
bool says_setting(const std::string& label) {
    TableCaption caption;
    caption.take(label);
    return !setup_in(label).empty() || context_in(label) > 0.0 || caption.batch() > 0.0;
}

/// Labels that stand before rates, and where in the text the first one does.
struct Labels {
    std::size_t begin = 0;
    Items words;
};

/// "baseline / mtp k=2:" before rates: a label for each of them; none where the text does not say so many.
Labels words_before(std::string_view text, std::size_t from, std::size_t at, std::size_t count) {
    const std::string before = trimmed(text.substr(from, at - from));
    if (!before.ends_with(':')) {
        return {};
    }
    const std::size_t stop = before.find_last_of(",;(.", before.size() - 2);
    std::string rest = before.substr(stop == std::string::npos ? 0 : stop + 1);
    rest.pop_back();
    Items labels;
    for (std::size_t begin = 0; begin <= rest.size();) {
        const std::size_t end = std::min(rest.find('/', begin), rest.size());
        labels.push_back(trimmed(std::string_view(rest).substr(begin, end - begin)));
        begin = end + 1;
    }
    if (labels.size() != count || !std::all_of(labels.begin(), labels.end(), says_setting)) {
        return {};
    }
    return {text.find(labels.front(), from + (stop == std::string::npos ? 0 : stop)), labels};
}

/// Whether rates may be runs of one set-up.
bool are_near(const Items& items) {
    constexpr double spread = 1.25;
    double least = 0.0, most = 0.0;
    for (const std::string& item : items) {
        const double number = number_of(item).value_or(0.0);
        least = least > 0.0 ? std::min(least, number) : number;
        most = std::max(most, number);
    }
    return most <= spread * least;
}

/// What the brackets behind the rates say of each: of a list in them, its own number, of one number, that; nothing of a range,
/// which is of all together.
Items remarks_of_brackets(std::string_view brackets, std::size_t count) {
    Items remarks(count);
    for (std::size_t begin = 0; begin < brackets.size();) {
        const std::size_t end = std::min(brackets.find(", ", begin), brackets.size());
        const std::string part(brackets.substr(begin, end - begin));
        begin = end + 2;
        const std::size_t digits = part.find_last_of("0123456789");
        const NumberList list = digits == std::string::npos ? NumberList() : list_ending_at(part, digits + 1, 0);
        const bool ranged = list.begin > 0 && part[list.begin - 1] == '-';
        for (std::size_t i = 0; i < count && !ranged && (list.items.size() == count || list.items.size() < 2); ++i) {
            const std::string own =
                list.items.size() == count ? part.substr(0, list.begin) + list.items[i] + part.substr(list.end) : part;
            remarks[i] += (remarks[i].empty() ? "" : ", ") + own;
        }
    }
    return remarks;
}

/// A list of rates in a line, and what replaces it.
struct Replacement {
    std::size_t begin = 0, end = 0;
    std::string text;
};

/// The rates with their labels, from where the first label begins to the end of the brackets behind them.
Replacement paired(std::string_view text, std::size_t begin, const Items& labels, const NumberList& rates,
                   const Figure& figure) {
    Replacement result{begin, figure.end, ""};
    const std::string_view unit = text.substr(rates.end, figure.end - rates.end);
    const std::size_t next = text.find_first_not_of(' ', figure.end);
    const std::size_t close =
        next != std::string_view::npos && text[next] == '(' ? text.find(')', next) : std::string_view::npos;
    Items remarks(labels.size());
    if (close != std::string_view::npos) {
        remarks = remarks_of_brackets(text.substr(next + 1, close - next - 1), labels.size());
        result.end = close + 1;
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        result.text += fmt::format("{}{}: {}{}{}", i == 0 ? "" : "; ", labels[i], rates.items[i], unit,
                                   remarks[i].empty() ? "" : " (" + remarks[i] + ")");
    }
    return result;
}

/// What stands in the place of a list of rates that ends in `figure`, whose settings stand behind `from`; nothing where it may
/// be none.
std::optional<Replacement> apart(std::string_view text, std::size_t from, const NumberList& rates, const Figure& figure,
                                 bool& left_out) {
    const std::size_t count = rates.items.size();
    if (const Labels labels = words_before(text, from, rates.begin, count); !labels.words.empty()) {
        return paired(text, labels.begin, labels.words, rates, figure);
    }
    if (const auto settings = list_between(text, from, rates.begin, count)) {
        const std::string name = name_before(text, from, settings->begin);
        Items labels;
        for (const std::string& number : settings->items) {
            labels.push_back(trimmed(name + (name.ends_with('=') ? "" : " ") + number));
        }
        if (std::all_of(labels.begin(), labels.end(), says_setting)) {
            return paired(text, settings->begin - std::min(settings->begin - from, name.size() + 1), labels, rates, figure);
        }
    }
    if (text.substr(rates.begin, rates.end - rates.begin).find('/') == std::string_view::npos) {
        return std::nullopt;  // a comma may end what was said before
    }
    if (are_near(rates.items)) {
        double sum = 0.0;
        for (const std::string& item : rates.items) {
            sum += number_of(item).value_or(0.0);
        }
        return Replacement{rates.begin, rates.end, fmt::format("{:.6g}", sum / static_cast<double>(count))};
    }
    left_out = true;
    return Replacement{rates.begin, figure.end, ""};
}

}  // namespace

LinesLists with_lists_apart(std::string_view line) {
    LinesLists result{std::string(line), false};
    std::vector<Replacement> replaced;
    std::size_t from = 0;
    for (const Figure& figure : figures_of(line)) {
        const std::size_t end = figure.begin + figure.number.size();
        const NumberList rates = list_ending_at(line, end, from);
        if (figure.unit.empty()) {
            continue;
        }
        const bool alone = rates.items.size() < 2 || figure.leads || figure.follows;
        if (const auto instead = alone ? std::nullopt : apart(line, from, rates, figure, result.left_out)) {
            replaced.push_back(*instead);
        }
        from = figure.end;
    }
    for (auto each = replaced.rbegin(); each != replaced.rend(); ++each) {
        result.text.replace(each->begin, each->end - each->begin, each->text);
    }
    return result;
}

}  // namespace treeline::runs::run_formats_of
