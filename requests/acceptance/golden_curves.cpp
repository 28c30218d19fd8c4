// InferenceX (SemiAnalysisAI/InferenceX, golden_al_distribution/*.yaml):
//     qwen3.5:
//       thinking_on: {1: 1.84, 2: 2.51}
// Keys are draft tokens without the root, values accept lengths with the bonus token. Whether the thinking modes are there, or
// the lengths stand under the model at once, differs by file.
#include <algorithm>

#include <yaml-cpp/yaml.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_file.h"
#include "sim/input_limits.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::requests::acceptance_file {
namespace {

bool is_curve(const YAML::Node& node) {
    return node.IsMap() && node.size() > 0 && std::all_of(node.begin(), node.end(), [](const auto& entry) {
               return entry.first.IsScalar() && entry.second.IsScalar() &&
                      text::parse_number<int>(entry.first.template as<std::string>()).has_value();
           });
}

std::vector<sim::MeasuredAcceptance> curve_rows(const YAML::Node& node, const std::string& thinking, const std::string& name) {
    std::vector<sim::MeasuredAcceptance> rows;
    for (const auto& entry : node) {
        sim::MeasuredAcceptance row;
        row.category = "mixed";
        row.thinking = thinking;
        row.draft_tokens = text::parse_number<int>(entry.first.as<std::string>()).value_or(0);
        row.accept_length = text::parse_number<double>(entry.second.as<std::string>()).value_or(0.0);
        row.source = name;
        if (row.draft_tokens < 1 || row.draft_tokens > sim::most_draft_tokens || !(row.accept_length >= 1.0) ||
            row.accept_length > row.draft_tokens + 1.0) {
            throw text::InputError(
                {fmt::format("{}: {} draft tokens yield 1 to {} tokens a round, not {}", name, entry.first.as<std::string>(),
                             row.draft_tokens + 1, entry.second.as<std::string>())});
        }
        rows.push_back(row);
    }
    return rows;
}

std::string thinking_of(const std::string& key) { return key == "thinking_on" ? "on" : key == "thinking_off" ? "off" : ""; }

}  // namespace

std::optional<AcceptanceFile> golden_curves(const std::string& text, const std::string& name) {
    YAML::Node root;
    try {
        root = YAML::Load(text);
    } catch (const YAML::Exception&) {
        return std::nullopt;
    }
    AcceptanceFile file;
    file.format = "InferenceX golden curves";
    if (!root.IsMap()) {
        return std::nullopt;
    }
    for (const auto& entry : root) {
        const YAML::Node& node = entry.second;
        std::vector<sim::MeasuredAcceptance> rows;
        if (is_curve(node)) {
            rows = curve_rows(node, "", name);
        } else if (node.IsMap()) {
            for (const auto& mode : node) {
                const std::string key = mode.first.as<std::string>();
                if (!is_curve(mode.second)) {
                    return std::nullopt;
                }
                const std::vector<sim::MeasuredAcceptance> more = curve_rows(mode.second, thinking_of(key), name);
                rows.insert(rows.end(), more.begin(), more.end());
            }
        } else {
            return std::nullopt;
        }
        file.models.emplace_back(entry.first.as<std::string>(), rows);
    }
    return file.models.empty() ? std::nullopt : std::optional(file);
}

}  // namespace treeline::requests::acceptance_file
