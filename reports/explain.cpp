#include "reports/explain.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

constexpr const char* every_section = "all";

std::vector<std::string> with_all(std::vector<std::string> known) {
    known.emplace_back(every_section);
    return known;
}

bool all_asked(const std::string& asked) { return asked.empty() || asked == every_section; }

}  // namespace

std::string indented(const std::string& lines, const std::string& indent) {
    std::string result;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
        result.append(indent).append(line).append("\n");
    }
    return result;
}

std::vector<std::string> explained_names(const std::string& asked, const std::vector<std::string>& known) {
    if (all_asked(asked)) {
        return known;
    }
    std::vector<std::string> names;
    std::istringstream list(asked);
    for (std::string name; std::getline(list, name, ',');) {
        if (name == every_section) {
            return known;
        }
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw text::InputError({fmt::format("--explain: there is no section \"{}\"; write {}", text::shortened(name, 60),
                                                text::listed(with_all(known), "or"))});
        }
        names.push_back(name);
    }
    return names;
}

std::string titled_section(const std::string& name, const std::string& text) {
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return title + "\n" + (text.empty() ? "Nothing to say here.\n" : text);
}

std::string more_text(const std::vector<std::string>& known) {
    std::string text = "More: --explain ";
    for (const std::string& name : known) {
        text += name + "|";
    }
    return text + every_section + "\n";
}

std::string explained_answer(const Explain& explain, const std::vector<std::string>& known, const std::string& first_screen,
                             const std::string& sentence, const std::function<std::string(const std::string&)>& section) {
    if (!explain) {
        return first_screen;
    }
    std::string text = all_asked(*explain) ? first_screen : sentence;
    for (const std::string& name : explained_names(*explain, known)) {
        text += "\n" + titled_section(name, section(name));
    }
    return text;
}

}  // namespace treeline::reports
