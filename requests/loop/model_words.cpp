#include "requests/loop/model_words.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace treeline::requests {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    return words;
}

/// "35b-a3b" of "35B.A3B"; empty where a word is no size.
std::string size_of(const std::string& word) {
    std::string size = in_lower_case(word);
    const std::size_t behind = size.find_first_not_of("0123456789.");
    if (behind == 0 || behind == std::string::npos || size[behind] != 'b') {
        return {};
    }
    if (const std::size_t active = size.find(".a", behind); active == behind + 1) {
        size[active] = '-';
        return size;
    }
    return behind + 1 == size.size() ? size : "";
}

/// The releases that an architecture of llama.cpp stands for, in the order in which they came: "qwen35moe" for 3.5 and later
/// ones of these layers.
std::vector<std::string> releases_of(const std::string& digits) {
    if (digits.size() == 2) {
        std::vector<std::string> releases;
        for (char minor = digits[1]; minor <= '9'; ++minor) {
            releases.push_back({digits[0], '.', minor});
        }
        return releases;
    }
    return digits.empty() ? std::vector<std::string>{"", "-3.1", "-3", "-2"}  // "llama"
                          : std::vector<std::string>{digits, digits + ".5"};
}

/// Families of "qwen35moe", "qwen3next", "gemma3".
std::vector<std::string> families_of(std::string architecture) {
    constexpr std::string_view mixture = "moe";
    if (architecture.ends_with(mixture)) {
        architecture.erase(architecture.size() - mixture.size());
    }
    const auto first = std::find_if(architecture.begin(), architecture.end(), is_digit);
    const auto last = std::find_if_not(first, architecture.end(), is_digit);
    const std::string letters(architecture.begin(), first), suffix(last, architecture.end());
    std::vector<std::string> families;
    for (const std::string& release : releases_of(std::string(first, last))) {
        for (const char* between : {"", "-"}) {
            families.push_back(letters + (release.starts_with('-') ? "" : between) + release +
                               (suffix.empty() ? "" : "-" + suffix));
        }
    }
    return families;
}

/// "q4_k_m" of "Q4_K - Medium", "fp16" of "F16", "mxfp4" of "MXFP4 MoE".
std::string format_of(const std::vector<std::string>& words, std::size_t at) {
    std::string format = at < words.size() ? in_lower_case(words[at]) : "";
    if (at + 2 < words.size() && words[at + 1] == "-") {
        const std::string mixture = in_lower_case(words[at + 2]);
        format += mixture == "medium" ? "_m" : mixture == "small" ? "_s" : mixture == "large" ? "_l" : "";
    }
    return format == "f16" ? "fp16" : format;
}

}  // namespace

std::pair<std::vector<std::string>, std::string> names_of_bench_words(const std::string& words) {
    const std::vector<std::string> all = words_of(words);
    const std::string size = all.size() < 2 ? "" : size_of(all[1]);
    if (size.empty()) {
        return {};
    }
    std::vector<std::string> names;
    for (const std::string& family : families_of(in_lower_case(all.front()))) {
        names.push_back(family + "-" + size);
    }
    return {names, format_of(all, 2)};
}

std::vector<std::string> beginnings_of_file_name(const std::string& path) {
    std::string name = path.substr(path.find_last_of("/\\") + 1);  // npos + 1 is 0
    name = name.substr(0, name.rfind('.'));
    std::vector<std::string> beginnings;
    constexpr std::size_t longest = 256;
    for (std::size_t end = std::min(name.size(), longest); end != std::string::npos && end > 0;
         end = name.find_last_of("_-. +@", end - 1)) {
        beginnings.push_back(name.substr(0, end));
    }
    return beginnings;
}

}  // namespace treeline::requests
