// What a shell puts in place of "$(...)" and "<(...)" on a command line.
#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "engines/quotes.h"
#include "engines/script_parts.h"
#include "text/trimmed.h"

namespace treeline::engines {
namespace {

/// A text of more is no command line, and each is looked for to the text's end.
constexpr int most_substitutions = 64;

/// A substitution in a text: what stands between its brackets, and what it covers.
struct Substitution {
    std::string inner;
    std::size_t begin = 0, end = 0;
};

/// The position of the bracket that closes what begins at `at`, outside quotes; npos without one. The lines of a "<<EOF" hold
/// quotes that mean nothing.
std::size_t closing_bracket(std::string_view text, std::size_t at) {
    const std::size_t mark_at = text.find("<<", at);
    if (text::trimmed(text.substr(at, mark_at == std::string_view::npos ? 0 : mark_at - at)) == "cat") {
        std::string mark = text::trimmed(text.substr(mark_at + 2, text.find('\n', mark_at) - mark_at - 2));
        mark.erase(std::remove_if(mark.begin(), mark.end(), [](char c) { return c == '\'' || c == '"' || c == '-'; }),
                   mark.end());
        const std::size_t close = mark.empty() ? std::string_view::npos : text.find("\n" + mark, mark_at);
        return close == std::string_view::npos ? close : text.find(')', close + 1 + mark.size());
    }
    int depth = 1;
    Quotes quotes;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quotes.take(c)) {
            continue;
        }
        if (c == '(') {
            ++depth;
        } else if (c == ')' && --depth == 0) {
            return at;
        }
    }
    return std::string_view::npos;
}

std::optional<Substitution> substitution_from(const std::string& text, std::string_view opening, std::size_t from) {
    const std::size_t begin = text.find(opening, from);
    const std::size_t close = begin == std::string::npos ? begin : closing_bracket(text, begin + opening.size());
    if (close == std::string::npos) {
        return std::nullopt;
    }
    return Substitution{text.substr(begin + opening.size(), close - begin - opening.size()), begin, close + 1};
}

std::string with_line_breaks(std::string text) {
    for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
        text.replace(at, 2, "\n");
    }
    return text;
}

/// What "printf FORMAT WORDS" prints; a conversion without a word stays as it is written.
std::string formatted(const std::vector<std::string>& words) {
    const std::size_t first = words[1] == "--" ? 2 : 1;
    const std::string format = words.size() > first ? with_line_breaks(words[first]) : "";
    std::string printed;
    std::size_t word = first + 1;
    for (std::size_t at = 0; at < format.size();) {
        const std::size_t end = format[at] == '%' ? format.find_first_of("sdiufgq%", at + 1) : std::string::npos;
        if (end == std::string::npos) {
            printed += format[at++];
            continue;
        }
        const bool takes = format[end] != '%' && word < words.size();
        printed += format[end] == '%' ? "%" : takes ? words[word] : format.substr(at, end + 1 - at);
        word += takes ? 1 : 0;
        at = end + 1;
    }
    return printed;
}

/// What a command prints, where its own text says it; nothing for another command.
std::optional<std::string> printed_by(const std::string& command, const std::map<std::string, std::string>& files) {
    const std::string text = text::trimmed(command);
    if (text.starts_with("cat") && text.find("<<") != std::string::npos) {
        const std::size_t first = text.find('\n'), last = text.rfind('\n');
        return first == std::string::npos || last <= first ? std::nullopt
                                                           : std::optional(text.substr(first + 1, last - first - 1));
    }
    CommandLine line = split_command_line(text.starts_with('<') ? "cat " + text.substr(1) : text);
    std::vector<std::string>& words = line.words;
    if (words.size() == 2 && words[0] == "cat") {
        const auto file = files.find(words[1].substr(words[1].starts_with("./") ? 2 : 0));
        return file == files.end() ? std::nullopt : std::optional(file->second);
    }
    if (words.size() < 2 || (words[0] != "echo" && words[0] != "printf")) {
        return std::nullopt;
    }
    if (words[0] == "printf") {
        return formatted(words);
    }
    std::string printed;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const bool leads = i == 1 && (words[i] == "-e" || words[i] == "-n");
        printed += leads ? "" : (printed.empty() ? "" : " ") + words[i];
    }
    return with_line_breaks(printed);
}

/// A text between single quotes of a shell.
std::string in_quotes(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text::trimmed(text)) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace

std::string with_substitutions(const std::string& script, std::map<std::string, std::string>& files) {
    std::string text = script;
    std::size_t from = 0;
    for (int tried = 0; tried < most_substitutions; ++tried) {
        const auto found = substitution_from(text, "$(", from);
        if (!found) {
            break;
        }
        const std::optional<std::string> printed = printed_by(found->inner, files);
        from = printed ? found->begin : found->begin + 2;
        if (printed) {
            const bool quoted = found->begin > 0 && text[found->begin - 1] == '"' && text.substr(found->end, 1) == "\"";
            const std::size_t begin = found->begin - (quoted ? 1 : 0), end = found->end + (quoted ? 1 : 0);
            const std::string value = in_quotes(*printed);
            text.replace(begin, end - begin, value);
            from = begin + value.size();
        }
    }
    from = 0;
    for (int number = 63; number > 63 - most_substitutions; --number) {  // as bash counts them
        const auto found = substitution_from(text, "<(", from);
        if (!found) {
            break;
        }
        from = found->begin + 2;
        if (const std::optional<std::string> printed = printed_by(found->inner, files)) {
            const std::string name = fmt::format("/dev/fd/{}", number);
            files[name] = *printed;
            text.replace(found->begin, found->end - found->begin, name);
            from = found->begin + name.size();
        }
    }
    return text;
}

}  // namespace treeline::engines
