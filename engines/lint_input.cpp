#include "engines/lint_input.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "engines/benchmark_clients.h"
#include "engines/compose_variables.h"
#include "engines/definition.h"
#include "engines/deployment_file.h"
#include "engines/pasted_code.h"
#include "engines/programs_without_rules.h"
#include "engines/recipe_file.h"
#include "engines/script_parts.h"
#include "engines/started_engine.h"
#include "engines/unknown_values.h"
#include "json/parse.h"
#include "json/reader.h"
#include "json/toml.h"
#include "json/wording.h"
#include "json/yaml.h"
#include "text/plain_text.h"
#include "text/wording.h"

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;

/// What an image in the command says of engine and version. One that is newer than all that are known is taken as the newest.
void take_image(LintInput& input) {
    for (const std::string& word : input.command.words) {
        const std::optional<std::string> image = engine_of_image(word);
        if (!image) {
            continue;
        }
        try {
            const Engine engine = find_engine(*image);
            input.engine = engine.name;
            input.older = older_than_known(*image) ? image->substr(image->find('@') + 1) : "";
            input.version = image->find('@') == std::string::npos || !input.older.empty() ? "" : *image;
        } catch (const text::InputError&) {
            input.engine = find_engine(image->substr(0, image->find('@'))).name;
            input.older = older_than_known(*image) ? image->substr(image->find('@') + 1) : "";
        }
        return;
    }
}

/// Trainers hand flags on to the engine of their rollouts under its name ("--sglang-speculative-algorithm" of slime): those
/// flags alone, where some of them draft.
void take_flags_handed_on(CommandLine& command) {
    for (const std::string prefix : {"--sglang-", "--vllm-"}) {
        std::vector<std::string> words;
        bool handed = false, drafts = false;
        for (const std::string& word : command.words) {
            const bool flag = word.starts_with("--");
            handed = flag ? word.starts_with(prefix) : handed;
            if (handed) {
                words.push_back(flag ? "--" + word.substr(prefix.size()) : word);
                drafts = drafts || (flag && words.back().starts_with("--spec"));
            }
        }
        if (drafts) {
            command.words = std::move(words);
            command.line_starts.clear();
            return;
        }
    }
}

/// Flags alone name none, nor do they claim to.
bool names_a_program(const LintInput& input) {
    const std::vector<std::string>& words = input.command.words;
    return words.empty() || words.front().starts_with('-') || engine_of_program(input.command) ||
           std::any_of(words.begin(), words.end(), [](const std::string& word) { return engine_of_image(word).has_value(); });
}

/// The engine that a configuration object belongs to.
std::optional<EngineName> engine_of_tree(const Json& tree) {
    return engine_whose(all_lintings(),
                        [&](const Linting& engine) { return engine.owns_tree != nullptr && engine.owns_tree(tree); });
}

