#include "json/key.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "text/number_text.h"
#include "text/wording.h"

namespace treeline::json {
namespace {

/// "10⁸" and "10⁻⁶" for powers of ten that are long to write, else "1,024" or "0.01".
std::string bound_text(double value) {
    const double exponent = std::log10(std::abs(value));
    const bool power_of_ten = value != 0.0 && exponent == std::floor(exponent) && std::abs(exponent) >= 4.5;
    if (!power_of_ten) {
        const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
        const std::string text = whole ? text::grouped_text(static_cast<long long>(value)) : text::exact_text(value);
        return text.starts_with('-') ? "−" + text.substr(1) : text;
    }
    static const std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = value < 0.0 ? "−10" : "10";
    text += exponent < 0.0 ? "⁻" : "";
    for (const char digit : std::to_string(static_cast<int>(std::abs(exponent)))) {
        text += digits.at(static_cast<std::size_t>(digit - '0'));
    }
    return text;
}

std::string range_text(double low, double high) { return bound_text(low) + " to " + bound_text(high); }

/// A row of a key whose default is `fallback` unless words say it better.
template <class Key>
KeyRow row(const Key& key, KeyForm form, std::string type, std::string fallback) {
    return {std::string(key.key),
            std::move(type),
            key.otherwise.empty() ? std::move(fallback) : std::string(key.otherwise),
            std::string(key.meaning),
            std::string(key.note),
            form};
}

/// The same of numbers within the key's bounds.
template <class Key>
KeyRow row_of_numbers(const Key& key, KeyForm form, std::string type, std::string fallback) {
    KeyRow made = row(key, form, std::move(type), std::move(fallback));
    made.low = static_cast<double>(key.low);
    made.high = static_cast<double>(key.high);
    return made;
}

std::vector<std::string> words_of(const WordKey& key) { return {key.words.begin(), key.words.end()}; }

std::string text_or_nothing(const std::optional<std::string_view>& text) { return std::string(text.value_or("")); }

}  // namespace

double read(Reader& at, const NumberKey& key) {
    return key.fallback ? at.number_or(key, *key.fallback, key.low, key.high) : at.number(key, key.low, key.high);
}

double read_or(Reader& at, const NumberKey& key, double fallback) { return at.number_or(key, fallback, key.low, key.high); }

std::vector<double> read(Reader& at, const NumbersKey& key) { return at.numbers(key, key.low, key.high); }

std::string read(Reader& at, const TextKey& key) {
    return key.fallback ? at.text_or(key, std::string(*key.fallback)) : at.text(key);
}

std::string read_or(Reader& at, const TextKey& key, std::string fallback) { return at.text_or(key, std::move(fallback)); }

std::string read(Reader& at, const WordKey& key) {
    return key.fallback && !at.has(key) ? std::string(*key.fallback) : at.choice(key, words_of(key));
}

bool read(Reader& at, const SwitchKey& key) { return at.flag_or(key, key.fallback); }
bool read_or(Reader& at, const SwitchKey& key, bool fallback) { return at.flag_or(key, fallback); }

KeyRow row_of(const CountKey& key) {
    return row_of_numbers(key, KeyForm::whole_number, range_text(static_cast<double>(key.low), static_cast<double>(key.high)),
                          key.fallback ? std::to_string(*key.fallback) : "");
}

KeyRow row_of(const NumberKey& key) {
    KeyRow made = row_of_numbers(key, KeyForm::number,
                                 range_text(key.low, key.high) + (key.unit.empty() ? "" : " ") + std::string(key.unit),
                                 key.fallback ? text::exact_text(*key.fallback) : "");
    made.below_high = key.below_high;
    return made;
}

KeyRow row_of(const NumbersKey& key) {
    return row_of_numbers(key, KeyForm::numbers, "list of " + range_text(key.low, key.high), "");
}
KeyRow row_of(const TextKey& key) { return row(key, KeyForm::text, std::string(key.type), text_or_nothing(key.fallback)); }
KeyRow row_of(const WordKey& key) {
    return row_of_words({key.key, {}, key.meaning, key.otherwise, key.note}, words_of(key), key.fallback.value_or(""));
}
KeyRow row_of(const SwitchKey& key) { return row(key, KeyForm::flag, "true, false", key.fallback ? "true" : "false"); }
KeyRow row_of(const AxisKey& key) { return row_of_numbers(key, KeyForm::axis, "axis, " + range_text(key.low, key.high), ""); }
KeyRow row_of(const PartKey& key) {
    KeyRow made = row(key, KeyForm::part, std::string(key.type), "");
    made.texts = key.texts == nullptr ? std::vector<std::string>() : key.texts();
    made.may_be_empty = key.may_be_empty;
    return made;
}

KeyRow row_of_words(const PartKey& key, std::vector<std::string> words, std::string_view fallback) {
    const auto quoted = [](std::string_view word) { return "`" + std::string(word) + "`"; };
    std::string type;
    for (const std::string& word : words) {
        type += (type.empty() ? "" : ", ") + quoted(word);
    }
    KeyRow made = row(key, KeyForm::word, std::move(type), fallback.empty() ? "" : quoted(fallback));
    made.words = std::move(words);
    return made;
}

std::string without_backticks(std::string text) {
    std::erase(text, '`');
    return text;
}

std::string help_of(const KeyRow& row) {
    std::string text = row.meaning;
    if (!text.empty()) {
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    }
    const std::string fallback = without_backticks(row.fallback);
    std::vector<std::string> words = row.words;
    const auto usual = std::find(words.begin(), words.end(), fallback);
    if (usual != words.end()) {
        *usual += " (default)";
    }
    text += words.empty() ? "" : ": " + text::listed(words, "or");
    if (usual == words.end() && !fallback.empty() && fallback != "none") {
        text += (fallback.find(' ') == std::string::npos ? " (default " : " (default: ") + fallback + ")";
    }
    return without_backticks(text);
}

}  // namespace treeline::json
