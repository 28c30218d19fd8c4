#include "runs/formats/time_units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runs/formats/load_columns.h"
#include "runs/formats/load_numbers.h"

namespace treeline::runs::run_formats_of {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Units of time that nobody gives a token in, by their names, by their ends ("picoseconds") or by a prefix before the "s"
/// ("ks").
bool looks_like_unit(std::string_view word) {
    static constexpr std::array<std::string_view, 19> names = {
        "h",     "hr",   "hrs",       "hour",       "hours", "day",   "days",   "week",  "weeks",  "year",
        "years", "tick", "fortnight", "fortnights", "ticks", "cycle", "cycles", "jiffy", "jiffies"};
    static constexpr std::array<std::string_view, 6> other_words = {"as", "bs", "is", "os", "ts", "vs"};
    if (seconds_of_unit(word) || word.find_first_of("0123456789") != std::string_view::npos) {
        return false;
    }
    const bool ends = word.ends_with("sec") || word.ends_with("secs") || word.ends_with("second") || word.ends_with("seconds");
    return ends || is_one_of(word, names) || (word.size() == 2 && word.back() == 's' && !is_one_of(word, other_words));
}

bool counts_tokens(std::string_view word) {
    static constexpr std::array<std::string_view, 8> words = {"tok", "toks", "token", "tokens", "t", "tk", "iter", "req"};
    return is_one_of(word, words);
}

/// Words behind which a unit of their times may stand.
bool names_time(std::string_view word) {
    static constexpr std::array<std::string_view, 7> words = {"tpot", "ttft", "itl", "e2el", "time", "times", "latency"};
    return is_one_of(word, words);
}

/// Whether "per token", "tok" or "output token" stands at a place.
bool is_per_token(const std::vector<std::string>& words, std::size_t at) {
    at += at < words.size() && words[at] == "per" ? 1 : 0;
    at += at < words.size() && words[at] == "output" ? 1 : 0;
    return at < words.size() && (words[at] == "tok" || words[at] == "token");
}

/// Whether "per token" or "per output token" ends before a place.
bool ends_per_token(const std::vector<std::string>& words, std::size_t at) {
    const bool token = at > 1 && (words[at - 1] == "token" || words[at - 1] == "tok");
    return token && (words[at - 2] == "per" || (at > 2 && words[at - 2] == "output" && words[at - 3] == "per"));
}

/// Whether the word at a place is of a rate: "tok s", "tokens per second".
bool is_of_rate(const std::vector<std::string>& words, std::size_t at) {
    return at > 0 && (words[at - 1] == "per" || (counts_tokens(words[at - 1]) && !ends_per_token(words, at)));
}

/// Whether the word at a place stands where a unit does: last, behind the name of a time, or before "per token".
bool stands_as_unit(const std::vector<std::string>& words, std::size_t at) {
    return at + 1 == words.size() || names_time(words[at > 0 ? at - 1 : 0]) || ends_per_token(words, at) ||
           is_per_token(words, at + 1);
}

/// "ms" of the key "mean_tpot_ms", whose quantity is "mean_tpot"; empty for another key.
std::string unit_of_key(const std::string& key, const std::string& name) {
    const bool fits = key.size() > name.size() + 1 && key.starts_with(name) && key[name.size()] == '_';
    return fits ? plain_words(std::string_view(key).substr(name.size() + 1)) : std::string();
}

}  // namespace

std::optional<double> seconds_of_unit(std::string_view word) {
    static constexpr std::array<std::pair<std::string_view, double>, 22> units = {
        {{"ns", 1e-9},     {"nsec", 1e-9},     {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},  {"us", 1e-6},
         {"usec", 1e-6},   {"microsec", 1e-6}, {"microsecond", 1e-6}, {"microseconds", 1e-6}, {"ms", 1e-3},
         {"msec", 1e-3},   {"millisec", 1e-3}, {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"s", 1.0},
         {"sec", 1.0},     {"secs", 1.0},      {"second", 1.0},       {"seconds", 1.0},       {"mins", 60.0},
         {"minute", 60.0}, {"minutes", 60.0}}};
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& unit) { return unit.first == word; });
    return found == units.end() ? std::nullopt : std::optional(found->second);
}

TimeUnit unit_in_words(const std::string& words) {
    const std::vector<std::string> all = words_of(words);
    TimeUnit unit;
    for (std::size_t at = 0; at < all.size() && !unit.named(); ++at) {
        if (is_of_rate(all, at)) {
            continue;
        }
        const std::optional<double> seconds = seconds_of_unit(all[at]);
        const bool may_be_letter = all[at] == "s";  // of a possessive, and the like
        if (seconds && (!may_be_letter || stands_as_unit(all, at))) {
            unit.seconds = *seconds;
        } else if (looks_like_unit(all[at]) && stands_as_unit(all, at) && unit.unknown.empty()) {
            unit.unknown = all[at];
        }
    }
    return unit.named() ? TimeUnit{unit.seconds, {}} : unit;
}

TimeUnit unit_in_cell(const std::string& cell) {
    const std::string behind = unit_of(cell), words = plain_words(behind), word = words.substr(0, words.find(' '));
    if (const std::optional<double> seconds = word == "min" ? std::optional(60.0) : seconds_of_unit(word)) {
        return {*seconds, {}};
    }
    // What is written to the number is its unit, but for the thousands of "1.2k" and factors.
    const bool joined = !behind.empty() && std::isalpha(static_cast<unsigned char>(behind.front())) != 0;
    const bool other = word == "k" || word == "x" || word == "e";
    return {0.0, (joined && !other) || looks_like_unit(word) ? word : std::string()};
}

std::string name_of_unit(double seconds) {
    return seconds == 1e-9 ? "ns" : seconds == 1e-6 ? "us" : seconds == 1.0 ? "s" : seconds == 60.0 ? "minutes" : "ms";
}

bool says_time_per_token(const std::string& words) {
    const std::vector<std::string> all = words_of(words);
    for (std::size_t at = 0; at + 1 < all.size(); ++at) {
        const bool unit = seconds_of_unit(all[at]).has_value() || looks_like_unit(all[at]);
        if (unit && !is_of_rate(all, at) && is_per_token(all, at + 1)) {
            return true;
        }
    }
    return false;
}

std::string unknown_unit_text(const std::string& unit, const std::string& place) {
    return fmt::format("names the unit \"{}\" ({}), which is none of time that is read: ns, us, ms, s or minutes", unit, place);
}

std::optional<double> seconds_under(const RunJson& json, const std::string& name) {
    for (const auto& [key, value] : json.items()) {
        const std::optional<double> unit = value.is_number() ? seconds_of_unit(unit_of_key(key, name)) : std::nullopt;
        if (unit) {
            return value.get<double>() * *unit;
        }
    }
    return number_at(json, name);
}

std::string unknown_unit_under(const RunJson& json, const std::string& name) {
    for (const auto& [key, value] : json.items()) {
        if (const std::string unit = unit_of_key(key, name); looks_like_unit(unit)) {
            return unknown_unit_text(unit, key);
        }
    }
    return {};
}

}  // namespace treeline::runs::run_formats_of
