#include "text/wording.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "text/plain_text.h"

namespace treeline::text {
namespace {

/// Its letters and digits, in lower case.
std::string joined(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return text;
}

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

/// The letters and digits of the words that two names share, or that begin one of the other's.
std::size_t shared(const std::vector<std::string>& words, const std::vector<std::string>& others) {
    constexpr std::size_t shortest_telling = 3;
    std::size_t letters = 0;
    for (const std::string& word : words) {
        const bool found = std::any_of(others.begin(), others.end(), [&](const std::string& other) {
            return other.starts_with(word) || (other.size() >= shortest_telling && word.starts_with(other));
        });
        letters += word.size() >= shortest_telling && found ? word.size() : 0;
    }
    return letters;
}

/// The choices whose letters and digits begin with those of `word` ("llama3": "llama-3-8b").
std::vector<std::string> beginning_with(std::string_view word, const std::vector<std::string>& choices) {
    std::vector<std::string> found;
    const std::string start = joined(word);
    for (const std::string& choice : choices) {
        if (!start.empty() && joined(choice).starts_with(start)) {
            found.push_back(choice);
        }
    }
    return found;
}

/// Up to `most` choices that share a word with it ("xeon-platinum-8480": "xeon-8480plus"), those that share more first.
std::vector<std::string> sharing_words(std::string_view word, const std::vector<std::string>& choices, std::size_t most) {
    std::vector<std::pair<std::size_t, std::string>> alike;
    const std::vector<std::string> words = words_of(word);
    for (const std::string& choice : choices) {
        if (const std::size_t letters = shared(words, words_of(choice)); letters > 0) {
            alike.emplace_back(letters, choice);
        }
    }
    std::stable_sort(alike.begin(), alike.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(most, alike.size()); ++i) {
        names.push_back(alike[i].second);
    }
    return names;
}

}  // namespace

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
    std::vector<std::string> meant = beginning_with(word, names);
    meant = meant.empty() ? nearest_few(word, names, most_named) : meant;
    meant = meant.empty() ? sharing_words(word, names, most_named) : meant;
    for (std::string& name : meant) {
        name = "\"" + name + "\"";
    }
    return (meant.empty() ? "; `" : "; did you mean " + listed(meant, "or") + "? `") + std::string(command) + "` lists all";
}

std::string shortened(const std::string& text, std::size_t longest) {
    return text.size() <= longest ? text : std::string(head(text, longest)) + "...";
}

}  // namespace treeline::text
