#include "runs/formats/table_caption.h"
#include "runs/formats/load_numbers.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/time_units.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "text/plain_text.h"

namespace treeline::runs::run_formats_of {
namespace {

using Words = std::vector<std::string>;

/// A paragraph of more is no caption.
constexpr std::size_t most_lines = 8, longest_line = 400;

std::string without_marks(std::string_view text, std::string_view blanks = " \t\r*_`>") {
    const std::size_t first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
    return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last + 1 - first));
}

Words words_of_line(const std::string& text) {
    std::istringstream in(plain_words(text));
    return Words(std::istream_iterator<std::string>(in), {});
}

constexpr std::initializer_list<const char*> times_per_token = {"tpot", "time per output token", "time per token",
                                                                "times per token"};

bool says_one_of(const std::string& words, std::initializer_list<const char*> phrases) {
    return std::any_of(phrases.begin(), phrases.end(), [&](const char* phrase) { return says(words, phrase); });
}

/// Of which one has a request in flight each.
bool names_client(const std::string& word) {
    return word.starts_with("stream") || word == "user" || word == "users" || word == "client" || word == "clients";
}

/// The requests in flight that the words from `at` on say; 0 where they say none.
int requests_at(const Words& words, std::size_t at) {
    const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
    const std::string next = word(at + 1);
    if (word(at) == "single" && (next == "stream" || next == "user" || next == "request" || next == "sequence")) {
        return 1;
    }
    const bool names = word(at) == "concurrency" || word(at) == "conc" || word(at) == "bs" || word(at) == "batch";
    const std::string number = names                                                 ? (next == "size" ? word(at + 2) : next)
                               : word(at).starts_with("bs")                          ? word(at).substr(2)
                               : next.starts_with("concurren") || names_client(next) ? word(at)  // "8 streams"
                                                                                     : "";
    return std::max(0, whole_number(number));
}

/// "lmtp" of a short line that switches something ("LMTP on"); empty for another line.
std::string switched(const std::string& text, const std::string& how) {
    constexpr std::ptrdiff_t most_words = 4;
    const std::string words = plain_words(text);
    const bool ends = words.ends_with(" " + how) && std::count(words.begin(), words.end(), ' ') < most_words;
    const bool other = says_one_of(words, {"think", "thinking", "reasoning", "cache", "caching", "graph", "graphs", "cudagraph",
                                           "cudagraphs", "attention", "fa", "compile", "chunked prefill", "streaming"});
    return ends && !other ? words.substr(0, words.size() - how.size() - 1) : "";
}

/// A short line that names the rows below it as plain decoding, and compares them with nothing.
bool names_plain(const std::string& text) {
    constexpr std::size_t most_words = 8;
    const std::string words = plain_words(text);
    return words_of_line(text).size() <= most_words && (means_plain(words) || !switched(text, "off").empty()) &&
           !sides_of_arrow(text) &&
           !says_one_of(words, {"vs", "versus", "and", "or", "against", "over", "than", "with mtp", "no longer"});
}

}  // namespace

int requests_of_heading(const std::string& heading) {
    const Words words = words_of_line(heading);
    if (words.size() == 2 && (words[1].starts_with("user") || words[1].starts_with("request") || words[1] == "concurrent")) {
        return std::max(0, whole_number(words[0]));
    }
    if (words.size() == 2 && requests_at(words, 0) == 1) {
        return 1;  // "Single-stream"
    }
    for (const std::string_view name : {"concurrency", "conc", "c", "bs", "batch", "b", "np"}) {
        const bool apart = words.size() == 2 && words[0] == name, joined = words.size() == 1 && words[0].starts_with(name);
        if (const int count = apart    ? whole_number(words[1])
                              : joined ? whole_number(std::string_view(words[0]).substr(name.size()))
                                       : 0;
            count > 0 && !(joined && name == "b" && count % 100 == 0)) {  // "B200"
            return count;
        }
    }
    return 0;
}

int requests_in_label(const std::string& cell) {
    const Words words = words_of_line(cell);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool apart = words[i] == "c" && i + 1 < words.size(), joined = words[i].size() > 1 && words[i][0] == 'c';
        const int count = apart ? whole_number(words[i + 1]) : joined ? whole_number(std::string_view(words[i]).substr(1)) : 0;
        if (count > 0) {
            return count;
        }
    }
    return 0;
}

void TableCaption::take(std::string_view line) {
    const std::string text = without_marks(text::head(line, longest_line));
    if (text.empty()) {
        ended_ = true;
        return;
    }
    above_.take(text);
    if (const std::string off = switched(text, "off"); !off.empty()) {
        switched_off_.insert(off);
    }
    const std::size_t level = text.find_first_not_of('#');
    if (level != 0 && level != std::string::npos && text[level] == ' ') {
        headings_.erase(headings_.lower_bound(level), headings_.end());
        headings_[level] = without_marks(std::string_view(text).substr(level));
        paragraph_.clear();
        return;
    }
    if (std::exchange(ended_, false) || paragraph_.size() >= most_lines) {
        paragraph_.clear();
    }
    paragraph_.push_back(text);
}

