#include "validation/serving/names.h"

#include <algorithm>
#include <cctype>

namespace treeline::validation {
namespace {

bool is_kept(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '+'; }

/// Whether `word` is the ignored word `pattern`, in which # stands for a digit.
bool is_word(std::string_view pattern, std::string_view word) {
    return pattern.size() == word.size() && std::equal(pattern.begin(), pattern.end(), word.begin(), [](char p, char w) {
               return p == w || (p == '#' && std::isdigit(static_cast<unsigned char>(w)) != 0);
           });
}

bool is_among(const std::vector<std::string>& words, std::string_view word) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& ignored) { return is_word(ignored, word); });
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (c == '-') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

/// "8xh100" -> "h100".
std::string_view without_count(std::string_view word) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const std::size_t digits = static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), is_digit) - word.begin());
    const bool counts = digits > 0 && digits + 1 < word.size() && word[digits] == 'x';
    return counts ? word.substr(digits + 1) : word;
}

/// "rtx4090" -> "rtx-4090": letters of a series directly before its number.
std::string with_series_apart(std::string_view word) {
    for (const std::string_view series : {"rtx", "gtx", "rx"}) {
        if (word.starts_with(series) && word.size() > series.size() &&
            std::isdigit(static_cast<unsigned char>(word[series.size()])) != 0) {
            return std::string(series) + "-" + std::string(word.substr(series.size()));
        }
    }
    return std::string(word);
}

std::string_view before(std::string_view text, std::string_view separator) { return text.substr(0, text.find(separator)); }

}  // namespace

std::string normalised(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (is_kept(c)) {
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!result.empty() && result.back() != '-') {
            result += '-';
        }
    }
    while (!result.empty() && result.back() == '-') {
        result.pop_back();
    }
    return result;
}

std::string model_stem(std::string_view text, const NameTable& table) {
    text = before(before(text, "("), " + ");
    if (const std::size_t slash = text.rfind('/'); slash != std::string_view::npos) {
        text.remove_prefix(slash + 1);
    }
    std::string stem;
    for (const std::string& word : words_of(normalised(text))) {
        const bool ignored = is_among(table.ignored_words, word) || (stem.empty() && is_among(table.ignored_prefixes, word));
        if (!ignored) {
            stem += (stem.empty() ? "" : "-") + word;
        }
    }
    return stem;
}

std::string device_stem(std::string_view text, const NameTable& table) {
    std::string stem;
    for (const std::string& word : words_of(normalised(text))) {
        if (!stem.empty() || !is_among(table.ignored_device_words, word)) {
            stem += stem.empty() ? with_series_apart(without_count(word)) : "-" + word;
        }
    }
    return stem;
}

bool fits(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return pattern == text;
    }
    if (text.substr(0, star) != pattern.substr(0, star)) {
        return false;
    }
    for (std::size_t rest = star; rest <= text.size(); ++rest) {
        if (fits(pattern.substr(star + 1), text.substr(rest))) {
            return true;
        }
    }
    return false;
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view text) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) { return fits(pattern, text); });
}

const NameEntry* entry_for(const std::vector<NameEntry>& entries, std::string_view normalised_text) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const NameEntry& entry) { return fits_any(entry.patterns, normalised_text); });
    return found == entries.end() ? nullptr : &*found;
}

const EngineEntry* engine_for(const NameTable& table, std::string_view text) {
    const std::string wanted = normalised(text);
    const auto found = std::find_if(table.engines.begin(), table.engines.end(),
                                    [&](const EngineEntry& entry) { return fits_any(entry.names.patterns, wanted); });
    return found == table.engines.end() ? nullptr : &*found;
}

const FormatEntry* format_in(const NameTable& table, std::string_view text, std::string_view engine) {
    std::vector<std::string> words = words_of(normalised(text));
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        words[i] += words[i + 1] == "bit" ? "bit" : "";  // "8-bit"
    }
    const auto names_it = [&](const FormatEntry& entry) {
        return (entry.engines.empty() || fits_any(entry.engines, engine)) &&
               std::any_of(words.begin(), words.end(), [&](const std::string& word) { return fits_any(entry.patterns, word); });
    };
    const auto found = std::find_if(table.formats.begin(), table.formats.end(), names_it);
    return found == table.formats.end() ? nullptr : &*found;
}

const DatasetEntry& dataset_for(const NameTable& table, std::string_view text) {
    const std::string wanted = normalised(text);
    const auto found = std::find_if(table.datasets.begin(), table.datasets.end(),
                                    [&](const DatasetEntry& entry) { return fits_any(entry.patterns, wanted); });
    return found == table.datasets.end() ? table.datasets.back() : *found;
}

}  // namespace treeline::validation
