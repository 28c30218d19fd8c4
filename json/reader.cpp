#include "json/reader.h"

#include <cmath>

#include "json/document_state.h"
#include "json/wording.h"

namespace treeline::json {
namespace {

using Json = nlohmann::ordered_json;

const Json& empty_object() {
    static const Json nothing = Json::object();
    return nothing;
}

/// "drafters[1].acceptance" → "drafters.acceptance"
std::string without_indices(std::string_view path) {
    std::string text;
    bool inside = false;
    for (const char c : path) {
        inside = c == '[' || (inside && c != ']');
        if (!inside && c != ']') {
            text += c;
        }
    }
    return text;
}

}  // namespace

Reader::Reader(detail::DocumentState& document, const Json* node, std::string path)
    : document_(&document), node_(node != nullptr ? node : &empty_object()), silent_(node == nullptr), path_(std::move(path)) {}

std::string Reader::place(std::string_view key) const {
    std::string inner = path_;
    if (!key.empty()) {
        inner += (inner.empty() || key.front() == '[' ? "" : ".") + shown_key(key);
    }
    return inner.empty() ? document_->name : document_->name + ": " + inner;
}

void Reader::problem(std::string_view key, std::string sentence) {
    if (!silent_) {
        document_->add_problem(place(key) + ": " + std::move(sentence));
    }
}

const Json* Reader::find(std::string_view key) {
    known_.emplace(key);
    const auto at = node_->find(std::string(key));
    return at == node_->end() || at->is_null() ? nullptr : &*at;
}

const Json* Reader::require(std::string_view key) {
    const Json* node = find(key);
    if (node == nullptr) {
        problem(key, "is missing");
    }
    return node;
}

const Json* Reader::require_array(std::string_view key, std::string_view of_what) {
    const Json* node = require(key);
    if (node == nullptr) {
        return nullptr;
    }
    if (!node->is_array()) {
        problem(key, "must be an array of " + std::string(of_what) + ", not " + shown(*node));
        return nullptr;
    }
    if (node->empty()) {
        problem(key, "is empty, but at least one element is needed");
        return nullptr;
    }
    return node;
}

Reader Reader::child(std::string_view key, const Json* node) const {
    const bool index = !key.empty() && key.front() == '[';
    return {*document_, node, path_ + (path_.empty() || index ? "" : ".") + shown_key(key)};
}

bool Reader::has(std::string_view key) { return find(key) != nullptr; }

Reader Reader::object(std::string_view key) {
    const Json* node = require(key);
    if (node != nullptr && !node->is_object()) {
        problem(key, "must be an object in braces, not " + shown(*node));
        node = nullptr;
    }
    return child(key, node);
}

std::optional<Reader> Reader::optional_object(std::string_view key) {
    return has(key) ? std::optional<Reader>(object(key)) : std::nullopt;
}

std::vector<Reader> Reader::objects(std::string_view key) {
    std::vector<Reader> elements;
    if (const Json* array = require_array(key, "objects")) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Json& element = (*array)[i];
            const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
            if (!element.is_object()) {
                problem(at, "must be an object in braces, not " + shown(element));
            }
            elements.push_back(child(at, element.is_object() ? &element : nullptr));
        }
    }
    return elements;
}

const Json* Reader::object_meant(std::string_view key, const Json& node, std::string_view meaning) {
    if (node.is_object()) {
        return &node;
    }
    if (node.is_string()) {
        return &document_->expanded.emplace_back(Json{{std::string(meaning), node}});
    }
    problem(key, "must be a text (its " + std::string(meaning) + ") or an object in braces, not " + shown(node));
    return nullptr;
}

Reader Reader::object_or_text(std::string_view key, std::string_view meaning) {
    const Json* node = require(key);
    return child(key, node != nullptr ? object_meant(key, *node, meaning) : nullptr);
}

std::vector<Reader> Reader::objects_or_texts(std::string_view key, std::string_view meaning) {
    const Json* node = require(key);
    if (node == nullptr) {
        return {};
    }
    if (!node->is_array()) {
        return {child(key, object_meant(key, *node, meaning))};
    }
    std::vector<Reader> elements;
    if (const Json* array = require_array(key, "texts or objects")) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
            elements.push_back(child(at, object_meant(at, (*array)[i], meaning)));
        }
    }
    return elements;
}

std::vector<std::pair<std::string, Reader>> Reader::members(std::string_view key) {
    std::vector<std::pair<std::string, Reader>> result;
    Reader parent = object(key);
    if (parent.node_->empty()) {
        parent.problem({}, "is empty, but at least one member is needed");
    }
    for (const std::string& name : parent.keys()) {
        result.emplace_back(name, parent.object(name));
    }
    return result;
}

std::vector<std::string> Reader::keys() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : node_->items()) {
        names.push_back(name);
    }
    return names;
}

