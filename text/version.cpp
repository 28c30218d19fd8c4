#include "text/version.h"

#include <algorithm>
#include <array>
#include <cctype>
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

std::string month_text(std::string_view month) {
    constexpr std::array<std::string_view, 12> names = {"January", "February", "March",     "April",   "May",      "June",
                                                        "July",    "August",   "September", "October", "November", "December"};
    constexpr std::size_t dash = 4, length = 7;
    const bool digits = month.size() == length && std::all_of(month.begin(), month.end(), [&](const char& letter) {
                            return (static_cast<std::size_t>(&letter - month.data()) == dash)
                                       ? letter == '-'
                                       : std::isdigit(static_cast<unsigned char>(letter)) != 0;
                        });
    const int number = digits ? 10 * (month[dash + 1] - '0') + (month[dash + 2] - '0') : 0;
    return number < 1 || number > static_cast<int>(names.size())
               ? ""
               : std::string(names[static_cast<std::size_t>(number - 1)]) + " " + std::string(month.substr(0, dash));
}

std::optional<std::size_t> nearest_version(const std::vector<Version>& known, const Version& asked) {
    std::optional<std::size_t> older, oldest;
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i].empty()) {
            continue;
        }
        Version asked_part = known[i];  // as many numbers as were asked for
        asked_part.resize(std::min(asked_part.size(), asked.size()));
        if (asked_part <= asked && (!older || known[*older] < known[i])) {
            older = i;
        }
        if (!oldest || known[i] < known[*oldest]) {
            oldest = i;
        }
    }
    return older ? older : oldest;
}

std::string release_in(const std::string& name) {
    constexpr std::size_t digits = 4;
    for (std::size_t dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1)) {
        const std::size_t end = std::min(name.find('-', dash + 1), name.size());
        const std::string part = name.substr(dash + 1, end - dash - 1);
        const bool number = part.size() == digits &&
                            std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        if (number && (part.front() == '0' || part.front() == '2')) {
            return part;
        }
    }
    return {};
}

}  // namespace treeline::text
