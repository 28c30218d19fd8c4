// Presets of llama.cpp's router.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "engines/llama_cpp/parts.h"
#include "engines/script_parts.h"
#include "text/trimmed.h"

namespace treeline::engines::llama_cpp {
namespace {

using text::trimmed;

struct Section {
    std::string name;
    std::vector<std::string> words;
    bool speculates = false;
};

}  // namespace

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

}  // namespace treeline::engines::llama_cpp
