#include "engines/deployment_file.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engines/definition.h"
#include "engines/started_engine.h"
#include "json/yaml.h"
#include "text/input_error.h"

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The version that a part of a tag begins with: "0.24.0" of "v0.24.0rc1"; empty of another ("cu13", "py3.12", "7a33ba9").
std::string version_of_part(std::string part) {
    part.erase(0, part.starts_with('v') ? 1 : 0);
    std::size_t end = 0;
    while (end < part.size() &&
           (is_digit(part[end]) || (part[end] == '.' && end > 0 && end + 1 < part.size() && is_digit(part[end + 1])))) {
        ++end;
    }
    const std::string version = part.substr(0, end);
    return version.find('.') == std::string::npos ? "" : version;
}

/// "0.24.0" of "v0.24.0-cu128" and of "vllm-x86_64-cu13-0.24.0-1a2b": of the first part that is a version; empty where none is
/// ("latest", "nightly-1a2b").
std::string version_of_tag(const std::string& tag) {
    for (std::size_t begin = 0; begin < tag.size();) {
        const std::size_t end = std::min(tag.find_first_of("-_", begin), tag.size());
        if (const std::string version = version_of_part(tag.substr(begin, end - begin)); !version.empty()) {
            return version;
        }
        begin = end + 1;
    }
    return "";
}

bool is_shell_flag(const std::string& word) { return word == "-c" || word == "-lc" || word == "-ec" || word == "-exc"; }

