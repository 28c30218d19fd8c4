#include "text/wording.h"

#include <sstream>

namespace treeline::text {

std::string listed(const std::vector<std::string>& words, std::string_view last_separator) {
    constexpr std::size_t most_listed = 40;
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i == most_listed) {
            return text + ", ...";
        }
        text += (i == 0 ? std::string() : i + 1 == words.size() ? " " + std::string(last_separator) + " " : ", ") + words[i];
    }
    return text;
}

std::string number_text(double value) {
    std::ostringstream text;
    text.precision(12);
    text << value;
    return text.str();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
    const std::optional<std::string> near = nearest(word, choices);
    return near ? "; did you mean \"" + *near + "\"?" : "";
}

std::string other_names(const std::string& word, const std::vector<std::string>& names, std::string_view command) {
    constexpr std::size_t most_named = 3;
    std::vector<std::string> meant;
    for (const std::string& name : names) {
        if (!word.empty() && name.starts_with(word + "-")) {
            meant.push_back(name);
        }
    }
    if (meant.empty()) {
        meant = nearest_few(word, names, most_named);
    }
    for (std::string& name : meant) {
        name = "\"" + name + "\"";
    }
    return (meant.empty() ? "; `" : "; did you mean " + listed(meant, "or") + "? `") + std::string(command) + "` lists all";
}

std::string shortened(std::string text, std::size_t longest) {
    if (text.size() <= longest) {
        return text;
    }
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) {
        --end;
    }
    return text.substr(0, end) + "...";
}

}  // namespace treeline::text
