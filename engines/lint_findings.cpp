#include "engines/lint_findings.h"

#include <algorithm>

#include <fmt/format.h>

#include "engines/deployment_file.h"
#include "engines/started_engine.h"
#include "engines/unknown_values.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/wording.h"

namespace treeline::engines {

using Json = nlohmann::ordered_json;

void Findings::note(const std::string& sentence) {
    if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) {
        notes_.push_back(sentence);
    }
}

void Findings::add(FindingKind kind, const std::string& key, const std::string& sentence) {
    // Of a value that is not known; whether the key itself has a place is.
    const bool of_value = kind == FindingKind::value || kind == FindingKind::unknown || kind == FindingKind::contradiction;
    if (const auto open = open_.find(key); of_value && open != open_.end()) {
        note(fmt::format("{} is not known here ({}), so it is not checked.", key, text::shortened(open->second, 40)));
        return;
    }
    findings_.push_back({kind, key, fmt::format("{} {}{}", key, sentence, sentence.ends_with('?') ? "" : ".")});
}

void Findings::add_unknown(const Engine& engine, const std::string& key) {
    const auto retired =
        std::find_if(engine.retired.begin(), engine.retired.end(), [&](const RetiredKey& r) { return r.key == key; });
    if (retired != engine.retired.end() && retired->works) {
        return note(fmt::format("{} {}.", key, retired->instead));
    }
    if (retired != engine.retired.end()) {
        add(FindingKind::removed, key, retired->instead);
        return;
    }
    if (add_if_between(engine, key, [&](const Engine& later) { return later.takes(key); })) {
        return;
    }
    std::string in_python = key;
    std::replace(in_python.begin(), in_python.end(), '-', '_');
    const std::string shown = json::shown_key(key), guess = engine.takes(in_python) ? fmt::format("; write \"{}\"", in_python)
                                                                                    : text::did_you_mean(key, engine.keys);
    findings_.push_back(
        {FindingKind::unknown, shown,
         fmt::format("{} is unknown to {}{}{}", shown, engine.label(), guess, guess.ends_with('?') ? "" : ".")});
}

bool Findings::add_if_between(const Engine& engine, const std::string& what, const std::function<bool(const Engine&)>& takes) {
    const Engine* later = next_known(engine);
    if (later == nullptr || !takes(*later)) {
        return false;
    }
    note(fmt::format("Whether {} {} takes {} is not known: {} does not, {} does.", engine.title, engine.asked, what,
                     engine.version, later->version));
    return true;
}

void Findings::add_nothing_drafts(const std::string& flag, const CommandLine& command) {
    const std::string open = open_word_of(command);
    const bool asks = std::any_of(command.words.begin(), command.words.end(), starts_speculation);
    if (open.empty() && asks) {
        add(FindingKind::missing, flag, "is missing, so nothing is drafted");
    } else if (open.empty()) {
        note(fmt::format("Nothing is drafted: {} is not given, nor another flag of speculation.", flag));
    } else {
        note(fmt::format("{} is not seen, and what {} holds is not known here.", flag, text::shortened(open, 40)));
    }
}

void leave_unknown_open(const Json& config, Findings& findings) {
    for (const auto& [key, value] : config.items()) {
        if (value.is_string() && is_unknown_value(value.get_ref<const std::string&>())) {
            findings.leave_open(key, value.get<std::string>());
        }
    }
}

const nlohmann::ordered_json* nested_config(const nlohmann::ordered_json& tree) {
    for (const char* key : {"speculative-config", "speculative_config"}) {
        if (tree.contains(key)) {
            return &tree[key];
        }
    }
    return nullptr;
}

std::optional<long long> whole(const Json& object, const std::string& key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_number_integer() ? std::optional(at->get<long long>()) : std::nullopt;
}

std::string text_at(const Json& object, const std::string& key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

void check_rates(const Json& rates, const std::string& key, long long drafts, Findings& findings) {
    if (!rates.is_array() || static_cast<long long>(rates.size()) != drafts) {
        findings.add(FindingKind::contradiction, key, fmt::format("must hold {} rates, one for each draft token", drafts));
        return;
    }
    double before = 1.0;
    for (const Json& rate : rates) {
        if (!rate.is_number() || rate.get<double>() < 0.0 || rate.get<double>() > 1.0) {
            findings.add(FindingKind::value, key,
                         fmt::format("holds {}, which is not a rate between 0 and 1", json::shown(rate)));
            return;
        }
        if (rate.get<double>() > before) {
            findings.add(FindingKind::value, key,
                         "must not increase: each is the probability that all drafts up to its position are accepted");
            return;
        }
        before = rate.get<double>();
    }
}

}  // namespace treeline::engines