void TableCaption::end_paragraph() {
    ended_ = true;
    if (drafts() >= 0) {
        above_.end();  // it was stated for these numbers
    }
}

std::vector<std::string> TableCaption::parts() const {
    std::vector<std::string> parts(paragraph_.rbegin(), paragraph_.rend());
    for (auto heading = headings_.rbegin(); heading != headings_.rend(); ++heading) {
        parts.push_back(heading->second);
    }
    return parts;
}

std::string TableCaption::title() const {
    constexpr std::size_t longest = 60;
    const std::vector<std::string> all = parts();
    return all.empty() ? std::string() : std::string(text::head(all.front(), longest));
}

Role TableCaption::times() const {
    for (const std::string& part : parts()) {
        const std::string words = plain_words(part);
        const bool times = says_time_per_token(words) || says_one_of(words, times_per_token);
        const bool rates = says_rate_of_tokens(words);
        if (times != rates) {
            const bool each = rates && says_one_of(words, {"user", "per request", "per stream", "per slot"});
            return times ? Role::tpot : each ? Role::rate_of_user : Role::rate;
        }
    }
    return Role::none;
}

double TableCaption::unit_of(Role role) const {
    for (const std::string& part : parts()) {
        const std::string words = plain_words(part);
        const bool of_all = says_one_of(words, {"times", "latency", "latencies"});
        const bool of_tokens = says_time_per_token(words) || says_one_of(words, times_per_token);
        const TimeUnit unit = of_all || (of_tokens && role == Role::tpot) ? unit_in_words(words) : TimeUnit();
        if (unit.named()) {
            return unit.seconds;
        }
    }
    return 0.0;
}

bool TableCaption::names_throughput() const {
    const std::vector<std::string> all = parts();
    return std::any_of(all.begin(), all.end(), [](const std::string& part) {
        const std::string words = plain_words(part);
        return says(words, "throughput") &&
               !says_one_of(words, {"req s", "requests s", "requests per second", "prompt", "prefill"});
    });
}

int TableCaption::drafts() const {
    for (const std::string& part : parts()) {
        if (const int drafts = drafts_of_caption(part); drafts >= 0 && !sides_of_arrow(part)) {
            return drafts;
        }
        if (names_plain(part)) {
            return 0;
        }
    }
    return -1;
}

bool TableCaption::drafting() const {
    const std::vector<std::string> all = parts();
    return std::any_of(all.begin(), all.end(), [&](const std::string& part) {
        return names_drafter(plain_words(part)) || switched_off_.contains(switched(part, "on"));
    });
}

bool TableCaption::of_prompts() const {
    const std::vector<std::string> all = parts();
    const std::string words = all.empty() ? "" : plain_words(all.front().substr(0, all.front().find('(')));
    const auto names = [&](const std::string& phrase) {
        return words.starts_with(phrase) || words.ends_with(phrase) || words.ends_with(phrase + " speed") ||
               words.ends_with(phrase + " throughput");
    };
    static const Words prompts = {"prefill", "prompt processing", "ttft", "time to first token"};
    return std::any_of(prompts.begin(), prompts.end(), names) &&
           !says_one_of(plain_words(all.front()), {"decode", "decoding", "generation", "tg", "tpot", "output"});
}

bool TableCaption::cuts() const {
    const std::vector<std::string> all = parts();
    return std::any_of(all.begin(), all.end(), cuts_drafts);
}

double TableCaption::batch() const {
    for (const std::string& part : parts()) {
        const Words words = words_of_line(part);
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (const int count = requests_at(words, i); count > 0) {
                return count;
            }
        }
    }
    return 0.0;
}

StatedRanks TableCaption::ranks() const {
    for (const std::string& part : parts()) {
        if (const StatedRanks found = ranks_in(plain_words(part)); !found.text.empty()) {
            return found;
        }
    }
    return {};
}

DeploymentWords TableCaption::deployment() const {
    DeploymentWords words;
    for (std::string part : parts()) {
        std::transform(part.begin(), part.end(), part.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        words.add(deployment_in(part));
    }
    return words;
}

std::optional<std::pair<std::string, std::string>> TableCaption::sides() const {
    for (const std::string& part : parts()) {
        auto sides = sides_of_arrow(part);
        if (!sides) {
            continue;
        }
        const std::size_t before = sides->first.find_last_of(",:;("), after = sides->second.find_first_of(",:;");
        sides->first = without_marks(std::string_view(sides->first).substr(before == std::string::npos ? 0 : before + 1));
        sides->second = sides->second.substr(0, after);
        return sides;
    }
    return std::nullopt;
}

}  // namespace treeline::runs::run_formats_of