std::string Reader::text(std::string_view key) {
    const Json* node = require(key);
    if (node == nullptr) {
        return {};
    }
    if (!node->is_string() || node->get_ref<const std::string&>().empty()) {
        problem(key, "must be a non-empty text in quotes, not " + shown(*node));
        return {};
    }
    return node->get<std::string>();
}

std::string Reader::text_or(std::string_view key, std::string fallback) { return has(key) ? text(key) : std::move(fallback); }

std::string Reader::choice(std::string_view key, const std::vector<std::string>& choices) {
    std::string word = text(key);
    for (const std::string& choice : choices) {
        if (word == choice) {
            return word;
        }
    }
    if (!word.empty()) {
        problem(key, "must be " + text::listed(choices, "or") + ", not \"" + shown_key(word) + "\"" +
                         text::did_you_mean(word, choices));
    }
    return choices.empty() ? std::string() : choices.front();
}

std::vector<std::string> Reader::texts(std::string_view key) {
    std::vector<std::string> result;
    if (const Json* array = require_array(key, "texts")) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Json& element = (*array)[i];
            if (element.is_string() && !element.get_ref<const std::string&>().empty()) {
                result.push_back(element.get<std::string>());
            } else {
                problem(std::string(key) + "[" + std::to_string(i) + "]",
                        "must be a non-empty text in quotes, not " + shown(element));
            }
        }
    }
    return result;
}

bool Reader::flag_or(std::string_view key, bool fallback) {
    const Json* node = find(key);
    if (node != nullptr && !node->is_boolean()) {
        problem(key, "must be true or false, not " + shown(*node));
        return fallback;
    }
    return node != nullptr ? node->get<bool>() : fallback;
}

std::optional<double> Reader::checked_number(const std::string& key, const Json& node, double low, double high) {
    if (!node.is_number()) {
        problem(key, "must be a number, not " + shown(node));
        return std::nullopt;
    }
    const double value = node.get<double>();
    if (!std::isfinite(value) || value < low || value > high) {
        problem(key,
                "is " + shown(node) + ", but must lie between " + text::number_text(low) + " and " + text::number_text(high));
        return std::nullopt;
    }
    return value;
}

double Reader::number(std::string_view key, double low, double high) {
    const Json* node = require(key);
    return node != nullptr ? checked_number(std::string(key), *node, low, high).value_or(low) : low;
}

double Reader::number_or(std::string_view key, double fallback, double low, double high) {
    return has(key) ? number(key, low, high) : fallback;
}

std::vector<double> Reader::numbers(std::string_view key, double low, double high) {
    std::vector<double> result;
    if (const Json* array = require_array(key, "numbers")) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
            if (const std::optional<double> value = checked_number(at, (*array)[i], low, high)) {
                result.push_back(*value);
            }
        }
    }
    return result;
}

std::optional<std::int64_t> Reader::checked_count(const std::string& key, const Json& node, std::int64_t low,
                                                  std::int64_t high) {
    // Whole numbers up to 2^53 are exact as double; a count beyond that is absurd anyway.
    constexpr double exact = 9007199254740992.0;
    const double value = node.is_number() ? node.get<double>() : 0.5;
    if (value != std::floor(value)) {
        problem(key, "must be a whole number, not " + shown(node));
        return std::nullopt;
    }
    if (std::abs(value) > exact || static_cast<std::int64_t>(value) < low || static_cast<std::int64_t>(value) > high) {
        problem(key, "is " + shown(node) + ", but must lie between " + std::to_string(low) + " and " + std::to_string(high));
        return std::nullopt;
    }
    return static_cast<std::int64_t>(value);
}

std::int64_t Reader::count(std::string_view key, std::int64_t low, std::int64_t high) {
    const Json* node = require(key);
    return node != nullptr ? checked_count(std::string(key), *node, low, high).value_or(low) : low;
}

std::int64_t Reader::count_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
    return has(key) ? count(key, low, high) : fallback;
}

std::vector<std::int64_t> Reader::counts(std::string_view key, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> result;
    if (const Json* array = require_array(key, "whole numbers")) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
            if (const std::optional<std::int64_t> value = checked_count(at, (*array)[i], low, high)) {
                result.push_back(*value);
            }
        }
    }
    return result;
}

void Reader::finish() {
    const std::vector<std::string> known(known_.begin(), known_.end());
    document_->known_keys[without_indices(path_)].insert(known.begin(), known.end());
    for (const std::string& name : keys()) {
        if (known_.count(name) == 0) {
            const std::string hint = text::did_you_mean(name, known);
            problem(name, "unknown key" + (hint.empty() ? "; known here: " + text::listed(known, "and") : hint));
        }
    }
}

}  // namespace treeline::json