/// Puts the flags that variables stand for (LLAMA_ARG_SPEC_TYPE is --spec-type) before the flags themselves, where the engine
/// takes any so.
void take_variables_as_flags(LintInput& input) {
    const std::string_view prefix = input.engine ? linting_of(*input.engine).variables : "";
    if (prefix.empty()) {
        return;
    }
    std::vector<std::string> words;
    for (const auto& [name, value] : input.command.environment) {
        if (name.starts_with(prefix)) {
            std::string flag = name.substr(prefix.size());
            std::transform(flag.begin(), flag.end(), flag.begin(),
                           [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
            words.push_back("--" + flag);
            words.push_back(value);
        }
    }
    std::vector<std::string>& all = input.command.words;
    all.insert(all.begin() + (all.empty() ? 0 : 1), words.begin(), words.end());
}

/// Throws where the text is for a program for which there are no rules.
void refuse_other_programs(const std::string& text, const LintInput& input) {
    if (engine_of_program(input.command)) {
        return;
    }
    if (const std::optional<std::string_view> other = program_without_rules(text, input.command.words)) {
        std::vector<std::string> checked;
        for (const Engine& engine : newest_engines()) {
            checked.push_back(engine.title);
        }
        throw text::InputError({fmt::format("the text is for {}, whose settings are not checked; those of {} are", *other,
                                            text::listed(checked, "and"))});
    }
}

/// The first of several servers, which holds the others.
LintInput first_of(std::vector<LintInput> servers) {
    LintInput first = servers.front();
    for (std::size_t i = 1; i < servers.size(); ++i) {
        first.others.push_back(std::move(servers[i]));
    }
    if (first.others.empty()) {
        first.server.clear();
    }
    return first;
}

/// A script's commands, where it starts several servers that draft.
LintInput split_by_server(const LintInput& script) {
    const std::vector<CommandLine> commands = drafting_servers(script.command);
    std::vector<LintInput> servers;
    for (const CommandLine& command : commands) {
        LintInput server = script;
        server.command = command;
        server.engine = engine_of_command(command);
        take_image(server);
        server.server = fmt::format("server {}", servers.size() + 1);
        servers.push_back(std::move(server));
    }
    return servers.size() > 1 ? first_of(std::move(servers)) : script;
}

/// Splits the text below a line "# name.json" off.
std::optional<std::string> take_file(std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        if (line.starts_with("# ") && line.ends_with(".json") && line.find(' ', 2) == std::string::npos && end < text.size()) {
            std::string file = text.substr(end + 1);
            text.erase(at);
            return file;
        }
        at = end + 1;
    }
    return std::nullopt;
}

/// Whether the first line with content starts with a key, or opens a document.
bool starts_as_yaml(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        if (words >> word && word.front() != '#') {
            return word.back() == ':' || word == "---" || word == "-";
        }
    }
    return false;
}

/// An engine's options that stand deeper in the tree (a ConfigMap, Ray's engine_kwargs) instead of the tree.
void take_configuration_within(LintInput& input) {
    const auto is_configuration = [](const Json& tree) {
        const bool nests = tree.contains("speculative_config") || tree.contains("speculative-config");
        return nests && engine_of_tree(tree).has_value();
    };
    if (std::optional<Json> found = configuration_within(input.tree, is_configuration)) {
        input.tree = std::move(*found);
        input.engine = engine_of_tree(input.tree);
        input.form_text = "options within " + input.form_text;
    }
}

/// A key as a flag is called, without the dashes before it: "speculative-algorithm".
std::string option_of(std::string key) {
    key.erase(0, std::min(key.find_first_not_of('-'), key.size()));
    std::replace(key.begin(), key.end(), '_', '-');
    return key;
}

/// The engine whose launch arguments a mapping holds, by an option of its drafts that no other engine has; nothing without one.
std::optional<EngineName> engine_of_options(const Json& options) {
    for (const auto& [key, value] : options.items()) {
        const std::string option = option_of(key);
        const auto owner = engine_whose(
            all_lintings(), [&](const Linting& engine) { return engine.owns_option != nullptr && engine.owns_option(option); });
        if (owner) {
            return owner;
        }
    }
    return std::nullopt;
}

/// Launch arguments in a file, or in what a server says of itself, at the top or in a table: the same as flags.
bool take_options_as_flags(LintInput& input) {
    const std::optional<Json> options =
        configuration_within(input.tree, [](const Json& tree) { return engine_of_options(tree).has_value(); });
    if (!options) {
        return false;
    }
    input.command.words = flags_of_options(*options);
    input.engine = engine_of_options(*options);
    input.form = LintForm::command;
    input.of_keys = true;
    input.form_text = "options in " + input.form_text;
    return true;
}

/// Whether the first line with content names a table in brackets.
bool starts_as_toml(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const std::string line = text.substr(first, text.find('\n', first) - first);
    return line.starts_with('[') && line.find(']') != std::string::npos && line.find_first_of(",{:\"") == std::string::npos;
}

bool holds_text(const Json& tree) {
    return tree.is_string() || (tree.is_structured() && std::any_of(tree.begin(), tree.end(), holds_text));
}

/// Whether a text is an engine's preset, which then is what is checked.
bool take_preset(const std::string& text, LintInput& input) {
    const std::vector<Linting>& all = all_lintings();
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::optional<Preset> preset = all[i].preset_of != nullptr ? all[i].preset_of(text) : std::nullopt;
        if (preset) {
            input.command = std::move(preset->command);
            input.engine = static_cast<EngineName>(i);
            input.form = LintForm::command;
            input.of_keys = true;
            input.form_text = preset->name;
            return true;
        }
    }
    return false;
}

