#include "engines/script_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "engines/quotes.h"
#include "engines/shell_words.h"
#include "text/input_error.h"
#include "text/trimmed.h"

namespace treeline::engines {
namespace {

using text::trimmed;

/// How a line begins a document: its mark, empty where it begins none, and the file into which it goes; empty without one.
struct Begin {
    std::string mark, file;
    bool adds = false;  ///< to what the file holds
};

std::string without_quotes(std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '\'' || c == '"'; }), text.end());
    return text;
}

/// The file that a line names ("> name", ">> name", "tee name"), and whether it is added to.
void take_file_of_line(const std::string& line, Begin& begin) {
    std::size_t named = line.find('>');
    named = named == std::string::npos ? line.find("tee ") : named;
    if (named == std::string::npos) {
        return;
    }
    const std::size_t first = line.find_first_not_of("> ", named + (line[named] == '>' ? 0 : 4));
    begin.adds = line.compare(named, 2, ">>") == 0;
    begin.file = first == std::string::npos ? "" : line.substr(first, line.find_first_of(" <", first) - first);
    begin.file = without_quotes(begin.file);
    begin.file.erase(0, begin.file.starts_with("./") ? 2 : 0);
}

/// Whether a line hands a document to a program that starts something with it: the document belongs to the script.
bool starts_with_document(const std::string& line) {
    std::istringstream words(line.substr(0, line.find("<<")));
    for (std::string word; words >> word;) {
        const std::string program = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
        for (const char* name : {"bash", "sh", "zsh", "ssh", "kubectl", "helm", "docker", "podman", "oc", "srun", "sbatch"}) {
            if (program == name) {
                return true;
            }
        }
    }
    return false;
}

/// Documents within "$(...)" and "<(...)" are those of with_substitutions().
Begin begin_of(const std::string& line) {
    const std::size_t at = line.find("<<");
    if (at == std::string::npos || line.substr(at).starts_with("<<<")) {
        return {};
    }
    const std::size_t substitution = std::max(line.rfind("$(", at) + 1, line.rfind("<(", at) + 1);  // npos + 1 is 0
    if (substitution > 0 && line.find(')', substitution) > at) {
        return {};
    }
    Begin begin{trimmed(std::string_view(line).substr(at + (line.substr(at).starts_with("<<-") ? 3 : 2))), "", false};
    begin.mark = without_quotes(begin.mark.substr(0, begin.mark.find_first_of(" \t>|;&)")));
    if (begin.mark.empty() || !is_key(begin.mark) || std::isdigit(static_cast<unsigned char>(begin.mark.front())) != 0) {
        return {};
    }
    take_file_of_line(line, begin);
    return begin.file.empty() && starts_with_document(line) ? Begin{} : begin;
}

/// The arguments of a call whose bracket opens before `at`, each as it is written.
std::vector<std::string> arguments_from(std::string_view text, std::size_t at) {
    std::vector<std::string> arguments(1);
    int depth = 0;
    Quotes quotes;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quotes.take(c)) {
            arguments.back() += c == '\n' ? ' ' : c;
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size() - 1);
            continue;
        }
        if (std::string_view("([{").find(c) != std::string_view::npos) {
            ++depth;
        } else if (std::string_view(")]}").find(c) != std::string_view::npos && --depth < 0) {
            break;
        } else if (c == ',' && depth == 0) {
            arguments.emplace_back();
            continue;
        }
        arguments.back() += c == '\n' ? ' ' : c;
    }
    return arguments;
}

/// What stands between quotes, without the backslashes before quotes and backslashes.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool escapes =
            text[at] == '\\' && at + 1 < text.size() && std::string_view("\\\"'").find(text[at + 1]) != std::string_view::npos;
        at += escapes ? 1 : 0;
        plain += text[at];
    }
    return plain;
}

