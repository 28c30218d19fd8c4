#include "engines/started_engine.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "engines/definition.h"
#include "engines/deployment_file.h"
#include "engines/lint_input.h"
#include "engines/unknown_values.h"
#include "text/input_error.h"

namespace treeline::engines {
namespace {

/// The engine that a word of a command starts; nothing of another word.
std::optional<EngineName> engine_of_word(const std::string& word, const std::string& next) {
    const std::string program = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
    return engine_whose(all_definitions(), [&](const Definition& engine) { return engine.dialect.starts(program, next); });
}

/// Whether a word is no more than the name of an engine's package, as clients ("--backend vllm"), folders and packages have it,
/// too.
bool is_name_alone(const CommandLine& command, std::size_t at) {
    const std::string& word = command.words[at];
    const bool serves = at + 1 < command.words.size() && command.words[at + 1] == "serve";
    const std::string name = word.substr(word.rfind('/') + 1);
    return !serves && engine_whose(all_definitions(),
                                   [&](const Definition& engine) { return !name.empty() && name == engine.dialect.package; });
}

/// Whether a word stands behind a flag, so that it is its value. Behind "-m" stands a module, behind "--" a command.
bool is_value(const CommandLine& command, std::size_t at) {
    const std::vector<std::size_t>& starts = command.line_starts;
    const std::string before = at == 0 ? "" : command.words[at - 1];
    return before.starts_with('-') && before.find('=') == std::string::npos && before != "-m" && before != "--" &&
           !std::binary_search(starts.begin(), starts.end(), at);
}

/// Whether a word is a path that is handed to a program: a folder as well as an engine.
bool is_path_of_another(const CommandLine& command, std::size_t at) {
    const std::vector<std::size_t>& starts = command.line_starts;
    return command.words[at].find('/') != std::string::npos && at > 0 && !std::binary_search(starts.begin(), starts.end(), at);
}

}  // namespace

std::optional<EngineName> engine_of_program(const CommandLine& command) {
    std::optional<EngineName> named;
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        const std::optional<EngineName> engine =
            engine_of_word(command.words[i], i + 1 < command.words.size() ? command.words[i + 1] : "");
        if (engine && !is_name_alone(command, i)) {
            return engine;
        }
        if (engine && !named && !is_value(command, i) && !is_path_of_another(command, i)) {
            named = engine;
        }
    }
    return named;
}

bool has_flags(const CommandLine& command) {
    return std::any_of(command.words.begin(), command.words.end(), [](const std::string& word) {
        const std::size_t name = word.find_first_not_of('-');
        return (name == 1 || name == 2) && std::isalpha(static_cast<unsigned char>(word[name])) != 0;
    });
}

std::optional<EngineName> engine_of_command(const CommandLine& command) {
    if (const std::optional<EngineName> started = engine_of_program(command)) {
        return started;
    }
    const Flags flags(command.words);
    for (const Flag& flag : flags.all()) {
        if (const auto owner = engine_whose(all_definitions(),
                                            [&](const Definition& engine) { return engine.dialect.owns_flag(flag.name); })) {
            return owner;
        }
    }
    return std::nullopt;
}

void refuse_many_servers(std::size_t servers) {
    constexpr std::size_t most_servers = 256;
    if (servers > most_servers) {
        throw text::InputError({fmt::format("the text starts more than {} servers; give them a part at a time", most_servers)});
    }
}

std::vector<CommandLine> drafting_servers(const CommandLine& script) {
    std::vector<CommandLine> servers;
    for (std::size_t i = 0; i < script.line_starts.size(); ++i) {
        const std::size_t first = script.line_starts[i];
        const std::size_t end = i + 1 < script.line_starts.size() ? script.line_starts[i + 1] : script.words.size();
        CommandLine line{{}, {script.words.begin() + first, script.words.begin() + end}, {0}};
        if (engine_of_program(line) && std::any_of(line.words.begin(), line.words.end(), starts_speculation)) {
            line.environment = script.environment;
            servers.push_back(std::move(line));
            refuse_many_servers(servers.size());
        }
    }
    return servers;
}

std::string open_word_of(const CommandLine& command) {
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        const std::string& word = command.words[i];
        if (is_unknown_value(word) && !is_value(command, i) && command.words[i - 1] != "serve") {
            return word;
        }
    }
    return "";
}

}  // namespace treeline::engines
