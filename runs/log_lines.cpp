#include "runs/log_lines.h"

#include <algorithm>
#include <cctype>

namespace treeline::runs {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

/// "[...]" at the beginning; empty if there is none.
std::string_view leading_bracket(std::string_view text) {
    const std::size_t end = text.find(']');
    return text.starts_with("[") && end != std::string_view::npos && end < 80 ? text.substr(0, end + 1) : std::string_view();
}

/// "name  | " of containers; empty if there is none.
std::string_view leading_container(std::string_view text) {
    const std::size_t bar = text.find(" | ");
    if (bar == std::string_view::npos || bar > 60 || bar == 0) {
        return {};
    }
    const std::string_view name = without_blanks(text.substr(0, bar));
    const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-_./").find(c) != std::string_view::npos;
    });
    return is_name && !name.empty() ? text.substr(0, bar + 3) : std::string_view();
}

/// Brackets with a date or a level differ from line to line.
bool names_process(std::string_view bracket) {
    return bracket.size() > 2 && bracket.find(' ') == std::string_view::npos &&
           bracket.find_first_of(":") == std::string_view::npos &&
           bracket.find_first_of("0123456789") != std::string_view::npos;
}

/// The digits after a text; empty if they do not follow at once.
std::string_view digits_after(std::string_view line, std::string_view text) {
    const std::size_t found = line.find(text);
    if (found == std::string_view::npos) {
        return {};
    }
    const std::size_t begin = found + text.size();
    std::size_t end = begin;
    while (end < line.size() && is_digit(line[end])) {
        ++end;
    }
    return line.substr(begin, end - begin);
}

}  // namespace

bool starts_as_json(std::string_view first_line) {
    first_line = without_blanks(first_line);
    if (!first_line.starts_with("[")) {
        return first_line.starts_with("{");
    }
    const std::string_view rest = without_blanks(first_line.substr(1));
    return rest.empty() || rest.front() == '{' || rest.front() == ']';
}

std::string stream_of(std::string_view line) {
    std::string stream;
    line = without_blanks(line);
    if (const std::string_view container = leading_container(line); !container.empty()) {
        stream += container;
        line = without_blanks(line.substr(container.size()));
    }
    if (const std::string_view bracket = leading_bracket(line); names_process(bracket)) {
        stream += bracket;
        line = without_blanks(line.substr(bracket.size()));
    }
    stream += digits_after(line.substr(0, std::min<std::size_t>(line.size(), 120)), "pid=");
    const std::string_view rank = digits_after(line.substr(0, std::min<std::size_t>(line.size(), 160)), " DP");
    stream += rank.empty() ? "" : "/DP" + std::string(rank);
    return stream;
}

std::string_view without_prefix(std::string_view line) {
    line = without_blanks(line);
    for (bool shorter = true; shorter;) {
        const std::string_view container = leading_container(line), bracket = leading_bracket(line);
        const std::size_t taken = line.starts_with("> ")                                          ? 2
                                  : !container.empty()                                            ? container.size()
                                  : bracket.find_first_of("0123456789") != std::string_view::npos ? bracket.size()
                                                                                                  : 0;
        line = without_blanks(line.substr(taken));
        shorter = taken > 0;
    }
    return line;
}

std::string_view from_label(std::string_view line, std::string_view label) {
    for (std::size_t at = line.find(label); at != std::string_view::npos; at = line.find(label, at + 1)) {
        const char before = at == 0 ? ' ' : line[at - 1];
        const bool colour = before == 'm' && line.rfind('\x1b', at) != std::string_view::npos;
        if (colour || (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_')) {
            return line.substr(at);
        }
    }
    return {};
}

std::string_view json_of_line(std::string_view line) {
    const std::size_t brace = line.find("{\"");
    return brace != std::string_view::npos && without_blanks(line).ends_with("}") ? line.substr(brace) : std::string_view();
}

long opened_braces(std::string_view line) {
    long open = 0;
    bool in_text = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        at += in_text && line[at] == '\\' ? 1 : 0;
        in_text = at < line.size() && line[at] == '"' ? !in_text : in_text;
        open += in_text || at >= line.size() ? 0 : line[at] == '{' ? 1 : line[at] == '}' ? -1 : 0;
    }
    return open;
}

}  // namespace treeline::runs
