#include "engines/deployment_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;

/// What published images are called, and the engine in them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> images = {{{"vllm/vllm-openai", "vllm"},
                                                                                  {"rocm/vllm", "vllm"},
                                                                                  {"lmsysorg/sglang", "sglang"},
                                                                                  {"nvidia/tensorrt-llm", "tensorrt-llm"},
                                                                                  {"ggml-org/llama.cpp", "llama.cpp"}}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "0.24.0" of "v0.24.0-cu128"; empty where a tag is no version ("latest", "nightly-1a2b").
std::string version_of_tag(std::string tag) {
    tag.erase(0, tag.starts_with('v') ? 1 : 0);
    std::size_t end = 0;
    while (end < tag.size() &&
           (is_digit(tag[end]) || (tag[end] == '.' && end > 0 && end + 1 < tag.size() && is_digit(tag[end + 1])))) {
        ++end;
    }
    const std::string version = tag.substr(0, end);
    return version.find('.') == std::string::npos ? "" : version;
}

void append_words(const Json& value, CommandLine& command) {
    if (value.is_string()) {
        CommandLine split = split_command_line(value.get<std::string>());
        command.words.insert(command.words.end(), split.words.begin(), split.words.end());
    } else if (value.is_array()) {
        for (const Json& word : value) {
            command.words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
        }
    }
}

/// A mapping, a list of "NAME=value", or a list of {"name", "value"}.
void append_environment(const Json& value, CommandLine& command) {
    const auto text_of = [](const Json& at) { return at.is_string() ? at.get<std::string>() : at.dump(); };
    if (value.is_object()) {
        for (const auto& [name, setting] : value.items()) {
            command.environment.emplace_back(name, text_of(setting));
        }
        return;
    }
    for (const Json& entry : value.is_array() ? value : Json::array()) {
        if (entry.is_string()) {
            const std::string text = entry.get<std::string>();
            const std::size_t equals = std::min(text.find('='), text.size());
            command.environment.emplace_back(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
        } else if (entry.is_object() && entry.contains("name") && entry.contains("value")) {
            command.environment.emplace_back(text_of(entry["name"]), text_of(entry["value"]));
        }
    }
}

bool speaks_of_speculation(const CommandLine& command) {
    return std::any_of(command.words.begin(), command.words.end(),
                       [](const std::string& word) { return word.starts_with("--spec") || word.starts_with("-sc"); });
}

}  // namespace

std::optional<std::string> engine_of_image(const std::string& word) {
    for (const auto& [image, engine] : images) {
        const std::size_t at = word.find(image);
        if (at == std::string::npos || word.starts_with('-')) {
            continue;
        }
        const std::size_t colon = word.find(':', at);
        const std::string version = colon == std::string::npos ? "" : version_of_tag(word.substr(colon + 1));
        return std::string(engine) + (version.empty() ? "" : "@" + version);
    }
    return std::nullopt;
}

std::optional<CommandLine> command_of_deployment(const Json& tree) {
    if (tree.is_object() && tree.contains("image") && tree["image"].is_string()) {
        CommandLine command;
        command.words.push_back(tree["image"].get<std::string>());
        for (const char* key : {"entrypoint", "command", "args"}) {
            append_words(tree.value(key, Json()), command);
        }
        for (const char* key : {"environment", "env"}) {
            append_environment(tree.value(key, Json()), command);
        }
        if (speaks_of_speculation(command)) {
            return command;
        }
    }
    if (tree.is_structured()) {
        for (const Json& inner : tree) {
            if (std::optional<CommandLine> command = command_of_deployment(inner)) {
                return command;
            }
        }
    }
    return std::nullopt;
}

}  // namespace treeline::engines
