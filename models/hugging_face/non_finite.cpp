#include "models/hugging_face/non_finite.h"

#include <array>

namespace treeline::models::hugging_face {

namespace {

constexpr std::array<std::string_view, 3> words = {"-Infinity", "Infinity", "NaN"};

/// Length of the non-finite number that starts here, or 0.
std::size_t length_of_non_finite(std::string_view rest) {
    for (const std::string_view word : words) {
        if (rest.substr(0, word.size()) == word) {
            return word.size();
        }
    }
    return 0;
}

}  // namespace

bool has_non_finite_numbers(std::string_view text) {
    const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    return (says("\"model_type\"") || says("\"architectures\"")) && (says("Infinity") || says("NaN"));
}

std::string without_non_finite_numbers(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    bool in_string = false;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = in_string ? 0 : length_of_non_finite(text.substr(i));
        if (length > 0) {
            result += "null";
            i += length;
            continue;
        }
        if (in_string && text[i] == '\\' && i + 1 < text.size()) {
            result += text[i++];
        } else if (text[i] == '"') {
            in_string = !in_string;
        }
        result += text[i++];
    }
    return result;
}

}  // namespace treeline::models::hugging_face
