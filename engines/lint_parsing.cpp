// JSON, YAML and options as lint reads them.
#include <fmt/format.h>

#include "engines/compose_variables.h"
#include "engines/lint_input.h"
#include "engines/unknown_values.h"
#include "json/parse.h"
#include "json/yaml.h"
#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::engines {

using Json = nlohmann::ordered_json;

Json parse_json(const std::string& text, const std::string& name, std::vector<std::string>& repeated) {
    if (text.starts_with('$') || text.starts_with('`')) {
        throw text::InputError({fmt::format("{}: {} stands for a text that is not given here; give the text itself", name,
                                            text::shortened(text, 60))});
    }
    json::Parsed parsed = json::parse_strictly(text);
    if (!parsed.failure.empty()) {
        if (json::Parsed open = json::parse_strictly(with_unknown_values_as_texts(text)); open.failure.empty()) {
            parsed = std::move(open);
        }
    }
    if (!parsed.failure.empty()) {
        throw text::InputError({fmt::format("{}: {}", name, parsed.failure)});
    }
    repeated.insert(repeated.end(), parsed.duplicate_keys.begin(), parsed.duplicate_keys.end());
    return std::move(parsed.tree);
}

Json parse_yaml(const std::string& text, std::vector<std::string>& repeated) {
    json::ParsedYaml parsed = json::parse_yaml_documents(text);
    if (!parsed.failure.empty() && text.find("${") != std::string::npos) {
        if (json::ParsedYaml open = json::parse_yaml_documents(with_short_variables(text)); open.failure.empty()) {
            parsed = std::move(open);
        }
    }
    if (!parsed.failure.empty()) {
        throw text::InputError({"the text " + parsed.failure});
    }
    repeated.insert(repeated.end(), parsed.repeated_keys.begin(), parsed.repeated_keys.end());
    return std::move(parsed.tree);
}

std::vector<std::string> flags_of_options(const Json& options) {
    std::vector<std::string> words;
    for (const auto& [key, value] : options.items()) {
        if (value.is_null() || value == false) {
            continue;
        }
        words.push_back(key.starts_with('-') ? key : "--" + key);
        if (value != true) {
            words.push_back(value.is_string() ? value.template get<std::string>() : value.dump());
        }
    }
    return words;
}

}  // namespace treeline::engines
