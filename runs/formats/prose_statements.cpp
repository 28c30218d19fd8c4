#include "runs/formats/prose_statements.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/prose_figures.h"
#include "runs/formats/prose_lists.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/stated_setup.h"
#include "runs/formats/table_caption.h"
#include "text/plain_text.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// What stands behind is not read.
constexpr std::size_t longest_prose_line = 2000;

/// Without "18 draft tokens, 9 accepted", which counts all drafts and says nothing of the length of one.
std::string without_counts(std::string text) {
    constexpr std::string_view drafted = " draft tokens", accepted = " accepted";
    for (std::size_t at = text.find(drafted); at != std::string::npos; at = text.find(drafted, at + 1)) {
        const std::size_t begin = text.find_last_not_of("0123456789", at == 0 ? 0 : at - 1) + 1;
        const std::size_t number = text.find_first_not_of(" ,", at + drafted.size());
        const std::size_t end = number == std::string::npos ? text.size() : end_of_number(text, number);
        if (begin < at && end > number && std::string_view(text).substr(end).starts_with(accepted)) {
            text.replace(begin, end + accepted.size() - begin, end + accepted.size() - begin, ' ');
        }
    }
    return text;
}

/// In lower case, without the marks of Markdown.
std::string plain_line(std::string_view line) {
    std::string plain;
    for (const char c : text::head(line, longest_prose_line)) {
        if (c != '*' && c != '`') {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    for (const std::string_view micro : {"\u00B5", "\u03BC"}) {
        for (std::size_t at = plain.find(micro); at != std::string::npos; at = plain.find(micro, at)) {
            plain.replace(at, micro.size(), "u");
        }
    }
    return without_counts(plain);
}

/// Of the clauses, the nearest first; a number of drafts counts before a name without one.
std::string setup_of(const std::vector<std::string>& clauses) {
    std::string named;
    for (const std::string& clause : clauses) {
        const std::string setup = setup_in(clause);
        if (!setup.empty() && setup != "drafts") {
            return setup;
        }
        named = named.empty() ? setup : named;
    }
    return named;
}

/// "Prompt 1: 20 tok/s", "- prompt #2": what stands behind the name of an item.
std::string_view behind_item(std::string_view clause) {
    constexpr std::string_view name = "prompt";
    const std::size_t begin = std::min(clause.find_first_not_of(" -"), clause.size());
    if (!clause.substr(begin).starts_with(name)) {
        return clause;
    }
    const std::size_t number = std::min(clause.find_first_not_of(" #", begin + name.size()), clause.size());
    const std::size_t end = std::min(clause.find_first_not_of("0123456789", number), clause.size());
    const bool item = end > number && number > begin + name.size() && (end == clause.size() || clause[end] == ':');
    return item ? clause.substr(std::min(end + 1, clause.size())) : clause;
}

/// Of prompts, which no draft makes faster.
bool is_of_prompts(std::string_view clause) {
    clause = behind_item(clause);
    // "2k prompt: spec off 63 tok/s"
    if (const std::size_t colon = clause.rfind(':'); colon != std::string_view::npos) {
        const std::string_view after = clause.substr(colon + 1);
        if (!setup_in(std::string(after)).empty()) {
            return is_of_prompts(after);
        }
    }
    const std::string words = plain_words(clause);
    return std::any_of(words.begin(), words.end(), [](char c) { return c != ' '; }) &&
           (says(words, "prompt") || says(words, "prefill") || says(words, "pp") || says(words, "input") ||
            words.find("pp512") != std::string::npos);
}

/// Puts the accept length or rate of a clause into a statement, if it gives one.
void take_acceptance(const std::string& clause, Statement& statement) {
    std::string name = clause;
    const std::size_t digit = name.find_first_of("0123456789");
    if (digit == std::string::npos || !statement.length.empty() || !statement.rate.empty()) {
        return;
    }
    const std::string number = name.substr(digit, end_of_number(name, digit) - digit);
    const bool percent = text::trimmed(std::string_view(name).substr(digit + number.size())).starts_with('%');
    name.erase(digit, number.size());
    std::string words = plain_words(name);
    // "10 t/s @ 88.2%", as ik_llama.cpp's users write it
    words = words.empty() && percent && text::trimmed(name).starts_with('@') ? "acceptance" : words;
    for (const std::string_view filler : {"with ", "at ", "an ", "the ", "mean ", "average ", "avg ", "of "}) {
        words = words.starts_with(filler) ? words.substr(filler.size()) : words;
    }
    words = words.ends_with(" of") ? words.substr(0, words.size() - 3) : words;
    words = words == "acc" && statement.setup.starts_with("K=") ? "acceptance" : words;
    words = words == "accepted draft tokens" && percent ? "accepted" : words;
    const Role role = role_of(words);
    const bool counts = !percent && number_of(number).value_or(0.0) > 1.0;  // "9 accepted" is of how many is not known
    if (role == Role::length || (role == Role::accept_rate && counts && !says(words, "accepted"))) {
        statement.length = number;
    } else if (role == Role::accept_rate && !counts) {
        statement.rate = number + (percent ? "%" : "");
    }
}

/// Clauses, what stands in brackets and what a label with a number ("K=3:") stands before, each by itself.
std::vector<std::string> parts_of(const std::vector<std::string>& clauses) {
    std::vector<std::string> parts;
    for (const std::string& clause : clauses) {
        std::string part;
        for (const char c : clause + ")") {
            const bool labels = c == ':' && part.find_first_of("0123456789") != std::string::npos;
            if (!labels && std::string_view("()[],;").find(c) == std::string_view::npos) {
                part += c;
            } else if (!part.empty()) {
                parts.push_back(std::exchange(part, {}));
            }
        }
    }
    return parts;
}

/// What stands around a figure: up to the figure before it, to the end of its clause, and, behind the last figure, the rest of
/// its sentence and of the line.
struct Surroundings {
    std::vector<std::string> before, after, sentence, rest;

    [[nodiscard]] bool of_prompts() const {
        return (!before.empty() && is_of_prompts(before.front())) || (!after.empty() && is_of_prompts(after.back()));
    }
};

/// "4 slots", "8 users", "c4": as many are in flight as a clause about a figure names; 0 where it names none.
int requests_by_noun(const std::string& clause) {
    static constexpr std::array<std::string_view, 8> nouns = {"slot",   "slots",   "user",   "users",
                                                              "client", "clients", "stream", "streams"};
    std::istringstream words(plain_words(clause));
    std::string before;
    for (std::string word; words >> word; before = word) {
        const bool noun = std::find(nouns.begin(), nouns.end(), word) != nouns.end(), label = word.starts_with('c');
        const int count = noun ? whole_number(before) : label ? whole_number(std::string_view(word).substr(1)) : 0;
        if (count > 0) {
            return count;
        }
    }
    return 0;
}

/// Requests in flight, as a cell; empty where nothing says it.
std::string requests_in(const Surroundings& around) {
    for (const std::vector<std::string>* clauses : {&around.after, &around.before, &around.sentence}) {
        for (const std::string& clause : *clauses) {
            TableCaption caption;
            caption.take(clause);
            if (const double requests = std::max<double>(caption.batch(), requests_by_noun(clause)); requests >= 1.0) {
                return fmt::format("{}", requests);
            }
        }
    }
    return {};
}

/// Tokens of context, as a cell; empty where nothing says it.
std::string context_around(const Surroundings& around) {
    for (const std::vector<std::string>* clauses : {&around.after, &around.before, &around.sentence}) {
        for (const std::string& clause : *clauses) {
            if (const double context = context_in(clause); context >= 1.0) {
                return fmt::format("{}", context);
            }
        }
    }
    return {};
}

/// What tells the figure's deployment from others: said before it, or else behind it.
DeploymentWords deployment_around(const Surroundings& around) {
    DeploymentWords words;
    for (const std::vector<std::string>* clauses : {&around.before, &around.after}) {
        for (const std::string& clause : *clauses) {
            words.add(deployment_in(clause));
        }
    }
    return words;
}

/// The set-ups of two figures ("MTP k=2: 38 -> 52 tok/s"), of which `said` stands beside them: that of the second, unless it
/// says both ("no MTP -> MTP k=2: 38 -> 52 tok/s") or several.
std::pair<std::string, std::string> setups_of_pair(const std::vector<std::string>& before, const std::string& said) {
    for (const std::string& clause : before) {
        const auto sides = sides_of_arrow(clause);
        const std::string first = sides ? setup_in(sides->first) : "", second = sides ? setup_in(sides->second) : "";
        if (!first.empty() && !second.empty()) {
            return {first, second};
        }
        if (names_several_lengths(clause)) {
            return {said, said};
        }
    }
    return {"baseline", said};
}

/// Whether a sentence compares software, so that of two figures the first is not of plain decoding.
bool compares_versions(const std::string& sentence) {
    const std::string words = plain_words(sentence);
    static constexpr std::array<const char*, 12> names = {"pr",       "fix",    "patch",    "commit",  "upgrade", "upgrading",
                                                          "upgraded", "update", "updating", "version", "driver",  "release"};
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return says(words, name); });
}

