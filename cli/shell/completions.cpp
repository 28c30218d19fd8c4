#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string all_words(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// What bash offers for a value.
std::string bash_value(const FlagWords& flag) {
    std::string text;
    if (!flag.words.empty()) {
        text += fmt::format("words=\"{}\" ", all_words(flag.words));
    }
    if (!flag.names.empty()) {
        text += fmt::format("names={} ", flag.names);
    }
    return text + (flag.files ? "files=yes " : "");
}

/// What bash offers where no flag waits for its value: verbs and flags, and the values of arguments.
std::string bash_words(const CommandWords& command) {
    std::vector<std::string> words;
    for (const CommandWords& verb : command.verbs) {
        words.push_back(verb.path.back());
    }
    for (const FlagWords& flag : command.flags) {
        words.push_back(flag.name);
    }
    std::string text;
    for (const FlagWords& argument : command.arguments) {
        words.insert(words.end(), argument.words.begin(), argument.words.end());
        FlagWords others = argument;
        others.words.clear();
        text += bash_value(others);
    }
    return fmt::format("words=\"{}\" {}", all_words(words), text);
}

std::string bash(const CommandWords& program) {
    std::string verbs, cases;
    std::map<std::string, std::string> values;  // patterns of flags by what bash offers after them
    for (const CommandWords* words : with_verbs(program)) {
        const std::string path = path_of(*words);
        if (!words->path.empty()) {
            verbs += (verbs.empty() ? "" : " | ") + fmt::format("\"{}\"", path);
        }
        cases += fmt::format("        \"{}\") {};;\n", path, bash_words(*words));
        for (const FlagWords& flag : words->flags) {
            if (!flag.value.empty()) {
                std::string& patterns = values[bash_value(flag)];
                patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", path, flag.name);
            }
        }
    }
    std::string after_flags;
    for (const auto& [offer, patterns] : values) {
        after_flags += fmt::format("    {}) {};;\n", patterns, offer);
    }
    return fmt::format(R"script(# bash completion for treeline
_treeline() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path= words= names= files= list= found=() i
    if [ "$cur" = = ]; then # of --flag=value, which bash takes for three words
        cur=
    elif [ "$before" = = ]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
        {}) path="$path ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path $before" in
{}    *)
        case "$path" in
{}        esac
        ;;
    esac
    if [ -n "$names" ]; then
        words+=" $("${{COMP_WORDS[0]}}" completions --names "$names" 2>/dev/null)"
    fi
    if [[ $cur == *,* ]]; then # a list: its last word
        list=${{cur%,*}},
        cur=${{cur##*,}}
    fi
    # shellcheck disable=SC2207  # words without blanks
    COMPREPLY=($(compgen -P "$list" -W "$words" -- "$cur"))
    if [ -n "$files" ] && [[ $cur != -* ]]; then
        mapfile -t found < <(compgen -P "$list" -f -- "$cur")
        COMPREPLY+=("${{found[@]}}")
    fi
}}
complete -o filenames -F _treeline treeline
)script",
                       verbs, after_flags, cases);
}

/// What zsh's _arguments does for a value.
std::string zsh_action(const FlagWords& flag) {
    if (!flag.words.empty()) {
        return fmt::format(" _treeline_words {}", all_words(flag.words));
    }
    return flag.names.empty() ? "_files" : fmt::format(" _treeline_names {}{}", flag.names, flag.files ? " files" : "");
}

/// A function for each command: its flags, and its verbs where it has some.
std::string zsh(const CommandWords& program) {
    std::string text = R"script(#compdef treeline
# zsh completion for treeline
_treeline_words() {
    compset -P '*,' # of a list, its last word
    compadd -- $@
    return 0
}
_treeline_names() {
    local -a names=(${(f)"$(treeline completions --names $1 2>/dev/null)"})
    compset -P '*,'
    compadd -a names
    [[ $2 = files ]] && _files
    return 0
}
)script";
    for (const CommandWords* words : with_verbs(program)) {
        const auto function = [](const CommandWords& of) { return "_treeline" + escaped(path_of(of), "", ""); };
        std::string name = function(*words);
        std::replace(name.begin(), name.end(), ' ', '_');
        text += fmt::format("{}() {{\n    _arguments -C", name);
        for (const FlagWords& flag : words->flags) {
            const std::string value = flag.value.empty() ? "" : ":" + escaped(flag.value, ":[]\\") + ":" + zsh_action(flag);
            text += " \\\n        " + single_quoted("*" + flag.name + "[" + escaped(flag.help, "[]\\:") + "]" + value);
        }
        if (words->verbs.empty()) {
            if (!words->arguments.empty()) {
                const FlagWords& first = words->arguments.front();
                text += fmt::format(" \\\n        '*:{}:{}'", first.name, zsh_action(first));
            }
            text += "\n}\n";
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

/// What fish offers for a value. Names may stand in a list, of which the last is completed.
std::string fish_value(const FlagWords& flag) {
    const std::string offered = !flag.words.empty() ? all_words(flag.words)
                                : !flag.names.empty()
                                    ? fmt::format("(__fish_complete_list , 'treeline completions --names {}')", flag.names)
                                    : "";
    return (flag.files ? " -F" : " -f") + (offered.empty() ? "" : " -a " + single_quoted(offered));
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
                                single_quoted(flag.help), flag.value.empty() ? "" : " -r" + fish_value(flag));
        }
        for (const FlagWords& argument : words->arguments) {
            text += fmt::format("complete -c treeline -n {}{}\n", single_quoted(condition), fish_value(argument));
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
