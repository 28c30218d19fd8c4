// A key of an input file, described once. Its reader, the help of the flag that sets it and its row of docs/inputs.md all come
// from the one record.
//
//     inline constexpr CountKey batch{"batch", 1, largest_batch, 1, "sequences decoded together"};
//     input.batch = json::read<double>(root, batch);      // the default without the key; a problem outside of the range
//     if (root.has(batch)) …                              // a record stands for its name
//
// Three kinds of keys: with a `fallback`, which is read where the key is absent; without one, and then the key must be given;
// or with `otherwise`, the words for what holds without it, which read_or() is told ("the context").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"

namespace treeline::json {

/// A whole number within [low, high].
struct CountKey {
    std::string_view key;
    std::int64_t low, high;
    std::optional<std::int64_t> fallback;
    std::string_view meaning;         ///< a phrase: help of a flag, and docs/inputs.md
    std::string_view otherwise = {};  ///< in words, what holds without the key
    std::string_view note = {};       ///< what docs/inputs.md adds
    constexpr operator std::string_view() const { return key; }
};

/// A number within [low, high].
struct NumberKey {
    std::string_view key;
    std::string_view unit;  ///< "ms"; empty for a ratio
    double low, high;
    std::optional<double> fallback;
    std::string_view meaning, otherwise = {}, note = {};
    bool below_high = false;  ///< what reads it refuses `high` itself
    constexpr operator std::string_view() const { return key; }
};

/// A list of numbers within [low, high].
struct NumbersKey {
    std::string_view key;
    double low, high;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// A text. `type` says which: "name or path".
struct TextKey {
    std::string_view key, type;
    std::optional<std::string_view> fallback;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// The name of an enumerator.
template <NamedEnum Enum>
struct ChoiceKey {
    std::string_view key;
    std::optional<Enum> fallback;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// One of these words.
struct WordKey {
    std::string_view key;
    std::span<const std::string_view> words;
    std::optional<std::string_view> fallback;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// true or false.
struct SwitchKey {
    std::string_view key;
    bool fallback;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// Whole numbers within [low, high]: one, a list or a range (requests/setup_reader.h, read_axis).
struct AxisKey {
    std::string_view key;
    int low, high;
    std::string_view meaning, otherwise = {}, note = {};
    constexpr operator std::string_view() const { return key; }
};

/// What has a reader of its own: an object, a list of objects. `type` says what it looks like.
struct PartKey {
    std::string_view key, type;
    std::string_view meaning, otherwise = {}, note = {};
    std::vector<std::string> (*texts)() = nullptr;  ///< what a text may be, alone or in a list; null: the user's own
    bool may_be_empty = false;                      ///< a list without elements is read
    constexpr operator std::string_view() const { return key; }
};

template <class Number = std::int64_t>
Number read(Reader& at, const CountKey& key) {
    return static_cast<Number>(key.fallback ? at.count_or(key, *key.fallback, key.low, key.high)
                                            : at.count(key, key.low, key.high));
}
template <class Number = std::int64_t>
Number read_or(Reader& at, const CountKey& key, std::int64_t fallback) {
    return static_cast<Number>(at.count_or(key, fallback, key.low, key.high));
}
double read(Reader& at, const NumberKey& key);
double read_or(Reader& at, const NumberKey& key, double fallback);
std::vector<double> read(Reader& at, const NumbersKey& key);
std::string read(Reader& at, const TextKey& key);
std::string read_or(Reader& at, const TextKey& key, std::string fallback);
std::string read(Reader& at, const WordKey& key);
bool read(Reader& at, const SwitchKey& key);
bool read_or(Reader& at, const SwitchKey& key, bool fallback);
template <NamedEnum Enum>
Enum read(Reader& at, const ChoiceKey<Enum>& key) {
    return key.fallback ? at.choice_or(key, *key.fallback) : at.choice<Enum>(key);
}
template <NamedEnum Enum>
Enum read_or(Reader& at, const ChoiceKey<Enum>& key, Enum fallback) {
    return at.choice_or(key, fallback);
}

/// The names of enumerators, and "auto", for PartKey::texts.
template <NamedEnum Enum>
std::vector<std::string> names_or_auto() {
    std::vector<std::string> names = names_of<Enum>();
    names.insert(names.begin(), "auto");
    return names;
}

/// What a key holds in JSON.
enum class KeyForm { text, whole_number, number, numbers, word, flag, axis, part };

/// What is said of a key to people: Markdown, and "|" may not occur in it.
struct KeyRow {
    std::string key, type;
    std::string fallback;  ///< empty: the key must be given, or goes with another one
    std::string meaning, note;
    KeyForm form = KeyForm::part;
    double low = 0.0, high = 0.0;         ///< of numbers
    std::vector<std::string> words = {};  ///< of which it is one
    bool below_high = false;              ///< NumberKey::below_high
    std::vector<std::string> texts = {};  ///< PartKey::texts
    bool may_be_empty = false;            ///< PartKey::may_be_empty
};
KeyRow row_of(const CountKey& key);
KeyRow row_of(const NumberKey& key);
KeyRow row_of(const NumbersKey& key);
KeyRow row_of(const TextKey& key);
KeyRow row_of(const WordKey& key);
KeyRow row_of(const SwitchKey& key);
KeyRow row_of(const AxisKey& key);
KeyRow row_of(const PartKey& key);
/// The row of a choice of words; `fallback` is one of them, or empty.
KeyRow row_of_words(const PartKey& key, std::vector<std::string> words, std::string_view fallback);
template <NamedEnum Enum>
KeyRow row_of(const ChoiceKey<Enum>& key) {
    return row_of_words({key.key, {}, key.meaning, key.otherwise, key.note}, names_of<Enum>(),
                        key.fallback ? name_of(*key.fallback) : "");
}

template <class... Keys>
std::vector<KeyRow> rows_of(const Keys&... keys) {
    return {row_of(keys)...};
}

/// A word that a key takes, and what it means.
struct WordRow {
    std::string word, meaning;
};

/// The keys of one object, in the order in which a page lists them.
struct KeyTable {
    std::string name;  ///< "platform"
    std::vector<KeyRow> rows;
    /// Keys under which the object stands where it is not the file itself: "platforms" anywhere, or "tree.sequences" in the
    /// object of the table "tree" alone. Empty: its name is the key.
    std::vector<std::string> under = {};
    /// Keys without which no object of the kind is read, whatever else it holds.
    std::vector<std::string> required = {};
    std::vector<WordRow> kinds = {};  ///< those of its key "kind", where they have a table of their own
};

/// For the help of a flag: "Sequences decoded together (default 1)", "Cost model: roofline (default), calibrated or hoi".
std::string help_of(const KeyRow& row);
/// Text for a terminal, which does not show Markdown.
std::string without_backticks(std::string text);
template <class Key>
std::string help_of(const Key& key) {
    return help_of(row_of(key));
}

}  // namespace treeline::json