/// Where the sentence begins in which `at` lies.
std::size_t begin_of_sentence(std::string_view text, std::size_t at) {
    const std::size_t stop = text.substr(0, at).rfind(". ");
    return stop == std::string_view::npos ? 0 : stop + 2;
}

std::size_t end_of_sentence(std::string_view text, std::size_t at) { return std::min(text.find(". ", at), text.size()); }

/// The set-up of the second of two figures where nothing says of what the first is: the sentence is about software, or only an
/// earlier one names drafts. Empty where it is plain decoding.
std::string setup_after_unsaid(std::string_view text, const Figure& figure) {
    const std::size_t begin = begin_of_sentence(text, figure.begin);
    const std::string sentence(text.substr(begin, figure.begin - begin));
    const std::string own = setup_of(clauses_of(sentence)), earlier = setup_of(clauses_of(text.substr(0, begin)));
    if (own.empty()) {
        return earlier.starts_with("K=") ? earlier : "";
    }
    return own != "baseline" && compares_versions(sentence) ? own : "";
}

/// "87 vs 115 tok/s": a figure whose unit is that of the number before it, too, so that nothing says which of them drafts.
bool stands_against_number(std::string_view before) {
    std::string text = text::trimmed(before);
    for (const std::string_view against : {"vs", "vs.", "versus"}) {
        if (ends_with_word(text, against)) {
            text = text::trimmed(std::string_view(text).substr(0, text.size() - against.size()));
            return !text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0;
        }
    }
    return false;
}

