#include "runs/formats/prose_figures.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "runs/formats/load_columns.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

using text::trimmed;
using Clauses = std::vector<std::string>;

constexpr std::array<std::string_view, 5> arrows = {"\u2192", "->", "=>", "\u21D2", "\u2794"};

/// What stands farther from a figure is not looked at.
constexpr std::size_t nearest = 40;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of a word at `at`, behind blanks; `at` itself where another stands there.
std::size_t end_of_word(std::string_view text, std::size_t at, std::string_view word) {
    const std::size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = begin + word.size();
    const bool whole = end >= text.size() || !is_word(text[end]) || !is_word(word.back());
    return text.substr(begin).starts_with(word) && whole ? end : at;
}

/// Takes one of the words behind `end`, which then lies behind it.
template <std::size_t count>
bool take_any(std::string_view text, std::size_t& end, const std::array<std::string_view, count>& words) {
    for (const std::string_view word : words) {
        if (const std::size_t behind = end_of_word(text, end, word); behind > end) {
            end = behind;
            return true;
        }
    }
    return false;
}

/// Takes the unit of a time behind `end`, which then lies behind it ("us", "ms", "seconds"); empty where none stands there.
std::string take_unit_of_time(std::string_view text, std::size_t& end) {
    const std::size_t begin = std::min(text.find_first_not_of(' ', end), text.size());
    std::size_t behind = begin;
    while (behind < text.size() && is_word(text[behind])) {
        ++behind;
    }
    const std::string_view word = text.substr(begin, behind - begin);
    if (!seconds_of_unit(word)) {
        return {};
    }
    end = behind;
    return std::string(word);
}

/// Reads the unit behind a figure in lower case; false where it is of a single device.
bool take_unit(std::string_view text, Figure& figure) {
    constexpr std::array<std::string_view, 15> rates = {
        "tokens per second", "tokens per sec", "tokens/second", "tokens/sec", "tokens/s", "token/s", "toks/sec",  "toks/s",
        "tok/sec",           "tok/s",          "tk/s",          "t/sec",      "t/s",      "tps",     "tok/second"};
    constexpr std::array<std::string_view, 7> of_token = {"/token",           "/tok", "per token", "/output token",
                                                          "per output token", "tpot", "/t"};
    constexpr std::array<std::string_view, 7> users = {"/user",      "per user",   "/req",    "per request",
                                                       "per stream", "per client", "per slot"};
    constexpr std::array<std::string_view, 4> of_answers = {"output ", "generation ", "gen ", "decode "};
    constexpr std::array<std::string_view, 6> devices = {"/gpu", "per gpu", "/device", "per device", "per card", "/card"};
    std::size_t behind = figure.end;
    const bool answers = take_any(text, behind, of_answers);
    if (take_any(text, answers ? behind : figure.end, rates)) {
        figure.end = std::max(figure.end, behind);
        figure.unit = take_any(text, figure.end, users) ? "tok/s per user" : "tok/s";
        return !take_any(text, figure.end, devices);
    }
    std::size_t end = figure.end;
    const bool of_tpot = ends_with_word(text.substr(0, figure.begin), "tpot");
    const std::string time = take_unit_of_time(text, end);
    if (!time.empty() && (take_any(text, end, of_token) || of_tpot)) {
        figure.end = end;
        figure.unit = "TPOT (" + time + ")";
    }
    return true;
}

/// The number at `at`, a range as a whole.
Figure figure_at(std::string_view text, std::size_t at) {
    Figure figure;
    figure.begin = at;
    figure.end = end_of_number(text, at);
    for (const std::string_view dash : {"-", "\u2013"}) {
        const std::size_t next = figure.end + dash.size();
        if (text.substr(figure.end).starts_with(dash) && next < text.size() && is_digit(text[next])) {
            figure.end = end_of_number(text, next);
            break;
        }
    }
    figure.number = text.substr(at, figure.end - at);
    return figure;
}

/// Whether another figure follows: "from 42 to 78 tok/s", "42 -> 78 tok/s".
bool leads_to_another(std::string_view text, const Figure& figure) {
    std::size_t behind = figure.end;
    constexpr std::array<std::string_view, 3> to = {"to", "down to", "up to"};
    const bool from =
        ends_with_word(text.substr(0, figure.begin), "from") || ends_with_word(text.substr(0, figure.begin), "from about");
    if (figure.begin > 0 && text[figure.begin - 1] == '=') {
        return false;  // "k=1 -> 42 tok/s"
    }
    if (!take_any(text, behind, arrows) && !(from && take_any(text, behind, to))) {
        return false;
    }
    const std::size_t next = text.find_first_not_of(" ~", behind);
    return next != std::string_view::npos && is_digit(text[next]);
}

/// "27 at 64k" after a figure with a unit.
bool stands_at_context(std::string_view text, const Figure& figure) {
    const std::size_t next = std::min(text.find_first_not_of(' ', figure.end), text.size());
    const std::string_view rest = text.substr(next, end_of_clause(text, next) - next);
    return (rest.starts_with("at ") || rest.starts_with('@')) && context_in(rest) > 0.0;
}

