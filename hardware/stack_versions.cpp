#include "hardware/stack_versions.h"

#include <algorithm>

namespace treeline::hardware {
StackVersion stack_version(std::string_view name) {
    const std::size_t dash = name.rfind('-');
    if (name.ends_with(".json") || dash == std::string_view::npos || dash == 0) {
        return {std::string(name), {}};
    }
    text::Version version = text::version_in(name.substr(dash + 1));
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
    std::vector<text::Version> versions;
    for (const std::string& other : names) {
        const StackVersion known = stack_version(other);
        versions.push_back(known.engine == asked.engine ? known.version : text::Version());
    }
    const std::optional<std::size_t> nearest = text::nearest_version(versions, asked.version);
    return nearest ? std::optional(names[*nearest]) : std::nullopt;
}

}  // namespace treeline::hardware