Statement statement_of(const Figure& figure, const Surroundings& around) {
    Statement statement{.setup = setup_of(around.before),
                        .unit = figure.unit,
                        .time = figure.number,
                        .requests = requests_in(around),
                        .context = context_around(around),
                        .length = {},
                        .rate = {},
                        .follows = figure.follows,
                        .deployment = deployment_around(around),
                        .line = 0};
    if (figure.label.known()) {
        statement.requests = figure.label.requests > 0.0 ? fmt::format("{}", figure.label.requests) : statement.requests;
        statement.context = figure.label.context > 0.0 ? fmt::format("{}", figure.label.context) : statement.context;
    }
    if (const std::string behind = figure.leads ? "" : setup_of(around.after);
        statement.setup.empty() || (!behind.empty() && behind != "drafts")) {
        statement.setup = behind;
    }
    if (figure.leads && !figure.unit.empty()) {
        const std::string first = setups_of_pair(around.before, statement.setup).first;
        statement.assumed = first == "baseline" && !statement.setup.empty() && statement.setup != first;
        statement.setup = first;
    }
    for (const std::vector<std::string>* clauses : {&around.after, &around.before, &around.rest}) {
        for (const std::string& part : parts_of(*clauses)) {
            take_acceptance(part, statement);
        }
    }
    return statement;
}