/// A text is split as a shell does, and so is the script in a list that hands it to one (["bash", "-c", "..."]).
void append_words(const Json& value, CommandLine& command) {
    const auto append_split = [&](const std::string& text) {
        CommandLine split = split_command_line(text);
        command.environment.insert(command.environment.end(), split.environment.begin(), split.environment.end());
        append(command, split.words, split.line_starts);
    };
    if (value.is_string()) {
        append_split(value.get<std::string>());
    }
    for (const Json& word : value.is_array() ? value : Json::array()) {
        if (!word.is_string()) {
            command.words.push_back(word.dump());
        } else if (!command.words.empty() && is_shell_flag(command.words.back())) {
            command.words.pop_back();
            append_split(word.get<std::string>());
        } else {
            command.words.push_back(word.get<std::string>());
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

/// Puts values in for marks, up to a bound on what is put in and looked through.
class Marks {
public:
    explicit Marks(const char* what) : what_(what) {}

    void put_in(std::string& text, std::string_view mark, std::string_view value) {
        if ((looked_through_ += text.size()) > most_looked_through) {
            throw text::InputError({fmt::format("the text has too many {} for its length", what_)});
        }
        std::string result;
        std::size_t from = 0;
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, from)) {
            if ((bytes_ += value.size()) > most_bytes) {
                throw text::InputError({fmt::format("the {} of the text expand to more than 4 MiB", what_)});
            }
            result.append(text, from, at - from);
            result += value;
            from = at + mark.size();
        }
        if (from > 0) {
            result.append(text, from);
            text = std::move(result);
        }
    }

private:
    static constexpr std::size_t most_bytes = 4u << 20, most_looked_through = 256u << 20;

    const char* what_;
    std::size_t bytes_ = 0, looked_through_ = 0;
};

/// Kubernetes puts a container's variables in where its arguments say "$(NAME)".
void put_variables_in(CommandLine& command) {
    Marks marks("variables");
    for (std::string& word : command.words) {
        for (const auto& [name, value] : command.environment) {
            if (word.find("$(") == std::string::npos) {
                break;
            }
            marks.put_in(word, "$(" + name + ")", value);
        }
    }
}

/// Whether a text holds such a flag, so that it is worth splitting.
bool holds_speculation(const std::string& text) {
    for (const char* flag : {"--spec", "--draft", "--model-draft", "--hf-repo-draft", " -md ", " -hfd ", " -hfrd "}) {
        if (text.find(flag) != std::string::npos) {
            return true;
        }
    }
    return false;
}

bool speaks_of_speculation(const CommandLine& command) {
    return std::any_of(command.words.begin(), command.words.end(), starts_speculation) ||
           std::any_of(command.environment.begin(), command.environment.end(), [](const auto& variable) {
               return variable.first.starts_with("LLAMA_ARG_SPEC_") || variable.first == "LLAMA_ARG_MODEL_DRAFT";
           });
}

/// The image of a container: its name, or its repository and tag apart, as charts of Helm write them. Empty where there is
/// none.
std::string image_of(const Json& tree) {
    const auto text_at = [](const Json& object, const char* key) {
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const Json& parts = tree.contains("image") && tree["image"].is_object() ? tree["image"] : tree;
    const std::string repository = text_at(parts, "repository"), tag = text_at(parts, "tag");
    return repository.empty() ? text_at(tree, "image") : repository + (tag.empty() ? "" : ":" + tag);
}

/// What a tree holds. Where servers for prefill and for decoding are apart, only the latter draft in their rounds: they come
/// first.
std::vector<const Json*> servers_that_decode_first(const Json& tree) {
    std::vector<const Json*> inner;
    if (tree.is_object()) {
        for (const auto& [key, value] : tree.items()) {
            const bool decodes = key.starts_with("decode") || key.starts_with("generation");
            inner.insert(decodes ? inner.begin() : inner.end(), &value);
        }
    } else if (tree.is_array()) {
        for (const Json& value : tree) {
            inner.push_back(&value);
        }
    }
    return inner;
}

/// The first list of words, or text, anywhere in a tree that speaks of speculation. A text that is one flag with its value
/// ("--speculative-config={...}") is one word, as no shell will see it.
std::optional<CommandLine> flags_anywhere(const Json& tree) {
    CommandLine command;
    const bool is_list_of_words =
        tree.is_array() && std::any_of(tree.begin(), tree.end(), [](const Json& word) {
            return word.is_string() && (starts_speculation(word.get<std::string>()) || is_shell_flag(word.get<std::string>()));
        });
    if (is_list_of_words) {
        append_words(tree, command);
    } else if (tree.is_string()) {
        const std::string text = tree.get<std::string>();
        const bool one_word = starts_speculation(text) && text.find('=') < text.find_first_of(" \t\n");
        if (one_word && text.find(" -") == std::string::npos) {
            command.words.push_back(text);
        } else if (holds_speculation(text)) {
            append_words(tree, command);
        }
    }
    if (speaks_of_speculation(command)) {
        return command;
    }
    for (const Json* inner : servers_that_decode_first(tree)) {
        if (std::optional<CommandLine> found = flags_anywhere(*inner)) {
            return found;
        }
    }
    return std::nullopt;
}

/// What a container runs, its image first; nothing of a tree that is none, or whose command does not speak of speculation.
std::optional<CommandLine> command_of_container(const Json& tree) {
    const std::string image = tree.is_object() ? image_of(tree) : "";
    if (image.empty()) {
        return std::nullopt;
    }
    CommandLine command{{}, {image}};
    for (const char* key : {"entrypoint", "command", "args"}) {
        append_words(tree.value(key, Json()), command);
    }
    for (const char* key : {"environment", "env"}) {
        append_environment(tree.value(key, Json()), command);
    }
    put_variables_in(command);
    if (const auto further = speaks_of_speculation(command) ? std::nullopt : flags_anywhere(tree)) {
        command.words.insert(command.words.end(), further->words.begin(), further->words.end());
    }
    return speaks_of_speculation(command) ? std::optional(std::move(command)) : std::nullopt;
}

/// Adds the containers within a tree that is found under `name`. Fragments of Compose ("x-common") are what services are made
/// of.
void add_containers(const Json& tree, const std::string& name, std::vector<DeployedCommand>& found) {
    if (std::optional<CommandLine> command = command_of_container(tree)) {
        const bool known = std::any_of(found.begin(), found.end(),
                                       [&](const DeployedCommand& other) { return other.command.words == command->words; });
        if (!known) {
            const bool named = tree.contains("name") && tree["name"].is_string();
            found.push_back({std::move(*command), true, named ? tree["name"].get<std::string>() : name});
            refuse_many_servers(found.size());
        }
        return;
    }
    if (tree.is_object()) {
        const bool composed = tree.contains("services");
        for (const auto& [key, inner] : tree.items()) {
            if (!composed || !key.starts_with("x-")) {
                add_containers(inner, key, found);
            }
        }
    }
    for (const Json& inner : tree.is_array() ? tree : Json::array()) {
        add_containers(inner, name, found);
    }
}

/// Adds the commands of llama-swap's models: {"models": {name: {"cmd": text}}}.
void add_swapped_models(const Json& tree, std::vector<DeployedCommand>& found) {
    if (!tree.is_object() || !tree.contains("models") || !tree["models"].is_object()) {
        return;
    }
    for (const auto& [name, model] : tree["models"].items()) {
        CommandLine command;
        append_words(model.is_object() ? model.value("cmd", Json()) : Json(), command);
        if (speaks_of_speculation(command)) {
            found.push_back({std::move(command), false, name});
            refuse_many_servers(found.size());
        }
    }
}

/// Every "${name}" for which the tree has a macro, as llama-swap has.
void put_macros_in(Json& tree, const Json& macros, Marks& marks) {
    if (tree.is_string()) {
        std::string text = tree.get<std::string>();
        for (auto macro = macros.begin(); macro != macros.end() && text.find("${") != std::string::npos; ++macro) {
            marks.put_in(text, "${" + macro.key() + "}", macro->is_string() ? macro->get<std::string>() : macro->dump());
        }
        tree = text;
    } else if (tree.is_structured()) {
        for (Json& inner : tree) {
            put_macros_in(inner, macros, marks);
        }
    }
}

}  // namespace

std::optional<std::string> engine_of_image(const std::string& word) {
    if (word.starts_with('-')) {
        return std::nullopt;
    }
    for (const Definition& engine : all_definitions()) {
        for (const std::string_view image : engine.dialect.images) {
            if (const std::size_t at = word.find(image); at != std::string::npos) {
                const std::size_t colon = word.find(':', at);
                const std::string version = colon == std::string::npos ? "" : version_of_tag(word.substr(colon + 1));
                return engine.versions.front().word + (version.empty() ? "" : "@" + version);
            }
        }
    }
    return std::nullopt;
}

bool starts_speculation(std::string_view word) {
    for (const std::string_view flag :
         {"--spec", "--draft-max", "--draft-min", "--draft-n", "--draft-p", "--model-draft", "--hf-repo-draft"}) {
        if (word.starts_with(flag)) {
            return true;
        }
    }
    const std::string_view name = word.substr(0, word.find_first_of("=."));
    return name == "--draft" || name == "-sc" || name == "-md" || name == "-hfd" || name == "-hfrd";
}

std::string image_of_engine_within(const Json& tree) {
    if (const std::string image = tree.is_object() ? image_of(tree) : ""; engine_of_image(image)) {
        return image;
    }
    for (const Json& inner : tree.is_structured() ? tree : Json::array()) {
        if (const std::string image = image_of_engine_within(inner); !image.empty()) {
            return image;
        }
    }
    return "";
}

std::vector<DeployedCommand> commands_of_deployment(const Json& tree) {
    if (tree.is_object() && tree.contains("macros") && tree["macros"].is_object()) {
        Json without = tree;
        const Json macros = std::exchange(without["macros"], Json());
        Marks marks("macros");
        put_macros_in(without, macros, marks);
        return commands_of_deployment(without);
    }
    std::vector<DeployedCommand> found;
    add_containers(tree, "", found);
    if (found.empty()) {
        add_swapped_models(tree, found);
    }
    if (std::optional<CommandLine> flags = found.empty() ? flags_anywhere(tree) : std::nullopt) {
        found.push_back({std::move(*flags), false, ""});
    }
    return found;
}

std::optional<Json> configuration_within(const Json& tree, const std::function<bool(const Json&)>& is_configuration) {
    if (tree.is_object() && is_configuration(tree)) {
        return tree;
    }
    if (tree.is_string()) {
        const std::string text = tree.get<std::string>();
        const json::ParsedYaml parsed =
            text.find("speculative") == std::string::npos ? json::ParsedYaml() : json::parse_yaml(text);
        return parsed.failure.empty() && parsed.tree.is_object() && is_configuration(parsed.tree) ? std::optional(parsed.tree)
                                                                                                  : std::nullopt;
    }
    for (const Json* inner : servers_that_decode_first(tree)) {
        if (std::optional<Json> found = configuration_within(*inner, is_configuration)) {
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace treeline::engines
