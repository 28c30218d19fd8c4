#include "hardware/stack_versions.h"

#include <algorithm>
#include <charconv>

namespace treeline::hardware {
namespace {

/// The numbers of "0.12.1"; what follows the last number ("rc3", "post1") does not count. Empty if there is none at the start.
std::vector<int> version_numbers(std::string_view text) {
    std::vector<int> numbers;
    while (!text.empty()) {
        int number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{}) {
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

}  // namespace

StackVersion stack_version(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    if (name.ends_with(".json") || dash == std::string_view::npos || dash == 0) {
        return {std::string(name), {}};
    }
    std::vector<int> version = version_numbers(name.substr(dash + 1));
    return version.empty() ? StackVersion{std::string(name), {}}
                           : StackVersion{std::string(name.substr(0, dash)), std::move(version)};
}

std::vector<std::string> engines_of(const std::vector<std::string>& names) {
    std::vector<std::string> engines;
    for (const std::string& name : names) {
        const StackVersion known = stack_version(name);
        if (!known.version.empty() && std::find(engines.begin(), engines.end(), known.engine) == engines.end()) {
            engines.push_back(known.engine);
        }
    }
    return engines;
}

std::optional<std::string> newest_version(const std::vector<std::string>& names, const std::string& engine) {
    std::optional<std::string> newest;
    for (const std::string& name : names) {
        const StackVersion known = stack_version(name);
        if (known.engine == engine && !known.version.empty() && (!newest || stack_version(*newest).version < known.version)) {
            newest = name;
        }
    }
    return newest;
}

std::optional<std::string> nearest_version(const std::vector<std::string>& names, const std::string& name) {
    const StackVersion asked = stack_version(name);
    if (asked.version.empty()) {
        return std::nullopt;
    }
    std::optional<std::string> older, oldest;
    for (const std::string& other : names) {
        const StackVersion known = stack_version(other);
        if (known.engine != asked.engine || known.version.empty()) {
            continue;
        }
        if (known.version <= asked.version && (!older || stack_version(*older).version < known.version)) {
            older = other;
        }
        if (!oldest || known.version < stack_version(*oldest).version) {
            oldest = other;
        }
    }
    return older ? older : oldest;
}

}  // namespace treeline::hardware
