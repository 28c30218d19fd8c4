#include <algorithm>
#include <array>
#include <utility>

#include "text/wording.h"

namespace treeline::text {
namespace {

constexpr std::size_t longest_compared = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Levenshtein distance in which a change of case counts a quarter of an edit and neighbours may swap (one edit), in quarters
/// of edits.
std::size_t distance(std::string_view a, std::string_view b) {
    constexpr std::size_t edit = 4;
    using Row = std::array<std::size_t, longest_compared + 1>;
    Row before_previous{};
    Row previous{};
    Row current{};
    for (std::size_t j = 0; j <= b.size(); ++j) {
        previous[j] = j * edit;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i * edit;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const char x = a[i - 1];
            const char y = b[j - 1];
            const std::size_t change = x == y ? 0 : (lower(x) == lower(y) ? 1 : edit);
            current[j] = std::min({previous[j] + edit, current[j - 1] + edit, previous[j - 1] + change});
            if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y) {
                current[j] = std::min(current[j], before_previous[j - 2] + edit);
            }
        }
        before_previous = previous;
        previous = current;
    }
    return previous[b.size()];
}

bool one_contains_the_other(std::string_view a, std::string_view b) {
    constexpr std::size_t shortest_telling = 3;
    return std::min(a.size(), b.size()) >= shortest_telling &&
           (a.find(b) != std::string_view::npos || b.find(a) != std::string_view::npos);
}

}  // namespace

std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& choices, std::size_t most) {
    if (word.empty() || word.size() > longest_compared) {
        return {};
    }
    const std::size_t near_enough = 4 * std::max<std::size_t>(1, word.size() / 3);
    std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::string>> near;
    for (const std::string& choice : choices) {
        if (choice.empty() || choice.size() > longest_compared) {
            continue;
        }
        const bool contained = one_contains_the_other(word, choice);
        const std::size_t longer = std::max(word.size(), choice.size()) - std::min(word.size(), choice.size());
        if (!contained && 4 * longer > near_enough) {
            continue;  // each further letter is an edit
        }
        const std::size_t edits = distance(word, choice);
        if (contained || edits <= near_enough) {
            // "h100" means h100-sxm (four edits away), not h200 (one edit away).
            near.push_back({{contained ? std::min<std::size_t>(edits, 2) : edits, edits}, choice});
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(most, near.size()); ++i) {
        names.push_back(near[i].second);
    }
    return names;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& choices) {
    const std::vector<std::string> found = nearest_few(word, choices, 1);
    return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace treeline::text
