#include "engines/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engines/shell_words.h"
#include "text/parse_number.h"

namespace treeline::engines {
namespace {

bool is_flag(const std::string& word) {
    return word.size() > 1 && word.front() == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

std::string with_dashes(std::string name) {
    if (name.starts_with("--")) {
        std::replace(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(std::min(name.find('.'), name.size())), '_', '-');
    }
    return name;
}

}  // namespace

bool CommandLine::sets(std::string_view name, std::string_view value) const {
    return std::any_of(environment.begin(), environment.end(),
                       [&](const auto& variable) { return variable.first == name && variable.second == value; });
}

namespace {

/// What a shell is given as a text to run: "eval $COMMAND", "bash -c '...'".
std::optional<std::string> text_to_run(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string program = words[i].substr(words[i].rfind('/') + 1);  // npos + 1 is 0
        const bool shell = program == "bash" || program == "sh" || program == "zsh";
        if (shell && i + 2 < words.size() && (words[i + 1] == "-c" || words[i + 1] == "-lc" || words[i + 1] == "-ec")) {
            return words[i + 2];
        }
        if (words[i] == "eval") {
            std::string text;
            for (std::size_t j = i + 1; j < words.size(); ++j) {
                text += words[j] + " ";
            }
            return text;
        }
    }
    return std::nullopt;
}

}  // namespace

void append(CommandLine& command, const std::vector<std::string>& words, const std::vector<std::size_t>& line_starts) {
    for (const std::size_t start : line_starts) {
        command.line_starts.push_back(command.words.size() + start);
    }
    command.words.insert(command.words.end(), words.begin(), words.end());
}

namespace {

/// Whether a line of a script prints its words ("echo \"--spec-type ngram-mod\""), so that they are flags of no program in it.
bool only_prints(const std::vector<std::string>& words, std::size_t begin, std::size_t end) {
    static constexpr std::array<std::string_view, 5> before = {"then", "else", "do", "{", "("};
    while (begin < end && std::find(before.begin(), before.end(), words[begin]) != before.end()) {
        ++begin;
    }
    return begin < end && (words[begin] == "echo" || words[begin] == "printf");
}

/// Takes such lines out, where others remain.
void take_prints_out(ShellWords& split) {
    ShellWords rest;
    for (std::size_t i = 0; i < split.line_starts.size(); ++i) {
        const std::size_t begin = split.line_starts[i],
                          end = i + 1 < split.line_starts.size() ? split.line_starts[i + 1] : split.words.size();
        if (!only_prints(split.words, begin, end)) {
            rest.line_starts.push_back(rest.words.size());
            rest.words.insert(rest.words.end(), split.words.begin() + static_cast<std::ptrdiff_t>(begin),
                              split.words.begin() + static_cast<std::ptrdiff_t>(end));
        }
    }
    if (!rest.words.empty()) {
        split = std::move(rest);
    }
}

}  // namespace

CommandLine split_command_line(std::string_view text) {
    if (text.find("**-") != std::string_view::npos) {  // posts set the flags that they speak of in bold
        std::string plain(text);
        for (std::size_t at = plain.find("**"); at != std::string::npos; at = plain.find("**", at)) {
            plain.erase(at, 2);
        }
        return split_command_line(plain);
    }
    CommandLine line;
    ShellVariables variables;
    ShellWords split = split_shell_words(text, variables);
    take_prints_out(split);
    line.words = std::move(split.words);
    line.line_starts = std::move(split.line_starts);
    if (const std::optional<std::string> inner = text_to_run(line.words)) {
        ShellVariables of_inner;
        const ShellWords run = split_shell_words(*inner, of_inner);
        const auto first_word = std::find_if_not(line.words.begin(), line.words.end(), [](const std::string& word) {
            return is_assignment(word) || word == "export";
        });
        line.words.erase(first_word, line.words.end());
        line.line_starts.clear();
        append(line, run.words, run.line_starts);
    }
    auto program = line.words.begin();
    for (; program != line.words.end() && (is_assignment(*program) || *program == "export" || *program == "env"); ++program) {
        if (is_assignment(*program)) {
            const std::size_t equals = program->find('=');
            const std::string name = program->substr(0, equals - (program->at(equals - 1) == '+' ? 1 : 0));
            line.environment.emplace_back(name, program->substr(equals + 1));
        }
    }
    const auto before = static_cast<std::size_t>(program - line.words.begin());
    line.words.erase(line.words.begin(), program);
    for (std::size_t& start : line.line_starts) {
        start -= std::min(start, before);
    }
    return line;
}

Flags::Flags(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!is_flag(words[i])) {
            continue;
        }
        const std::size_t equals = words[i].find('=');
        if (equals != std::string::npos) {
            flags_.push_back({with_dashes(words[i].substr(0, equals)), words[i].substr(equals + 1), {}});
        } else if (i + 1 < words.size() && !is_flag(words[i + 1])) {
            flags_.push_back({with_dashes(words[i]), words[i + 1], {}});
            for (++i; i + 1 < words.size() && !is_flag(words[i + 1]); ++i) {
                flags_.back().further.push_back(words[i + 1]);
            }
        } else {
            flags_.push_back({with_dashes(words[i]), std::nullopt, {}});
        }
    }
}

const Flag* Flags::find(const std::vector<std::string_view>& names) const {
    const auto found = std::find_if(flags_.rbegin(), flags_.rend(), [&](const Flag& flag) {
        return std::find(names.begin(), names.end(), flag.name) != names.end();
    });
    return found == flags_.rend() ? nullptr : &*found;
}

std::optional<long long> Flags::number(const std::vector<std::string_view>& names) const {
    const Flag* flag = find(names);
    return flag == nullptr || !flag->value ? std::nullopt : text::parse_number<long long>(*flag->value);
}

void Flags::complete(const std::vector<std::string>& known) {
    for (Flag& flag : flags_) {
        const std::string* match = nullptr;
        int matches = 0;
        for (const std::string& name : known) {
            if (name == flag.name) {
                matches = 0;
                break;
            }
            if (flag.name.size() > 2 && name.starts_with(flag.name)) {
                match = &name;
                ++matches;
            }
        }
        if (matches == 1) {
            flag.name = *match;
        }
    }
}

}  // namespace treeline::engines