/// A literal of Python as a flag's value: a string without its quotes, a number, "true", a dictionary as JSON. Empty for False,
/// None and what is no literal.
std::string literal_of(const std::string& text) {
    const char first = text.empty() ? char(0) : text.front();
    if ((first == '"' || first == '\'') && text.size() > 1 && text.back() == first) {
        return unescaped(std::string_view(text).substr(1, text.size() - 2));
    }
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
        return text;
    }
    if (first != '{') {
        return text == "True" ? "true" : "";
    }
    std::string json, word;
    Quotes quotes;
    for (const char c : text + " ") {
        const bool were_open = quotes.are_open();
        if (!quotes.take(c) && std::isalpha(static_cast<unsigned char>(c)) != 0) {
            word += c;
            continue;
        }
        json += word == "True" ? "true" : word == "False" ? "false" : word == "None" ? "null" : word;
        word.clear();
        json += quotes.are_open() != were_open ? '"' : c;
    }
    // A comma may stand before the closing brace.
    for (std::size_t comma = json.rfind(','); comma != std::string::npos && comma > 0; comma = json.rfind(',', comma - 1)) {
        const std::size_t next = json.find_first_not_of(" \n", comma + 1);
        if (next != std::string::npos && (json[next] == '}' || json[next] == ']')) {
            json[comma] = ' ';
        }
    }
    return trimmed(json);
}

/// "dict(a=1, b='x')" as JSON, or what literal_of() makes of another text.
std::string dictionary_of(const std::string& text) {
    constexpr std::string_view opening = "dict(";
    if (!text.starts_with(opening)) {
        return literal_of(text);
    }
    std::string json;
    for (const std::string& argument : arguments_from(text, opening.size())) {
        const std::size_t equals = std::min(argument.find('='), argument.size());
        const std::string value = trimmed(argument.substr(std::min(equals + 1, argument.size())));
        json += fmt::format("{}\"{}\": {}", json.empty() ? "" : ", ", trimmed(argument.substr(0, equals)),
                            value.empty() ? "null" : value);
    }
    return literal_of("{" + json + "}");
}

/// An element of a list that starts a program: a string, "json.dumps(...)", or what is not known here, as it is written.
std::string word_of_list(const std::string& element) {
    constexpr std::string_view dumps = "json.dumps(";
    if (element.starts_with(dumps)) {
        return dictionary_of(trimmed(arguments_from(element, dumps.size()).front()));
    }
    const bool prefixed = element.size() > 1 && (element[1] == '"' || element[1] == '\'');  // f"..."
    const std::string word = literal_of(prefixed ? element.substr(1) : element);
    return word.empty() ? element : word;
}

/// Where a list of Python opens that holds flags of speculation: around "json.dumps(...)", or, where it is assigned or given to
/// a call, around a flag; npos without one.
std::size_t begin_of_list(const std::string& text) {
    if (const std::size_t dumps = text.find("json.dumps("); dumps != std::string::npos) {
        return text.rfind('[', dumps);
    }
    const std::size_t flag = std::min(text.find("\"--spec"), text.find("'--spec"));
    const std::size_t open = flag == std::string::npos ? flag : text.rfind('[', flag);
    const std::size_t before =
        open == std::string::npos || open == 0 ? std::string::npos : text.find_last_not_of(" \n", open - 1);
    return before != std::string::npos && (text[before] == '=' || text[before] == '(') ? open : std::string::npos;
}

/// A list of Python that holds flags of speculation, as subprocess takes it.
std::optional<CommandLine> command_of_python_list(const std::string& text) {
    const std::size_t open = begin_of_list(text);
    if (open == std::string::npos) {
        return std::nullopt;
    }
    CommandLine command;
    for (const std::string& element : arguments_from(text, open + 1)) {
        if (const std::string word = word_of_list(trimmed(element)); !word.empty()) {
            command.words.push_back(word);
        }
    }
    const bool drafts = std::any_of(command.words.begin(), command.words.end(),
                                    [](const std::string& word) { return word.starts_with("--spec"); });
    return drafts ? std::optional(std::move(command)) : std::nullopt;
}

/// Files of which a variable of the script holds the name ("cat > $FILE"), under that name.
void rename_by_variables(const std::string& script, std::map<std::string, std::string>& files) {
    const auto by_variable = [](const auto& file) { return file.first.find('$') != std::string::npos; };
    if (std::none_of(files.begin(), files.end(), by_variable)) {
        return;
    }
    ShellVariables variables;
    try {
        split_shell_words(script, variables);
    } catch (const text::InputError&) {
        return;  // no script: what it is, others say
    }
    std::map<std::string, std::string> named;
    for (auto& [name, content] : files) {
        named[variables.expanded(name)] = std::move(content);
    }
    files = std::move(named);
}

}  // namespace

