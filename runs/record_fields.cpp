// What records of a run hold at a path of JSON or behind a text of a line.
#include <algorithm>
#include <cctype>

#include "runs/builder.h"
#include "sim/input_limits.h"
#include "text/parse_number.h"

namespace treeline::runs {
namespace {

/// The text of a number at the beginning of `text`.
std::string_view leading_number(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 ||
                                 std::string_view(".+-eE").find(text[end]) != std::string_view::npos)) {
        ++end;
    }
    while (end > 0 && std::string_view(".+-eE").find(text[end - 1]) != std::string_view::npos) {
        --end;
    }
    return text.substr(0, end);
}

std::string_view after(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(found + text.size());
    while (!line.empty() && (line.front() == ' ' || line.front() == '=' || line.front() == ':' || line.front() == '(')) {
        line.remove_prefix(1);
    }
    return line;
}

}  // namespace

const RunJson* node_at(const RunJson& json, std::string_view path) {
    const RunJson* node = &json;
    while (!path.empty() && node != nullptr) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string key(path.substr(0, dot));
        path.remove_prefix(std::min(dot + 1, path.size()));
        const auto found = node->is_object() ? node->find(key) : node->end();
        node = node->is_object() && found != node->end() && !found->is_null() ? &*found : nullptr;
    }
    return node;
}

std::optional<double> number_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    return node != nullptr && node->is_number() ? std::optional(node->get<double>()) : std::nullopt;
}

std::string text_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    return node != nullptr && node->is_string() ? node->get<std::string>() : std::string();
}

std::optional<std::vector<double>> numbers_at(const RunJson& json, std::string_view path) {
    const RunJson* node = node_at(json, path);
    if (node == nullptr || !node->is_structured()) {
        return std::nullopt;
    }
    std::vector<double> numbers;
    for (const auto& [key, value] : node->items()) {
        const std::optional<std::size_t> index = node->is_object() ? text::parse_number<std::size_t>(key) : numbers.size();
        if (!value.is_number() || !index || *index > static_cast<std::size_t>(sim::most_draft_tokens)) {
            return std::nullopt;
        }
        numbers.resize(std::max(numbers.size(), *index + 1));
        numbers[*index] = value.get<double>();
    }
    return numbers;
}

std::optional<double> number_after(std::string_view line, std::string_view text) {
    return text::parse_number(leading_number(after(line, text)));
}

std::vector<double> numbers_after(std::string_view line, std::string_view text) {
    std::vector<double> numbers;
    std::string_view rest = after(line, text);
    while (!rest.empty()) {
        const std::string_view number = leading_number(rest);
        const std::optional<double> value = text::parse_number(number);
        if (!value) {
            break;
        }
        numbers.push_back(*value);
        rest.remove_prefix(number.size());
        if (!rest.starts_with(",")) {
            break;
        }
        rest.remove_prefix(1);
        while (rest.starts_with(" ")) {
            rest.remove_prefix(1);
        }
    }
    return numbers;
}

std::string word_after(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(found + text.size());
    const char quote = !line.empty() && (line.front() == '\'' || line.front() == '"') ? line.front() : '\0';
    if (quote != '\0') {
        line.remove_prefix(1);
    }
    const std::size_t end = quote != '\0' ? line.find(quote) : line.find_first_of(", )]}\t");
    return std::string(line.substr(0, end));
}

}  // namespace treeline::runs
