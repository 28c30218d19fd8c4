// What lint finds, and what rules of several engines read of a configuration.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/command_line.h"
#include "engines/lint.h"

namespace treeline::engines {

/// Collects findings.
class Findings {
public:
    /// `sentence` follows the key: add(…, "model", "is not used") says "model is not used."
    void add(FindingKind kind, const std::string& key, const std::string& sentence);
    /// The finding for a key that the engine does not take: removed, or unknown, with the nearest known key. An old name that
    /// it still takes is a note.
    void add_unknown(const Engine& engine, const std::string& key);
    /// Where the version lies between two known ones of which only the later one takes `what`: notes that it is not known.
    /// False where it is.
    bool add_if_between(const Engine& engine, const std::string& what, const std::function<bool(const Engine&)>& takes);
    /// The flag that switches drafting on is missing: a finding beside other flags of speculation, and a note of a server
    /// without any, or where a word of the command stands for others that are not given ("$EXTRA_ARGS").
    void add_nothing_drafts(const std::string& flag, const CommandLine& command);
    /// A sentence that says no more than what was not checked, or what only the reader can tell.
    void note(const std::string& sentence);
    /// A key or flag whose value the text leaves open ("$N"): what would be found of it is a note.
    void leave_open(const std::string& key, const std::string& value) { open_[key] = value; }
    std::vector<LintFinding> take() { return std::move(findings_); }
    std::vector<std::string> take_notes() { return std::move(notes_); }

private:
    std::vector<LintFinding> findings_;
    std::vector<std::string> notes_;
    std::map<std::string, std::string> open_;
};

/// Rates of simulated acceptance: one for each of `drafts` draft tokens, P(all up to its position are accepted).
void check_rates(const nlohmann::ordered_json& rates, const std::string& key, long long drafts, Findings& findings);

/// Leaves the keys of a configuration open whose values the text leaves open.
void leave_unknown_open(const nlohmann::ordered_json& config, Findings& findings);

/// What stands under speculative_config (or with a dash), where vLLM and TensorRT-LLM both nest theirs; null without it.
const nlohmann::ordered_json* nested_config(const nlohmann::ordered_json& tree);

/// The whole number under `key`; nothing if it is absent or something else.
std::optional<long long> whole(const nlohmann::ordered_json& object, const std::string& key);
/// A text under `key`, or "".
std::string text_at(const nlohmann::ordered_json& object, const std::string& key);

}  // namespace treeline::engines