bool is_preset(const std::string& text) {
    LintInput input;
    return take_preset(text, input);
}

/// The tree of a TOML file; nothing for another text. A preset of llama.cpp's router looks like one, but its texts stand
/// without quotes. Throws where a text that begins like TOML is none, and nothing else either.
std::optional<Json> tree_of_toml(const std::string& text, LintInput& input) {
    json::ParsedToml parsed = json::parse_toml(text);
    if (parsed.failure.empty() && holds_text(parsed.tree)) {
        input.repeated.insert(input.repeated.end(), parsed.repeated_keys.begin(), parsed.repeated_keys.end());
        return std::move(parsed.tree);
    }
    if (!parsed.failure.empty() && starts_as_toml(text) && !is_preset(text) && !command_of_unit(text) &&
        !json::parse_foreign<Json>(text)) {
        throw text::InputError({"the text " + parsed.failure});
    }
    return std::nullopt;
}

/// The servers of a deployment.
LintInput read_deployed(const std::string& text, LintInput file, const std::vector<DeployedCommand>& deployed) {
    file.tree = nullptr;  // their commands say all
    std::vector<LintInput> servers;
    for (const DeployedCommand& server : deployed) {
        LintInput input = file;
        input.command = server.command;
        input.engine = engine_of_command(input.command);
        take_image(input);
        input.form = LintForm::command;
        input.form_text = server.of_container ? "the command of a container" : "flags within " + file.form_text;
        input.server = server.name.empty() ? fmt::format("server {}", servers.size() + 1) : server.name;
        servers.push_back(std::move(input));
    }
    refuse_other_programs(text, servers.front());
    return first_of(std::move(servers));
}

Engine engine_of_recipe(const std::string& word) {
    try {
        return find_engine(word);
    } catch (const text::InputError&) {
        throw text::InputError(
            {fmt::format("backend: type is {}, whose settings are not checked; those of vLLM, SGLang and TensorRT-LLM are",
                         json::shown_key(word))});
    }
}

/// What a worker of a recipe is started with: flags, or of TensorRT-LLM its YAML.
LintInput read_worker(const RecipeWorker& worker, LintInput input) {
    input.engine = engine_of_recipe(worker.engine).name;
    input.command = worker.command;
    take_image(input);
    input.server = worker.name;
    input.device = worker.device;
    input.prefills = worker.prefills;
    if (input.engine == EngineName::tensorrt_llm) {
        input.tree = worker.options;
        return input;
    }
    append(input.command, flags_of_options(worker.options), {});
    input.form = LintForm::command;
    return input;
}

/// The workers of a recipe that draft.
LintInput read_recipe(LintInput recipe, const std::vector<RecipeWorker>& workers) {
    recipe.form_text = "a worker of a recipe in " + recipe.form_text;
    recipe.tree = nullptr;
    const Engine engine = engine_of_recipe(workers.front().engine);
    std::vector<LintInput> servers;
    for (const RecipeWorker& worker : workers) {
        if (worker.drafts) {
            servers.push_back(read_worker(worker, recipe));
        }
    }
    if (servers.empty()) {
        LintInput idle = read_worker(workers.front(), recipe);
        idle.idle =
            fmt::format("Nothing in this file drafts: it starts workers of {} without a flag of speculation.", engine.title);
        return idle;
    }
    return first_of(std::move(servers));
}

/// What is checked of a configuration that is a tree in the form that `input` names.
LintInput read_tree(const std::string& text, LintInput input) {
    if (!input.tree.is_structured()) {
        throw text::InputError({"the text is neither a command line nor an object in JSON, YAML or TOML"});
    }
    put_compose_variables_in(input.tree);
    if (const auto workers = workers_of_recipe(input.tree)) {
        return read_recipe(std::move(input), *workers);
    }
    if (const std::vector<DeployedCommand> deployed = commands_of_deployment(input.tree); !deployed.empty()) {
        return read_deployed(text, std::move(input), deployed);
    }
    if (take_options_as_flags(input)) {
        return input;
    }
    input.engine = input.tree.is_object() ? engine_of_tree(input.tree) : std::nullopt;
    if (!input.engine) {
        take_configuration_within(input);
    }
    if (!input.tree.is_object()) {
        throw text::InputError({"the text is neither a command line nor an object in JSON, YAML or TOML"});
    }
    refuse_other_programs(text, input);
    if (const std::string image = input.engine ? "" : image_of_engine_within(input.tree); !image.empty()) {
        input.command.words = {image};
        take_image(input);
        input.form_text = "a container in " + input.form_text;
        input.idle = fmt::format("Nothing in this file drafts: it starts {} without a flag of speculation.", image);
    }
    return input;
}

