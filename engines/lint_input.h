// The input of lint: the text, parsed, and the engine it belongs to.
#pragma once

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/command_line.h"
#include "engines/lint.h"

namespace treeline::engines {

enum class LintForm { command, tree };

struct LintInput {
    LintForm form = LintForm::tree;
    std::string form_text;              ///< "a command line", "JSON", "YAML"
    CommandLine command;                ///< of a command line
    nlohmann::ordered_json tree;        ///< of JSON or YAML: an object
    std::vector<std::string> repeated;  ///< keys that occur twice in it
    std::optional<std::string> file;    ///< the text below a line "# name.json"
    /// Files that the script writes before it starts the engine ("cat <<EOF > name ... EOF").
    std::map<std::string, std::string> written;
    std::optional<EngineName> engine;  ///< by its content; nothing if that does not tell
    std::string version;               ///< of an image that is named; empty where none is, or its rules are not known
    std::string server;                ///< which of several this one is: "decode", "the second command"; empty for one alone
    std::vector<LintInput> others;     ///< further servers that the text starts with drafts
};

/// Throws InputError if the text is neither a command line nor an object in JSON or YAML.
LintInput read_lint_input(const std::string& text);

/// Parses JSON as engines do; throws an InputError that says where it stops being JSON. `name` is what messages call the text.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& name, std::vector<std::string>& repeated);
nlohmann::ordered_json parse_yaml(const std::string& text, std::vector<std::string>& repeated);

/// The flags that options of a file stand for, as words: "--key value", "--key" of a true one, nothing of a false one.
std::vector<std::string> flags_of_options(const nlohmann::ordered_json& options);

/// Collects findings.
class Findings {
public:
    /// `sentence` follows the key: add(…, "model", "is not used") says "model is not used."
    void add(FindingKind kind, const std::string& key, const std::string& sentence);
    /// The finding for a key that the engine does not take: removed, or unknown, with the nearest known key.
    void add_unknown(const Engine& engine, const std::string& key);
    /// The flag that switches drafting on is missing: a finding, or a note where a word of the command stands for others that
    /// are not given ("$EXTRA_ARGS").
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

void lint_vllm(const LintInput& input, const Engine& engine, Findings& findings);
void lint_sglang(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings);
void lint_tensorrt_llm(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings);
void lint_llama_cpp(const LintInput& input, const Engine& engine, Findings& findings);

inline std::string in_capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

inline bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Leaves the keys of a configuration open whose values the text leaves open.
void leave_unknown_open(const nlohmann::ordered_json& config, Findings& findings);

/// The whole number under `key`; nothing if it is absent or something else.
std::optional<long long> whole(const nlohmann::ordered_json& object, const std::string& key);
/// A text under `key`, or "".
std::string text_at(const nlohmann::ordered_json& object, const std::string& key);

}  // namespace treeline::engines