/// Whether a number without a unit is a figure: "no spec: 140", or the first of two. The figure before it ends at `from`.
bool stands_alone(std::string_view text, const Figure& figure, std::size_t from) {
    if (figure.leads) {
        return true;
    }
    const std::string before = trimmed(text.substr(0, figure.begin));
    const std::size_t next = std::min(text.find_first_not_of(' ', figure.end), text.size());
    const bool clock = text.substr(0, figure.begin).ends_with(':') && before.size() > 1 && is_digit(before[before.size() - 2]);
    const bool labelled = (before.ends_with(':') && !clock) || before.ends_with("->") || before.ends_with("\u2192");
    const bool ends = next == text.size() || std::string_view(",;(.").find(text[next]) != std::string_view::npos;
    const Clauses label = labelled && ends ? clauses_of(text.substr(from, figure.begin - from)) : Clauses();
    const Role named = label.empty() ? Role::none : role_of(plain_words(label.front()));
    if (named == Role::accept_rate || named == Role::length) {
        return false;  // "draft acceptance: 0.65"
    }
    const std::string counted = label.empty() ? "" : plain_words(label.front());
    if (setup_in(counted) == "drafts" && (counted.ends_with("drafts") || counted.ends_with("tokens"))) {
        return false;  // "Drafts: 1832"
    }
    return !label.empty() && (!setup_in(label.front()).empty() || context_in(label.front()) > 0.0);
}

/// Whether words say that nothing is drafted: "vanilla", "without mtp", "eagle3 off".
bool says_plain(const std::string& words) {
    static constexpr std::array<const char*, 10> phrases = {
        "target alone",   "target model alone", "baseline",         "pure", "vanilla", "plain decoding", "without it",
        "autoregressive", "normal decoding",    "standard decoding"};
    return denies_drafting(words) ||
           std::any_of(phrases.begin(), phrases.end(), [&](const char* phrase) { return says(words, phrase); });
}

}  // namespace

bool ends_with_word(std::string_view text, std::string_view word) {
    const std::string words = plain_words(text.substr(text.size() - std::min(text.size(), nearest)));
    return words == word || words.ends_with(" " + std::string(word));
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() &&
           (is_digit(text[at]) || ((text[at] == '.' || text[at] == ',') && at + 1 < text.size() && is_digit(text[at + 1])))) {
        ++at;
    }
    const bool thousands = at < text.size() && text[at] == 'k' && (at + 1 == text.size() || !is_word(text[at + 1]));
    return at + (thousands ? 1 : 0);
}

std::size_t end_of_clause(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        const std::string_view rest = text.substr(at);
        const bool stops = c == ';' || ((c == ',' || c == '.') && (rest.size() == 1 || rest[1] == ' '));
        const bool turns = rest.starts_with(" vs") || rest.starts_with(" and ") || rest.starts_with(" but ") ||
                           rest.starts_with(" / ") || rest.starts_with(" | ");
        if (depth <= 0 && (stops || turns)) {
            return at;
        }
    }
    return text.size();
}

std::vector<std::string> clauses_of(std::string_view text) {
    std::vector<std::string> clauses;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_clause(text, at);
        clauses.push_back(trimmed(text.substr(at, end - at)));
        at = end + 1;
    }
    std::reverse(clauses.begin(), clauses.end());
    return clauses;
}

std::string setup_in(const std::string& clause) {
    constexpr std::size_t most_words_of_label = 4;
    // "mtp_draft_1: 65 tokens"
    if (const std::size_t colon = clause.find(':'); colon != std::string::npos && colon > 0) {
        const std::string label = setup_in(clause.substr(0, colon));
        if (!label.empty() && label != "drafts") {
            return label;
        }
    }
    const std::string words = plain_words(clause);
    const bool label = static_cast<std::size_t>(std::count(words.begin(), words.end(), ' ')) < most_words_of_label;
    const int stated = drafts_of_caption(clause), drafts = stated < 0 && label ? drafts_of_setting(clause) : stated;
    if (drafts > 0) {
        return fmt::format("K={}{}", drafts, cuts_drafts(clause) ? " p-min 0.1" : "");
    }
    const bool regular = ends_with_word(clause, "regular") && !names_drafter(words);
    if (drafts == 0 || says_plain(words) || regular || ends_with_word(clause, "without")) {
        return "baseline";
    }
    return names_drafter(words) ? "drafts" : "";
}

std::vector<Figure> figures_of(std::string_view text) {
    std::vector<Figure> figures;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_digit(text[at]) || (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '.'))) {
            continue;
        }
        Figure figure = figure_at(text, at);
        if (text.substr(figure.end).starts_with('=')) {
            at = figure.end - 1;  // the label of the next
            continue;
        }
        figure.label = load_before(text, at);
        const bool whole = take_unit(text, figure);
        figure.follows = !figures.empty() && figures.back().leads;
        if (figure.follows && figure.unit.empty() && figures.back().unit.starts_with("TPOT")) {
            const std::string time = take_unit_of_time(text, figure.end);
            figure.unit = time.empty() ? figure.unit : "TPOT (" + time + ")";
        }
        figure.leads = leads_to_another(text, figure);
        const bool at_load = figure.label.known() || (!figures.empty() && stands_at_context(text, figure));
        if (whole &&
            (!figure.unit.empty() || at_load || stands_alone(text, figure, figures.empty() ? 0 : figures.back().end))) {
            figures.push_back(figure);
        }
        at = figure.end - 1;
    }
    return figures;
}

}  // namespace treeline::runs::run_formats_of