/// A call in Python: the text itself, or what it hands to Python where it starts no engine itself.
std::optional<CommandLine> call_of_python(const std::string& text, const std::map<std::string, std::string>& written) {
    const auto handed = written.find(std::string(standard_input));
    std::optional<CommandLine> call = command_of_python(text);
    return call || handed == written.end() || text.find("--spec") != std::string::npos ? call
                                                                                       : command_of_python(handed->second);
}

/// A command line, as a shell splits it. Where an apostrophe of prose opens a quote, what stands in spans of code.
CommandLine command_of_text(const std::string& text) {
    try {
        return split_command_line(text);
    } catch (const text::InputError&) {
        const std::string spans = code_spans_of(text);
        if (spans.empty()) {
            throw;
        }
        return split_command_line(spans);
    }
}

/// A client of a benchmark, which is named and not checked.
LintInput read_client(LintInput input, const std::string& client) {
    const std::optional<EngineName> engine = engine_of_program(input.command);
    input.engine = engine ? engine : EngineName::vllm;
    input.form = LintForm::command;
    input.form_text = "the command of a client of benchmarks";
    input.idle =
        fmt::format("{} asks a server that runs already and drafts nothing itself; give the server's command.", client);
    return input;
}

LintInput read_parts(const std::string& whole_text) {
    std::string text = whole_text;
    LintInput input;
    input.written = take_written_files(text);
    text = with_substitutions(text, input.written);
    input.file = take_file(text);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) {
        throw text::InputError({"there is nothing to check: the text is empty"});
    }
    if (std::optional<Json> tree = tree_of_toml(text, input)) {
        input.form_text = "TOML";
        input.tree = std::move(*tree);
        return read_tree(text, std::move(input));
    }
    if (take_preset(text, input)) {
        return input;
    }
    const std::optional<CommandLine> unit = command_of_unit(text);
    const std::optional<CommandLine> call = unit ? std::nullopt : call_of_python(text, input.written);
    if (unit || call) {
        input.command = unit ? *unit : *call;
        input.engine = engine_of_command(input.command);
        take_image(input);
        input.form = LintForm::command;
        input.form_text = unit ? "the command of a unit" : "a call or list in Python";
        refuse_other_programs(text, input);
        return input;
    }
    if (text[first] == '{' || text[first] == '[') {
        input.form_text = "JSON";
        input.tree = parse_json(text, "the text is not JSON", input.repeated);
    } else {
        if (!starts_as_yaml(text)) {
            input.command = command_of_text(text);
            take_flags_handed_on(input.command);
            if (const std::string client = take_clients_out(input.command); !client.empty()) {
                return read_client(std::move(input), client);
            }
            input.engine = engine_of_command(input.command);
            take_image(input);
            if (!input.engine && Flags(input.command.words).all().empty()) {
                refuse_other_programs(text, input);
                throw text::InputError({"the text is neither a command line nor an object in JSON, YAML or TOML"});
            }
            refuse_other_programs(text, input);
            input.form = LintForm::command;
            input.form_text =
                names_a_program(input) ? "a command line" : "a command line (its program is not known, its flags are)";
            return split_by_server(input);
        }
        input.form_text = "YAML";
        input.tree = parse_yaml(text, input.repeated);
    }
    return read_tree(text, std::move(input));
}

}  // namespace

LintInput read_lint_input(const std::string& text) {
    const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
    std::string plain = utf16 ? text::utf8_of_utf16(text) : text;
    plain.erase(0, plain.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    LintInput input = read_parts(fenced_code_of(plain));
    take_variables_as_flags(input);
    std::for_each(input.others.begin(), input.others.end(), take_variables_as_flags);
    return input;
}

}  // namespace treeline::engines
