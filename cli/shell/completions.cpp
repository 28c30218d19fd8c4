#include <fmt/format.h>

#include "cli/shell/command_words.h"
#include "json/wording.h"
#include "text/input_error.h"

namespace treeline::cli {
namespace {

std::string path_of(const CommandWords& words) {
    std::string text;
    for (const std::string& word : words.path) {
        text += " " + word;
    }
    return text;
}

std::string escaped(const std::string& text, std::string_view special, std::string_view before = "\\") {
    std::string result;
    for (const char letter : text) {
        if (special.find(letter) != std::string_view::npos) {
            result += before;
        }
        result += letter == '\n' ? ' ' : letter;
    }
    return result;
}

/// In single quotes.
std::string single_quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        result += letter == '\'' ? std::string("'\\''") : std::string(1, letter == '\n' ? ' ' : letter);
    }
    return result + "'";
}

std::string bash(const CommandWords& program) {
    std::string verbs, cases;
    for (const CommandWords* words : with_verbs(program)) {
        std::string all;
        for (const CommandWords& verb : words->verbs) {
            all += verb.path.back() + " ";
        }
        for (const FlagWords& flag : words->flags) {
            all += flag.name + " ";
        }
        if (!words->path.empty()) {
            verbs += (verbs.empty() ? "" : " | ") + fmt::format("\"{}\"", path_of(*words));
        }
        cases += fmt::format("        \"{}\") words=\"{}\" ;;\n", path_of(*words), all);
    }
    return fmt::format(R"(# bash completion for treeline
_treeline() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} path= words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
        {}) path="$path ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path" in
{}    esac
    # shellcheck disable=SC2207  # words without blanks
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if [[ $cur != -* ]] && [ -n "$path" ]; then
        # shellcheck disable=SC2207
        COMPREPLY+=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _treeline treeline
)",
                       verbs, cases);
}

/// A function for each command: its flags, and its verbs where it has some.
std::string zsh(const CommandWords& program) {
    std::string text = "#compdef treeline\n# zsh completion for treeline\n";
    for (const CommandWords* words : with_verbs(program)) {
        const auto function = [](const CommandWords& of) { return "_treeline" + escaped(path_of(of), "", ""); };
        std::string name = function(*words);
        std::replace(name.begin(), name.end(), ' ', '_');
        text += fmt::format("{}() {{\n    _arguments -C", name);
        for (const FlagWords& flag : words->flags) {
            const std::string value = flag.value.empty() ? "" : ":" + escaped(flag.value, ":[]\\") + ":_files";
            text += " \\\n        " + single_quoted("*" + flag.name + "[" + escaped(flag.help, "[]\\:") + "]" + value);
        }
        if (words->verbs.empty()) {
            text += " \\\n        '*:file:_files'\n}\n";
            continue;
        }
        text +=
            " \\\n        '1: :->command' '*::argument:->argument'\n    case $state in\n    command)\n        local -a "
            "commands=(";
        std::string calls;
        for (const CommandWords& verb : words->verbs) {
            text += "\n            " + single_quoted(verb.path.back() + ":" + escaped(verb.summary, ":\\"));
            calls += fmt::format("        {}) {}_{} ;;\n", verb.path.back(), name, verb.path.back());
        }
        text += fmt::format(
            "\n        )\n        _describe command commands\n        ;;\n    argument)\n        case $words[1] in\n{}        "
            "esac\n"
            "        ;;\n    esac\n}}\n",
            calls);
    }
    return text + "_treeline \"$@\"\n";
}

std::string fish(const CommandWords& program) {
    std::string text = "# fish completion for treeline\n";
    for (const CommandWords* words : with_verbs(program)) {
        std::string condition = words->path.empty() ? "__fish_use_subcommand" : "";
        for (const std::string& word : words->path) {
            condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
        }
        for (const CommandWords& verb : words->verbs) {
            text += fmt::format("complete -c treeline -f -n {} -a {} -d {}\n", single_quoted(condition), verb.path.back(),
                                single_quoted(verb.summary));
        }
        for (const FlagWords& flag : words->flags) {
            text += fmt::format("complete -c treeline -n {} -l {} -d {}{}\n", single_quoted(condition), flag.name.substr(2),
                                single_quoted(flag.help), flag.value.empty() ? "" : " -r");
        }
    }
    return text;
}

}  // namespace

std::string completions_for(const CommandWords& program, const std::string& shell) {
    if (shell == "bash") {
        return bash(program);
    }
    if (shell == "zsh") {
        return zsh(program);
    }
    if (shell == "fish") {
        return fish(program);
    }
    throw text::InputError({fmt::format("completions: the shell must be bash, zsh or fish, not \"{}\"{}", shell,
                                        text::did_you_mean(shell, {"bash", "zsh", "fish"}))});
}

}  // namespace treeline::cli