/// A load (Statement::requests or ::context) that stands once in a line is of all of it, one of several of what follows up to
/// the next.
void share(std::vector<Statement>& statements, std::string Statement::*load) {
    const auto states = [&](const Statement& statement) { return !(statement.*load).empty(); };
    const auto first = std::find_if(statements.begin(), statements.end(), states);
    if (first == statements.end()) {
        return;
    }
    const bool only = std::none_of(
        first, statements.end(), [&](const Statement& other) { return !(other.*load).empty() && other.*load != *first.*load; });
    std::string shared = only ? *first.*load : "";
    for (Statement& statement : statements) {
        shared = (statement.*load).empty() ? shared : statement.*load;
        statement.*load = shared;
    }
}

/// "MTP k=3: 1k=68 20k=63 tok/s", "27B: 40 -> 78 tok/s": what the first says is of the others that only state a load, or less.
void inherit(Statement& statement, const std::vector<Statement>& before) {
    if (before.empty()) {
        return;
    }
    const bool states_load = !statement.requests.empty() || !statement.context.empty();
    if (statement.setup.empty() && states_load && !statement.follows) {
        statement.setup = before.back().setup;
    }
    if (!statement.deployment.any()) {
        statement.deployment = before.back().deployment;
    }
}

/// "140 tok/s vs 100 baseline (accept length 2.4)": plain decoding accepts nothing, so that it is said of the line's drafts.
void give_acceptance_to_drafts(std::vector<Statement>& statements) {
    std::vector<Statement*> open;
    for (Statement& statement : statements) {
        if (statement.setup != "baseline" && statement.length.empty() && statement.rate.empty()) {
            open.push_back(&statement);
        }
    }
    for (Statement& plain : statements) {
        if (plain.setup == "baseline" && open.size() == 1 && !(plain.length.empty() && plain.rate.empty())) {
            open.front()->length = std::exchange(plain.length, {});
            open.front()->rate = std::exchange(plain.rate, {});
            open.clear();
        }
    }
}

/// Whether the nearest clause before a figure, or its sentences, say that the drafter ran by itself, without a target:
/// "draft model: 475 tok/s", "the draft model itself is fine; served solo: 475 tok/s".
bool is_of_drafter(std::string_view before) {
    const std::vector<std::string> clauses = clauses_of(before);
    std::string label = clauses.empty() ? std::string() : plain_words(clauses.front());
    label = label.starts_with("the ") ? label.substr(4) : label;
    const std::string words = plain_words(before);
    const auto says_any = [&](std::initializer_list<const char*> phrases) {
        return std::any_of(phrases.begin(), phrases.end(), [&](const char* phrase) { return says(words, phrase); });
    };
    const auto last_of = [&](std::initializer_list<std::string_view> names) {
        std::size_t last = 0;
        for (const std::string_view name : names) {
            const std::size_t at = words.rfind(name);
            last = at == std::string::npos ? last : std::max(last, at + 1);
        }
        return last;
    };
    const bool of_target = last_of({"target", "main model", "baseline"}) > last_of({"draft model", "drafter"});
    return label == "draft model" || label == "drafter" ||
           (says_any({"draft model", "drafter"}) && !of_target &&
            says_any({"itself", "solo", "alone", "standalone", "by itself", "on its own"}));
}

/// Where a threshold ends drafts, a share of them is of an unknown length.
void leave_out_cut_rates(std::string_view text, std::vector<Statement>& statements) {
    for (Statement& statement : statements) {
        const bool told = statement.setup.find("p-min") != std::string::npos;  // which the table refuses
        statement.rate = cuts_drafts(std::string(text)) && !told ? "" : statement.rate;
    }
}

}  // namespace

