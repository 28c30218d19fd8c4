#include "text/version.h"

#include <charconv>

namespace treeline::text {

Version version_in(std::string_view text) {
    Version numbers;
    while (!text.empty()) {
        int number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || number < 0) {
            break;
        }
        numbers.push_back(number);
        const auto used = static_cast<std::size_t>(end - text.data());
        if (used >= text.size() || text[used] != '.') {
            break;
        }
        text.remove_prefix(used + 1);
    }
    return numbers;
}

std::optional<std::size_t> nearest_version(const std::vector<Version>& known, const Version& asked) {
    std::optional<std::size_t> older, oldest;
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i].empty()) {
            continue;
        }
        if (known[i] <= asked && (!older || known[*older] < known[i])) {
            older = i;
        }
        if (!oldest || known[i] < known[*oldest]) {
            oldest = i;
        }
    }
    return older ? older : oldest;
}

}  // namespace treeline::text