bool is_key(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
}

std::map<std::string, std::string> take_written_files(std::string& script) {
    std::vector<std::string> lines;
    std::istringstream stream(script);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    std::map<std::string, std::string> files;
    std::string rest;
    int open = 0;  // documents that never end, each sought to the end of the script
    constexpr int most_open = 64;
    for (auto line = lines.begin(); line != lines.end(); ++line) {
        const Begin begin = open < most_open ? begin_of(*line) : Begin{};
        const auto end = begin.mark.empty() ? lines.end() : std::find_if(line + 1, lines.end(), [&](const std::string& other) {
            return trimmed(other) == begin.mark;
        });
        open += !begin.mark.empty() && end == lines.end() ? 1 : 0;
        const bool whole = end == lines.end() && !begin.file.empty();  // to the end of a script that was cut
        if (end == lines.end() && !whole) {
            rest += *line + "\n";
            continue;
        }
        rest += begin.file.empty() ? line->substr(0, line->find("<<")) + "\n" : "";
        std::string body;
        for (++line; line != end; ++line) {
            body += *line + "\n";
        }
        std::string& file = files[begin.file.empty() ? std::string(standard_input) : begin.file];
        file = begin.adds ? file + body : body;
        if (whole) {
            break;
        }
    }
    if (!files.empty()) {
        script = std::move(rest);
        rename_by_variables(script, files);
    }
    return files;
}

std::optional<CommandLine> command_of_unit(const std::string& text) {
    std::istringstream lines(text);
    std::string environment, started;
    for (std::string line; std::getline(lines, line);) {
        const std::string content = trimmed(line);
        const std::size_t equals = std::min(content.find('='), content.size());
        const std::string key = content.substr(0, equals);
        std::string value = content.substr(std::min(equals + 1, content.size()));
        while (value.ends_with('\\') && std::getline(lines, line)) {
            value.back() = ' ';
            value += trimmed(line);
        }
        if (key == "Environment") {
            environment += value + " ";
        } else if ((key == "ExecStart" || key == "Exec") && started.empty()) {
            started = value.substr(std::min(value.find_first_not_of("-@:+!"), value.size()));
        }
    }
    return started.empty() ? std::nullopt : std::optional(split_command_line(environment + started));
}

std::optional<CommandLine> command_of_python(const std::string& text) {
    if (std::optional<CommandLine> list = command_of_python_list(text)) {
        return list;
    }
    struct Call {
        const char *name, *program;
    };
    constexpr std::array<Call, 7> calls = {{{"LLM(", "vllm"},
                                            {"AsyncEngineArgs(", "vllm"},
                                            {"EngineArgs(", "vllm"},
                                            {"sgl.Engine(", "sglang"},
                                            {"sglang.Engine(", "sglang"},
                                            {"Engine(", "sglang"},
                                            {"ServerArgs(", "sglang"}}};
    for (const auto& [name, program] : calls) {
        const std::size_t at = text.find(name);
        const bool whole_word =
            at != std::string::npos &&
            (at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_'));
        if (!whole_word) {
            continue;
        }
        CommandLine command{{}, {program}};
        for (const std::string& argument : arguments_from(text, at + std::string_view(name).size())) {
            const std::size_t equals = std::min(argument.find('='), argument.size());
            const std::string key = trimmed(std::string_view(argument).substr(0, equals));
            const std::string value = equals == argument.size() ? "" : literal_of(trimmed(argument.substr(equals + 1)));
            if (!is_key(key) || value.empty()) {
                continue;
            }
            command.words.push_back("--" + key);
            if (value != "true") {
                command.words.push_back(value);
            }
        }
        if (std::any_of(command.words.begin(), command.words.end(),
                        [](const std::string& word) { return word.starts_with("--spec"); })) {
            return command;
        }
    }
    return std::nullopt;
}

}  // namespace treeline::engines
