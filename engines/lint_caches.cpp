#include "engines/lint_caches.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/wording.h"

namespace treeline::engines {

void check_cache_word(const std::string& option, const std::string& value, const Engine& engine, Findings& findings) {
    const std::vector<std::string>& words = engine.cache_words;
    if (!value.empty() && !words.empty() && std::find(words.begin(), words.end(), value) == words.end()) {
        findings.add(FindingKind::unknown, option,
                     fmt::format("is {}, a format that {} does not know{}", json::shown_key(value), engine.label(),
                                 text::did_you_mean(value, words)));
    }
}

}  // namespace treeline::engines
