#include "engines/script_parts.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace treeline::engines {
namespace {

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last + 1 - first));
}

/// The mark and the file of a line that begins a document to be written; empty where it begins none.
struct Begin {
    std::string mark, file;
};

Begin begin_of(const std::string& line) {
    const std::size_t at = line.find("<<");
    if (at == std::string::npos || line.substr(at).starts_with("<<<")) {
        return {};
    }
    std::string mark = trimmed(std::string_view(line).substr(at + (line.substr(at).starts_with("<<-") ? 3 : 2)));
    mark = mark.substr(0, mark.find_first_of(" >"));
    mark.erase(std::remove_if(mark.begin(), mark.end(), [](char c) { return c == '\'' || c == '"'; }), mark.end());
    std::size_t named = line.find('>');
    named = named == std::string::npos ? line.find("tee ") : named;
    if (mark.empty() || named == std::string::npos) {
        return {};
    }
    const std::size_t first = line.find_first_not_of("> ", named + (line[named] == '>' ? 0 : 4));
    std::string file = first == std::string::npos ? "" : line.substr(first, line.find_first_of(" <", first) - first);
    file = file.substr(file.starts_with("./") ? 2 : 0);
    return {mark, file};
}

bool is_key(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
}

struct Section {
    std::string name;
    std::vector<std::string> words;
    bool speculates = false;
};

}  // namespace

std::map<std::string, std::string> take_written_files(std::string& script) {
    std::map<std::string, std::string> files;
    std::istringstream lines(script);
    std::string rest, line;
    while (std::getline(lines, line)) {
        const Begin begin = begin_of(line);
        if (begin.file.empty()) {
            rest += line + "\n";
            continue;
        }
        std::string body;
        while (std::getline(lines, line) && trimmed(line) != begin.mark) {
            body += line + "\n";
        }
        files[begin.file] = std::move(body);
    }
    if (!files.empty()) {
        script = std::move(rest);
    }
    return files;
}

std::optional<Preset> preset_of(const std::string& text) {
    std::vector<Section> sections = {{}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string content = trimmed(line);
        if (content.empty() || content.front() == '#' || content.front() == ';') {
            continue;
        }
        if (content.front() == '[' && content.back() == ']') {
            sections.push_back({content, {}, false});
            continue;
        }
        const std::size_t equals = content.find('=');
        const std::string key = trimmed(std::string_view(content).substr(0, equals));
        if (equals == std::string::npos || !is_key(key) || key.starts_with('-')) {
            return std::nullopt;
        }
        Section& section = sections.back();
        section.words.push_back((key.size() > 1 ? "--" : "-") + key);
        section.words.push_back(trimmed(std::string_view(content).substr(equals + 1)));
        section.speculates = section.speculates || key.starts_with("spec-") || key.starts_with("draft");
    }
    const auto speculates = [](const Section& section) { return section.speculates; };
    const auto chosen = std::find_if(sections.begin(), sections.end(), speculates);
    if (chosen == sections.end()) {
        return std::nullopt;
    }
    Preset preset{"a preset", {}};
    for (const Section& section : sections) {
        const bool of_all = section.name.empty() || section.name == "[*]";
        if (of_all || &section == &*chosen) {
            preset.command.words.insert(preset.command.words.end(), section.words.begin(), section.words.end());
        }
    }
    if (std::count_if(sections.begin(), sections.end(), speculates) > 1) {
        preset.name = fmt::format("the preset {} (give other sections by themselves)", chosen->name);
    }
    return preset;
}

}  // namespace treeline::engines
