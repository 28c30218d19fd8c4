#include "engines/command_line.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "json/reader.h"
#include "text/parse_number.h"

namespace treeline::engines {
namespace {

/// What variables may expand to altogether, so that a few lines cannot fill the memory.
constexpr std::size_t most_expanded = 4u << 20;

struct Variables {
    std::map<std::string, std::string, std::less<>> values;
    std::size_t expanded = 0;  ///< bytes
};

/// The value of the variable named at `at`, where "$NAME", "${NAME}" or "${NAME:-default}" stands, and `at` moved past it; a
/// "$" where the text before sets no such variable.
std::string variable(std::string_view text, std::size_t& at, Variables& variables) {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool braces = text.substr(at + 1, 1) == "{";
    const std::size_t first = at + (braces ? 2 : 1);
    std::size_t end = first;
    while (end < text.size() && is_letter(static_cast<unsigned char>(text[end]))) {
        ++end;
    }
    const auto found = variables.values.find(text.substr(first, end - first));
    constexpr std::size_t longest_default = 4096;
    const std::size_t brace = text.substr(end, longest_default).find('}');
    const std::size_t close = !braces ? end : brace == std::string_view::npos ? brace : end + brace;
    if (close == std::string_view::npos || end == first) {
        ++at;
        return "$";
    }
    const std::string_view operation = text.substr(end, close - end);
    const bool defaults = operation.starts_with(":-");
    if (found == variables.values.end() && !defaults) {
        ++at;
        return "$";
    }
    at = close + (braces ? 1 : 0);
    std::string value = found != variables.values.end() ? found->second : std::string(operation.substr(2));
    if ((variables.expanded += value.size()) > most_expanded) {
        throw text::InputError({"the variables of the command line expand to more than 4 MiB"});
    }
    return value;
}

/// Reads one quoted part that starts after its opening quote at `at`; moves `at` past the closing quote.
std::string quoted(std::string_view text, std::size_t& at, char quote, Variables& variables) {
    std::string part;
    for (; at < text.size(); ++at) {
        while (quote == '"' && at < text.size() && text[at] == '$') {
            part += variable(text, at, variables);
        }
        if (at == text.size()) {
            break;
        }
        if (text[at] == quote) {
            ++at;
            return part;
        }
        const bool escapes = quote == '"' && text[at] == '\\' && at + 1 < text.size();
        if (escapes && text[at + 1] == '\n') {
            ++at;
        } else if (escapes && std::string_view("\"\\$`").find(text[at + 1]) != std::string_view::npos) {
            part += text[++at];
        } else {
            part += text[at];
        }
    }
    throw text::InputError({std::string("the command line ends within a quote: ") + quote + part.substr(0, 40)});
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// NAME=value, as before a program's name.
bool is_assignment(const std::string& word) {
    const std::size_t equals = word.find('=');
    return equals != std::string::npos && equals > 0 && word.front() != '-' &&
           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    std::optional<std::string> word;
    Variables variables;
    const auto end_word = [&] {
        if (word && is_assignment(*word)) {
            const std::size_t equals = word->find('=');
            variables.values[word->substr(0, equals)] = word->substr(equals + 1);
        }
        if (word) {
            words.push_back(std::move(*word));
            word.reset();
        }
    };
    const auto append = [&](std::string_view part) {
        if (!word) {
            word.emplace();
        }
        word->append(part);
    };
    // Without quotes a value is split at its blanks, but in another assignment.
    const auto expand = [&](std::string_view value) {
        const bool whole = word && is_assignment(*word);
        while (!value.empty()) {
            const std::size_t length = whole ? value.size() : std::min(value.find_first_of(" \t\n\r"), value.size());
            if (length > 0) {
                append(value.substr(0, length));
                value.remove_prefix(length);
            } else {
                end_word();
                value.remove_prefix(1);
            }
        }
    };
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (is_space(c)) {
            end_word();
            ++at;
        } else if (c == '#' && !word) {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '\'' || c == '"') {
            append(quoted(text, ++at, c, variables));
        } else if (c == '$') {
            expand(variable(text, at, variables));
        } else if (c == '\\' && at + 1 < text.size()) {
            const bool continued = text[at + 1] == '\n' || (text[at + 1] == '\r' && text.substr(at + 2, 1) == "\n");
            if (!continued) {
                append(text.substr(at + 1, 1));
            }
            at += text[at + 1] == '\r' && continued ? 3 : 2;
        } else {
            append(text.substr(at, 1));
            ++at;
        }
    }
    end_word();
    return words;
}

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

CommandLine split_command_line(std::string_view text) {
    CommandLine line;
    line.words = split(text);
    if (const std::optional<std::string> inner = text_to_run(line.words)) {
        const std::vector<std::string> run = split(*inner);
        const auto first_word = std::find_if_not(line.words.begin(), line.words.end(), [](const std::string& word) {
            return is_assignment(word) || word == "export";
        });
        line.words.erase(first_word, line.words.end());
        line.words.insert(line.words.end(), run.begin(), run.end());
    }
    auto program = line.words.begin();
    for (; program != line.words.end() && (is_assignment(*program) || *program == "export" || *program == "env"); ++program) {
        if (is_assignment(*program)) {
            const std::size_t equals = program->find('=');
            line.environment.emplace_back(program->substr(0, equals), program->substr(equals + 1));
        }
    }
    line.words.erase(line.words.begin(), program);
    return line;
}

Flags::Flags(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!is_flag(words[i])) {
            continue;
        }
        const std::size_t equals = words[i].find('=');
        if (equals != std::string::npos) {
            flags_.push_back({with_dashes(words[i].substr(0, equals)), words[i].substr(equals + 1)});
        } else if (i + 1 < words.size() && !is_flag(words[i + 1])) {
            flags_.push_back({with_dashes(words[i]), words[i + 1]});
            ++i;
        } else {
            flags_.push_back({with_dashes(words[i]), std::nullopt});
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