StatedLine statements_of(std::string_view line) {
    const LinesLists apart = with_lists_apart(plain_line(line));
    const std::string_view text = apart.text;
    StatedLine result;
    result.lists_left_out = apart.left_out;
    std::vector<Figure> figures = figures_of(text);
    std::vector<Statement>& statements = result.statements;
    std::string of_line;
    bool alone = false;
    std::size_t from = 0;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        Figure& figure = figures[i];
        const bool last = i + 1 == figures.size();
        const std::size_t next = last ? text.size() : figures[i + 1].begin;
        // What runs on into the next figure is said of that one.
        const std::size_t clause = end_of_clause(text, figure.end), until = clause < next || last ? clause : figure.end;
        const Surroundings around{clauses_of(text.substr(from, figure.begin - from)),
                                  clauses_of(text.substr(figure.end, until - figure.end)),
                                  clauses_of(text.substr(until, last ? end_of_sentence(text, until) - until : 0)),
                                  clauses_of(text.substr(until, last ? text.size() - until : 0))};
        figure.unit = figure.leads && !last && figure.unit.empty() ? figures[i + 1].unit : figure.unit;
        if (const std::string after = figure.leads && !figure.unit.empty() ? setup_after_unsaid(text, figure) : "";
            !after.empty()) {
            of_line = after;
            alone = true;
            from = figure.end;
            continue;
        }
        if (stands_against_number(text.substr(from, figure.begin - from))) {
            from = figure.end;
            continue;
        }
        Statement statement = statement_of(figure, around);
        statement.alone = std::exchange(alone, false);
        // "MTP with 3 draft tokens: 90 tok/s without, 135 tok/s with it"
        const std::string before = setup_of(around.before);
        const auto pair = setups_of_pair(around.before, before);
        of_line = figure.leads && !before.empty() && pair.first != pair.second ? pair.second
                  : before.starts_with("K=") && statement.setup == "baseline"  ? before
                                                                               : of_line;
        const bool open = statement.setup.empty() || statement.setup == "drafts";
        statement.setup = open && !of_line.empty() ? of_line : statement.setup;
        if (!statement.setup.starts_with("K=") && !figure.unit.empty() && is_of_drafter(text.substr(0, figure.begin))) {
            result.drafter_left_out = true;
            from = figure.end;
            continue;
        }
        // What is said before a prompt's rate may be said of the answer's.
        const bool told =
            !statement.unit.empty() || !statement.setup.empty() || figure.label.known() || !statement.context.empty();
        if (around.of_prompts() || !told) {
            continue;
        }
        from = until;
        inherit(statement, statements);
        statements.push_back(std::move(statement));
    }
    share(statements, &Statement::requests);
    share(statements, &Statement::context);
    give_acceptance_to_drafts(statements);
    leave_out_cut_rates(text, statements);
    return result;
}

std::string requests_of_line(std::string_view line) {
    static constexpr std::array<std::string_view, 34> words_of_load = {
        "concurrency", "concurrent", "conc",   "batch",   "size",     "bs",       "single", "stream", "streams",
        "user",        "users",      "client", "clients", "request",  "requests", "slots",  "in",     "flight",
        "at",          "with",       "all",    "both",    "measured", "tested",   "run",    "of",     "max",
        "maximum",     "setup",      "load",   "numbers", "are",      "each",     "the"};
    std::string plain = plain_line(line);
    std::erase_if(plain, [](char c) { return c == '(' || c == ')'; });
    for (const std::string& clause : clauses_of(plain)) {
        TableCaption caption;
        caption.take(clause);
        const std::vector<std::string> words = words_of(plain_words(clause));
        const bool alone = std::all_of(words.begin(), words.end(), [](const std::string& word) {
            return word.find_first_not_of("0123456789") == std::string::npos ||
                   std::find(words_of_load.begin(), words_of_load.end(), word) != words_of_load.end();
        });
        if (alone && caption.batch() >= 1.0) {
            return fmt::format("{}", caption.batch());
        }
    }
    return {};
}

void take_acceptance_of_line(std::string_view line, Statement& statement) {
    for (const std::string& part : parts_of(clauses_of(plain_line(line)))) {
        take_acceptance(part, statement);
    }
}

}  // namespace treeline::runs::run_formats_of
