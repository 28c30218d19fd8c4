// InferenceX (SemiAnalysisAI/InferenceX, golden_al_distribution/*.yaml):
//     qwen3.5:
//       thinking_on: {1: 1.84, 2: 2.51}
// Keys are draft tokens without the root, values accept lengths with the bonus token. Whether the thinking modes are there, or
// the lengths stand under the model at once, differs by file.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "json/yaml.h"
#include "requests/acceptance/acceptance_file.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::requests::acceptance_file {
namespace {

bool is_curve(const FileJson& node) {
    return node.is_object() && !node.empty() && std::all_of(node.items().begin(), node.items().end(), [](const auto& entry) {
               return entry.value().is_primitive() && text::parse_number<int>(entry.key()).has_value();
           });
}

std::vector<sim::MeasuredAcceptance> curve_rows(const FileJson& node, const std::string& thinking, const std::string& name) {
    std::vector<sim::MeasuredAcceptance> rows;
    for (const auto& [key, length] : node.items()) {
        sim::MeasuredAcceptance row;
        row.category = "mixed";
        row.thinking = thinking;
        row.draft_tokens = text::parse_number<int>(key).value_or(0);
        row.accept_length = length.is_number() ? length.get<double>() : 0.0;
        row.source = name;
        if (row.draft_tokens < 1 || row.draft_tokens > sim::most_draft_tokens || !(row.accept_length >= 1.0) ||
            row.accept_length > row.draft_tokens + 1.0) {
            throw text::InputError({fmt::format("{}: {} draft tokens yield 1 to {} tokens a round, not {}", name, key,
                                                row.draft_tokens + 1, json::shown(length))});
        }
        rows.push_back(row);
    }
    return rows;
}

std::string thinking_of(const std::string& key) { return key == "thinking_on" ? "on" : key == "thinking_off" ? "off" : ""; }

}  // namespace

std::optional<AcceptanceFile> golden_curves(const std::string& text, const std::string& name) {
    const json::ParsedYaml parsed = json::parse_yaml(text);
    if (!parsed.failure.empty() || !parsed.tree.is_object()) {
        return std::nullopt;
    }
    AcceptanceFile file;
    file.format = "InferenceX golden curves";
    for (const auto& [model, node] : parsed.tree.items()) {
        std::vector<sim::MeasuredAcceptance> rows;
        if (is_curve(node)) {
            rows = curve_rows(node, "", name);
        } else if (node.is_object()) {
            for (const auto& [key, curve] : node.items()) {
                if (!is_curve(curve)) {
                    return std::nullopt;
                }
                const std::vector<sim::MeasuredAcceptance> more = curve_rows(curve, thinking_of(key), name);
                rows.insert(rows.end(), more.begin(), more.end());
            }
        } else {
            return std::nullopt;
        }
        file.models.emplace_back(model, rows);
    }
    return file.models.empty() ? std::nullopt : std::optional(file);
}

}  // namespace treeline::requests::acceptance_file
