#include "engines/engine.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engines/definition.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/version.h"

namespace treeline::engines {
namespace {

/// "0.19", "v0.19.1", "b9987" as numbers; empty for what is not a version.
text::Version numbers_of(std::string_view version) {
    return text::version_in(version.starts_with('v') || version.starts_with('b') ? version.substr(1) : version);
}

/// Compares as many numbers as both have: 0.19.1 is a 0.19.
bool is_before(const text::Version& a, const text::Version& b) {
    const auto common = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    return std::lexicographical_compare(a.begin(), a.begin() + common, b.begin(), b.begin() + common);
}

/// The word of an engine for what people write.
std::string engine_word(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Definition& definition : all_definitions()) {
        const std::vector<std::string_view>& others = definition.dialect.other_words;
        if (std::find(others.begin(), others.end(), word) != others.end()) {
            return definition.versions.front().word;
        }
    }
    return word;
}

std::vector<Engine> versions_of(const std::string& word) {
    std::vector<Engine> versions;
    for (const Engine& engine : all_engines()) {
        if (engine.word == word) {
            versions.push_back(engine);
        }
    }
    return versions;
}

[[noreturn]] void refuse_engine(const std::string& word) {
    std::vector<std::string> words;
    for (const Engine& engine : newest_engines()) {
        words.push_back(engine.word);
    }
    throw text::InputError({fmt::format(
        "--engine: there is no engine \"{}\"{}", json::shown_key(word),
        text::nearest(word, words) ? text::did_you_mean(word, words) : "; the engines are " + text::listed(words, "and"))});
}

[[noreturn]] void refuse_version(const std::vector<Engine>& versions, const std::string& version, const std::string& why) {
    std::vector<std::string> known;
    for (const Engine& engine : versions) {
        known.push_back(engine.version);
    }
    throw text::InputError({fmt::format("--engine: {} \"{}\" {}; known are {}", versions.front().title,
                                        json::shown_key(version), why, text::listed(known, "and"))});
}

}  // namespace

std::string Engine::label() const {
    return asked.empty() ? title + " " + version : fmt::format("{} {} (as {})", title, asked, version);
}

const EngineDrafter* Engine::drafter(DrafterKind kind) const {
    const auto found = std::find_if(drafters.begin(), drafters.end(), [&](const EngineDrafter& d) { return d.kind == kind; });
    return found == drafters.end() ? nullptr : &*found;
}

bool Engine::takes(const std::string& key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

bool Engine::knows(const std::string& method) const {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
}

std::string Engine::cache_word(sim::NumberFormat format) const {
    const auto found =
        std::find_if(caches.begin(), caches.end(), [&](const CacheFormat& cache) { return cache.format == format; });
    return found == caches.end() ? "" : found->word;
}

text::Version Engine::numbers() const { return numbers_of(asked.empty() ? version : asked); }

namespace {

/// The names of a flag, of which it is one; null for a flag that is in no list.
const std::vector<DatedFlag>* names_of(const std::vector<std::vector<DatedFlag>>& lists, const std::string& flag) {
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const std::vector<DatedFlag>& names) {
        return std::any_of(names.begin(), names.end(), [&](const DatedFlag& dated) { return dated.name == flag; });
    });
    return found == lists.end() ? nullptr : &*found;
}

}  // namespace

std::string Engine::flag_at(const std::string& flag) const {
    const std::vector<DatedFlag>* names = names_of(dated_flags, flag);
    if (names == nullptr) {
        return flag;
    }
    std::string called;
    for (const DatedFlag& dated : *names) {
        called = is_before(numbers(), numbers_of(dated.since)) ? called : dated.name;
    }
    return called;
}

std::string Engine::flag_since(const std::string& flag) const {
    const std::vector<DatedFlag>* names = names_of(dated_flags, flag);
    if (names == nullptr) {
        return "";
    }
    return std::find_if(names->begin(), names->end(), [&](const DatedFlag& dated) { return dated.name == flag; })->since;
}

std::optional<Release> Engine::followed_by() const {
    const text::Version own = numbers();
    const auto found = std::find_if(releases.begin(), releases.end(),
                                    [&](const Release& release) { return is_before(own, numbers_of(release.version)); });
    return found == releases.end() ? std::nullopt : std::optional(*found);
}

const std::vector<Engine>& all_engines() {
    static const std::vector<Engine> all = [] {
        std::vector<Engine> engines;
        for (const Definition& definition : all_definitions()) {
            engines.insert(engines.end(), definition.versions.begin(), definition.versions.end());
        }
        return engines;
    }();
    return all;
}

std::vector<Engine> newest_engines() {
    std::vector<Engine> newest;
    for (const Engine& engine : all_engines()) {
        if (!newest.empty() && newest.back().name == engine.name) {
            newest.back() = engine;
        } else {
            newest.push_back(engine);
        }
    }
    return newest;
}

Engine find_engine(const std::string& text) {
    const std::size_t at = text.find('@');
    const std::vector<Engine> versions = versions_of(engine_word(text.substr(0, at)));
    if (versions.empty()) {
        refuse_engine(text.substr(0, at));
    }
    if (at == std::string::npos) {
        return versions.back();
    }
    const std::string version = text.substr(at + 1);
    const text::Version asked = numbers_of(version);
    if (asked.empty()) {
        refuse_version(versions, version, "is not a version");
    }
    if (is_before(asked, numbers_of(versions.front().version))) {
        if (!dialect_of(versions.front()).takes_older) {
            refuse_version(versions, version, "is older than all known versions");
        }
        Engine oldest = versions.front();
        oldest.asked = version;
        return oldest;
    }
    if (is_before(numbers_of(versions.back().version), asked)) {
        refuse_version(versions, version, "is newer than all known versions");
    }
    // 0.11 is the version of that name, and none of the later ones that begin so.
    const auto same =
        std::find_if(versions.begin(), versions.end(), [&](const Engine& e) { return numbers_of(e.version) == asked; });
    if (same != versions.end()) {
        Engine engine = *same;
        engine.asked = version == engine.version ? "" : version;
        return engine;
    }
    const auto later = std::find_if(versions.begin(), versions.end(),
                                    [&](const Engine& e) { return is_before(asked, numbers_of(e.version)); });
    Engine engine = *std::prev(later);
    if (version != engine.version) {
        engine.asked = version;
    }
    return engine;
}

const Engine* next_known(const Engine& engine) {
    const text::Version asked = engine.numbers();
    if (engine.asked.empty() || !is_before(numbers_of(engine.version), asked)) {
        return nullptr;
    }
    const std::vector<Engine>& all = all_engines();
    const auto next = std::find_if(all.begin(), all.end(), [&](const Engine& other) {
        return other.name == engine.name && is_before(asked, numbers_of(other.version));
    });
    return next == all.end() ? nullptr : &*next;
}

bool older_than_known(const std::string& text) {
    const std::size_t at = text.find('@');
    const std::vector<Engine> versions = versions_of(engine_word(text.substr(0, at)));
    const text::Version asked = at == std::string::npos ? text::Version() : numbers_of(text.substr(at + 1));
    return !versions.empty() && !asked.empty() && is_before(asked, numbers_of(versions.front().version));
}

}  // namespace treeline::engines
