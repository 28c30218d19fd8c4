#include "engines/shell_variables.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "engines/shell_words.h"
#include "text/input_error.h"

namespace treeline::engines {
namespace {

/// What variables may expand to altogether, so that a few lines cannot fill the memory.
constexpr std::size_t most_expanded = 4u << 20;
/// Within which an expansion closes; others stay as they are written.
constexpr std::size_t longest_expansion = 2048;
constexpr int deepest_expansion = 32;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_name(std::string_view text, std::size_t at) {
    while (at < text.size() && is_letter(text[at])) {
        ++at;
    }
    return at;
}

bool opens(std::string_view text, std::size_t at) {
    return text[at] == '$' && at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '(');
}

/// The position of the bracket that closes what begins at `at`, past nested expansions and quotes; npos without one. Between
/// double quotes an apostrophe in braces is one.
std::size_t closing(std::string_view text, std::size_t at, char bracket, bool in_quotes, int depth = 0) {
    if (depth > deepest_expansion) {
        return std::string_view::npos;
    }
    char quote = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const bool nests = quote != '\'' && opens(text, at);
        if (nests || (quote == 0 && bracket == ')' && c == '(')) {
            const std::size_t first = at + (nests ? 2 : 1);
            at = closing(text, first, text[first - 1] == '{' ? '}' : ')', in_quotes || quote != 0, depth + 1);
            if (at == std::string_view::npos) {
                return at;
            }
        } else if (c == '\\' && quote != '\'') {
            ++at;
        } else if (quote != 0) {
            quote = c == quote ? char(0) : quote;
        } else if (c == '"' || (c == '\'' && !(in_quotes && bracket == '}'))) {
            quote = c;
        } else if (c == bracket) {
            return at;
        }
    }
    return std::string_view::npos;
}

/// `value` without what an operation takes off its end or start; nothing for a pattern or another operation.
std::optional<std::string> trimmed_by(std::string_view operation, std::string value) {
    const char kind = operation.front();
    operation.remove_prefix(operation.size() > 1 && operation[1] == kind ? 2 : 1);
    if ((kind != '%' && kind != '#') || operation.find_first_of("*?[$\"'\\") != std::string_view::npos) {
        return std::nullopt;
    }
    if (kind == '%' && value.ends_with(operation)) {
        value.erase(value.size() - operation.size());
    } else if (kind == '#' && value.starts_with(operation)) {
        value.erase(0, operation.size());
    }
    return value;
}

}  // namespace

std::size_t end_of_shell_expansion(std::string_view text, std::size_t at, bool in_quotes) {
    if (!opens(text, at)) {
        return end_of_name(text, at + 1);
    }
    const bool braces = text[at + 1] == '{';
    const std::string_view near = text.substr(0, std::min(text.size() - at, longest_expansion) + at);
    std::size_t close = closing(near, at + 2, braces ? '}' : ')', in_quotes);
    if (close == std::string_view::npos && braces) {
        close = near.find('}', at);
    }
    return close == std::string_view::npos ? at + 1 : close + 1;
}

void ShellVariables::assign(const std::string& name, std::vector<std::string> words, bool adds, bool list) {
    std::vector<std::string>& value = values_[name];
    if (list && adds) {
        value.insert(value.end(), words.begin(), words.end());
    } else if (adds && !value.empty()) {
        value.front() += words.front();
    } else if (!list || !words.empty()) {
        value = std::move(words);
    }
}

std::optional<ShellVariables::Parameter> ShellVariables::parameter_of(std::string_view written) {
    const bool braces = written.size() > 2 && written[1] == '{';
    const std::size_t first = braces ? 2 : 1, end = end_of_name(written, first);
    if (end == first) {
        return std::nullopt;
    }
    Parameter parameter{written.substr(first, end - first), false, {}};
    if (braces) {
        parameter.operation = written.substr(end, written.size() - 1 - end);
        parameter.whole_list = parameter.operation.starts_with("[@]") || parameter.operation.starts_with("[*]");
        parameter.operation.remove_prefix(parameter.whole_list ? 3 : 0);
    }
    return parameter;
}

/// A default as it stands in braces: between quotes of its own or not, with variables of its own.
std::string ShellVariables::default_of(std::string_view text) {
    const bool quoted =
        text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.find(text.front(), 1) == text.size() - 1;
    std::string plain(quoted ? text.substr(1, text.size() - 2) : text);
    for (std::size_t at = plain.find("\\\""); at != std::string::npos; at = plain.find("\\\"", at + 1)) {
        plain.erase(at, 1);
    }
    return expanded(plain);
}

/// By "-", "=" and "+", with a colon or not: what stands in place of the value; nothing where the value counts.
std::optional<ShellExpansion> ShellVariables::chosen_by(const Parameter& parameter, const std::vector<std::string>* words) {
    std::string_view operation = parameter.operation;
    const bool colon = operation.starts_with(':');
    operation.remove_prefix(colon ? 1 : 0);
    if (operation.empty() || std::string_view("-=+").find(operation.front()) == std::string_view::npos) {
        return std::nullopt;
    }
    const bool empty = words != nullptr && (words->empty() || (colon && words->front().empty()));
    const std::string_view other = operation.substr(1);
    if (operation.front() == '+') {
        return words == nullptr ? std::nullopt
               : empty          ? std::optional(ShellExpansion{})
                                : std::optional(ShellExpansion{split_shell_words(other, *this).words, false});
    }
    if (words != nullptr && !empty) {
        return std::nullopt;
    }
    const std::string value = default_of(other);
    if (operation.front() == '=') {
        values_[std::string(parameter.name)] = {value};
    }
    return ShellExpansion{{value}, true};
}

std::optional<ShellExpansion> ShellVariables::value_of(const Parameter& parameter) {
    const auto found = values_.find(parameter.name);
    const std::vector<std::string>* words = found == values_.end() ? nullptr : &found->second;
    if (words == nullptr && parameter.whole_list) {
        return std::nullopt;
    }
    if (std::optional<ShellExpansion> chosen = chosen_by(parameter, words)) {
        return chosen;
    }
    if (words == nullptr) {
        return std::nullopt;
    }
    if (parameter.whole_list) {
        return ShellExpansion{*words, false};
    }
    const std::string value = words->empty() ? "" : words->front();
    const bool whole = parameter.operation.empty() || parameter.operation.find_first_of("-=") <= 1;
    const std::optional<std::string> text = whole ? value : trimmed_by(parameter.operation, value);
    return text ? std::optional(ShellExpansion{{*text}, true}) : std::nullopt;
}

ShellExpansion ShellVariables::expand(std::string_view text, std::size_t& at, bool in_quotes) {
    const std::size_t end = end_of_shell_expansion(text, at, in_quotes);
    const std::string_view written = text.substr(at, end - at);
    at = end;
    const std::optional<Parameter> parameter = parameter_of(written);
    std::optional<ShellExpansion> value = parameter ? value_of(*parameter) : std::nullopt;
    if (!value) {
        return {{std::string(written)}, false};
    }
    for (const std::string& word : value->words) {
        if ((expanded_ += word.size() + 1) > most_expanded) {
            throw text::InputError({"the variables of the command line expand to more than 4 MiB"});
        }
    }
    return *value;
}

std::string ShellVariables::expanded(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '$') {
            result += text[at++];
            continue;
        }
        std::string between;
        for (const std::string& word : expand(text, at, true).words) {
            result += std::exchange(between, " ") + word;
        }
    }
    return result;
}

}  // namespace treeline::engines
