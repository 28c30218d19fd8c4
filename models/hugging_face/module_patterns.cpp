#include "models/hugging_face/module_patterns.h"

#include <algorithm>
#include <array>
#include <optional>

namespace treeline::models::hugging_face {

namespace {

constexpr std::size_t longest_expression = 1'000;

std::vector<std::string> components_of(std::string_view name) {
    std::vector<std::string> components;
    std::size_t start = 0;
    while (start <= name.size()) {
        const std::size_t end = std::min(name.find('.', start), name.size());
        components.emplace_back(name.substr(start, end - start));
        start = end + 1;
    }
    return components;
}

std::string joined(const std::vector<std::string>& components, std::size_t first, std::size_t last) {
    std::string name;
    for (std::size_t i = first; i < last; ++i) {
        name += (i == first ? "" : ".") + components[i];
    }
    return name;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// A pattern without what comes before the decoder's own names; nothing for one that means another part of the checkpoint.
std::optional<std::string> within_decoder(std::string_view pattern) {
    std::vector<std::string> parts = components_of(pattern);
    std::size_t first = 0;
    while (first + 1 < parts.size() && is_one_of(parts[first], {"model", "language_model", "transformer", "backbone", "decoder",
                                                                "text_model", "llm", "thinker", "gpt_neox"})) {
        ++first;
    }
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
    const bool other_tower = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
        return part.starts_with("mtp") || part.starts_with("vision") || part.starts_with("visual") ||
               part.starts_with("audio") || part.ends_with("projector") || part.starts_with("embed_vision");
    });
    if (other_tower || parts.empty()) {
        return std::nullopt;
    }
    if (is_one_of(parts.front(), {"h", "blocks"})) {
        parts.front() = "layers";
    }
    return joined(parts, 0, parts.size());
}

/// "layers.3." of "layers.3.mlp*" and of "layers.3.mlp.gate"; "" where the layer is not a number.
std::string layer_of(std::string_view name) {
    constexpr std::string_view start = "layers.";
    if (!name.starts_with(start)) {
        return {};
    }
    const std::size_t end = name.find_first_not_of("0123456789", start.size());
    const bool whole_number = end != std::string_view::npos && end > start.size() && name[end] == '.';
    return whole_number ? std::string(name.substr(0, end + 1)) : std::string();
}

/// Whether a glob matches a name, or a module that the name lies in.
bool matches_glob(std::string_view glob, std::string_view name) {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (in < name.size()) {
        if (at < glob.size() && glob[at] == '*') {
            star = at++;
            resume = in;
        } else if (at < glob.size() && (glob[at] == '?' || glob[at] == name[in])) {
            ++at;
            ++in;
        } else if (at == glob.size() && name[in] == '.') {
            return true;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            in = ++resume;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', at) == std::string_view::npos;
}

bool matches_expression(const std::regex& pattern, const std::string& module) {
    // Expressions match from the start of a name, whose prefix depends on the class that was saved.
    constexpr std::array prefixes = {"model.", "", "model.language_model.", "language_model.model.", "backbone."};
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) {
        return std::regex_search(prefix + module, pattern, std::regex_constants::match_continuous);
    });
}

}  // namespace

bool ModulePatterns::add(const std::string& pattern, const StoredFormat& format) {
    if (pattern.starts_with("re:")) {
        if (pattern.size() > longest_expression) {
            return false;
        }
        try {
            expressions_.push_back({std::regex(pattern.substr(3)), format});
        } catch (const std::regex_error&) {
            return false;
        }
        return true;
    }
    const std::optional<std::string> name = within_decoder(pattern);
    if (name && name->find_first_of("*?") != std::string::npos) {
        globs_[layer_of(*name)].push_back({*name, format});
    } else if (name) {
        names_.emplace(*name, format);
    }
    return true;
}

const StoredFormat* ModulePatterns::find(const std::string& module) const {
    if (!names_.empty()) {
        const std::vector<std::string> parts = components_of(module);
        for (std::size_t length = parts.size(); length > 0; --length) {
            for (std::size_t first = 0; first + length <= parts.size(); ++first) {
                if (const auto found = names_.find(joined(parts, first, first + length)); found != names_.end()) {
                    return &found->second;
                }
            }
        }
    }
    for (const std::string& layer : {layer_of(module), std::string()}) {
        if (const auto globs = globs_.find(layer); globs != globs_.end()) {
            for (const Glob& glob : globs->second) {
                if (matches_glob(glob.pattern, module)) {
                    return &glob.format;
                }
            }
        }
    }
    for (const Expression& expression : expressions_) {
        if (matches_expression(expression.pattern, module)) {
            return &expression.format;
        }
    }
    return nullptr;
}

}  // namespace treeline::models::hugging_face
