#include "runs/formats/prose_labels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "runs/formats/load_numbers.h"
#include "runs/formats/prose_figures.h"
#include "runs/formats/table_caption.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Less is a number of drafts ("depth 2").
constexpr double shortest_context = 128.0;
constexpr std::array<std::string_view, 8> drafters = {"mtp",    "eagle", "dflash", "dspark",
                                                      "medusa", "nextn", "draft",  "speculator"};

bool is_figure(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }

bool is_any_word(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words between blanks and punctuation; points, dashes and underscores are part of them.
std::vector<std::string> whole_words(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (is_letter_of_word(c)) {
            words.back() += c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    for (std::string& word : words) {
        word = word.substr(0, word.find_last_not_of(".-_") + 1);
    }
    std::erase_if(words, [](const std::string& word) { return word.empty(); });
    return words;
}

/// "8k", "1.5k", "128k".
bool is_thousands(std::string_view word) {
    return word.size() > 1 && word.back() == 'k' && is_figure(word.front()) &&
           word.find_first_not_of("0123456789.") == word.size() - 1;
}

bool names_context(std::string_view word) { return is_any_word(word, {"ctx", "context", "depth", "prompt"}); }

/// A size of a model at the end of a word or before a dash: "27b", "qwen3.6-27b-fp8", "35b-a3b".
bool names_size(std::string_view word) {
    for (std::size_t at = word.find('b'); at != std::string_view::npos; at = word.find('b', at + 1)) {
        const bool ends = at + 1 == word.size() || !std::isalnum(static_cast<unsigned char>(word[at + 1]));
        if (ends && at > 0 && is_figure(word[at - 1])) {
            return true;
        }
    }
    return false;
}

/// The formats that engines and quantised files are called by.
bool names_format(std::string_view word) {
    word.remove_prefix(word.starts_with("ud-") ? 3 : 0);
    const std::size_t q = word.starts_with("iq") ? 2 : word.starts_with('q') ? 1 : 0;
    const bool gguf = q > 0 && word.size() > q && is_figure(word[q]) && (word.size() == q + 1 || word[q + 1] == '_');
    return gguf || is_any_word(word, {"fp8", "nvfp4", "mxfp4", "fp4", "bf16", "fp16", "f16", "awq", "gptq", "int4", "int8",
                                      "w4a16", "w8a8"});
}

std::vector<std::string> parts_between(std::string_view word, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : word) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// The format within a name ("qwen3.6-27b-q4_k_m", "spec_bf16_n1"); that of a cache is none ("kv_fp8"). Empty without.
std::string format_within(std::string_view name) {
    std::string found;
    for (const std::string& part : parts_between(name, '-')) {
        found = found.empty() && part.find('_') != std::string::npos && names_format(part) ? part : found;
        for (const std::string& word : parts_between(part, '_')) {
            if (is_any_word(word, {"kv", "cache"})) {
                return "";
            }
            found = found.empty() && !word.starts_with('q') && !word.starts_with("iq") && names_format(word) ? word : found;
        }
    }
    return found;
}

/// "qwen3-8b" of "qwen3-8b-speculator.eagle3": the target in a name that tells of its drafter, too.
std::string target_in(const std::string& model) {
    std::string target;
    for (const std::string& part : parts_between(model, '-')) {
        const bool drafter =
            std::any_of(drafters.begin(), drafters.end(), [&](std::string_view name) { return part.starts_with(name); });
        target += drafter ? "" : (target.empty() ? "" : "-") + part;
    }
    return target;
}

/// "draft model qwen3-0.6b": the word at `at` is not of the target.
bool is_of_drafter(const std::vector<std::string>& words, std::size_t at) {
    const auto drafts = [&](std::size_t i) { return is_any_word(words[i], {"draft", "drafter"}); };
    return (at > 0 && drafts(at - 1)) || (at > 1 && words[at - 1] == "model" && drafts(at - 2));
}

/// The format that words name at `at`; "8 bit", "8bit" and "8-bit" are one. Empty where they name none.
std::string format_at(const std::vector<std::string>& words, std::size_t at) {
    const std::string& word = words[at];
    const bool apart = (word == "4" || word == "8") && at + 1 < words.size() && words[at + 1] == "bit";
    if (apart || is_any_word(word, {"4bit", "8bit", "4-bit", "8-bit"})) {
        return word.substr(0, 1) + "-bit";
    }
    return names_format(word) ? word : format_within(word);
}

/// "h100", "b200", "mi300x", "3090", "gb10".
bool names_chip(std::string_view word) {
    const std::size_t digits = word.find_first_of("0123456789");
    const std::string_view letters = word.substr(0, std::min(digits, word.size())),
                           number = digits == std::string_view::npos ? std::string_view() : word.substr(digits);
    const auto counts = std::count_if(number.begin(), number.end(), is_figure);
    const bool short_end = number.size() - static_cast<std::size_t>(counts) <= 1;
    if (is_any_word(letters, {"a", "b", "h", "v"})) {
        return counts == 3 && short_end;
    }
    if (is_any_word(letters, {"gb", "mi"})) {
        return counts >= 2 && short_end;
    }
    return letters.empty() && counts == 4 &&
           is_any_word(number.substr(0, 4), {"2080", "3060", "3070", "3080", "3090", "4060", "4070", "4080", "4090", "5060",
                                             "5070", "5080", "5090"});
}

/// The device that words name from `at` on; empty where they name none.
std::string device_at(const std::vector<std::string>& words, std::size_t at) {
    const std::string next = at + 1 < words.size() ? words[at + 1] : std::string();
    if (is_any_word(words[at], {"rtx", "gtx", "arc", "radeon", "strix", "dgx"}) && !next.empty()) {
        std::string device = next;  // "4090", "pro 6000", "ai pro r9700"
        for (std::size_t i = at + 2; i < words.size() && is_any_word(words[i - 1], {"pro", "ai", "rx"}); ++i) {
            device += " " + words[i];
        }
        return device;
    }
    const bool apple = words[at].size() == 2 && words[at][0] == 'm' && is_figure(words[at][1]);
    if (apple && is_any_word(next, {"max", "ultra", "pro"})) {
        return words[at] + " " + next;
    }
    return names_chip(words[at]) ? words[at] : std::string();
}

bool differ(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

}  // namespace

double context_in(std::string_view clause) {
    const std::vector<std::string> words = whole_words(clause);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string before = i > 0 ? words[i - 1] : std::string(),
                          after = i + 1 < words.size() ? words[i + 1] : std::string();
        const bool of_depth =
            words[i].size() > 1 && words[i][0] == 'd' && words[i].find_first_not_of("0123456789", 1) == std::string::npos;
        if (of_depth && clause.find('@') != std::string_view::npos) {
            return number_of(words[i].substr(1)).value_or(0.0);
        }
        // "512-token prompts", "a 4k-token context"; "256-token answers" are none.
        if (const std::size_t unit = words[i].find("-token"); unit != std::string::npos && unit > 0) {
            const std::string count = words[i].substr(0, unit);
            const double tokens =
                count.find_first_not_of("0123456789.k") == std::string::npos ? number_of(count).value_or(0.0) : 0.0;
            if (tokens >= shortest_context &&
                (after.empty() || names_context(after) || is_any_word(after, {"prompts", "contexts", "input", "inputs"}))) {
                return tokens;
            }
        }
        const bool thousands = is_thousands(words[i]);
        const bool number = thousands || words[i].find_first_not_of("0123456789") == std::string::npos;
        const bool named = names_context(before) || names_context(after) ||
                           (is_any_word(after, {"token", "tokens"}) && i + 2 < words.size() &&
                            (names_context(words[i + 2]) || words[i + 2] == "of"));
        const std::size_t place = clause.find(words[i]), end = place + words[i].size();
        const bool labels = end < clause.size() && (clause[end] == ':' || clause[end] == '=');
        const bool placed =
            before == "at" || (place > 1 && clause.substr(0, place).find('@') != std::string_view::npos) || labels;
        const double tokens = number ? number_of(words[i]).value_or(0.0) : 0.0;
        if (tokens >= shortest_context && (named || (thousands && (placed || words.size() == 1)))) {
            return tokens;
        }
    }
    return 0.0;
}

LoadLabel load_before(std::string_view text, std::size_t at) {
    if (at < 2 || text[at - 1] != '=') {
        return {};
    }
    std::size_t begin = at - 1;
    while (begin > 0 && is_letter_of_word(text[begin - 1])) {
        --begin;
    }
    const std::string label(text.substr(begin, at - 1 - begin));
    if (is_thousands(label)) {
        return {number_of(label).value_or(0.0), 0.0};
    }
    const bool names_batch = std::isalpha(static_cast<unsigned char>(label.empty() ? '0' : label.front())) != 0;
    return {0.0, names_batch ? static_cast<double>(requests_of_heading(label)) : 0.0};
}

bool DeploymentWords::contradicts(const DeploymentWords& other) const {
    return differ(model, other.model) || differ(format, other.format) || differ(device, other.device);
}

void DeploymentWords::add(const DeploymentWords& other) {
    model = model.empty() ? other.model : model;
    format = format.empty() ? other.format : format;
    device = device.empty() ? other.device : device;
}

std::string DeploymentWords::text() const {
    std::string all;
    for (const std::string& word : {model, format, device}) {
        const bool told = all.find(word) != std::string::npos;
        all += told ? "" : (all.empty() ? "" : " ") + word;
    }
    return all;
}

DeploymentWords deployment_in(std::string_view text) {
    DeploymentWords found;
    const std::vector<std::string> words = whole_words(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool of_target = !is_of_drafter(words, i);
        if (of_target && found.model.empty() && names_size(words[i])) {
            found.model = target_in(words[i]);
        }
        found.format = of_target && found.format.empty() ? format_at(words, i) : found.format;
        found.device = found.device.empty() ? device_at(words, i) : found.device;
    }
    return found;
}

}  // namespace treeline::runs::run_formats_of
