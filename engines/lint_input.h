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
#include "engines/lint_findings.h"

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
    std::string older;                 ///< an image's version that is older than all whose rules are known
    std::string device;                ///< the GPU, as the text calls it ("b200"); empty where it names none
    std::string idle;                  ///< why nothing drafts, as a sentence: a server without a flag of speculation, a client
    std::string server;                ///< which of several this one is: "decode", "server 2"; empty for one alone
    std::vector<LintInput> others;     ///< further servers that the text starts with drafts
    bool prefills = false;             ///< it reads prompts for servers that decode, and runs no rounds
    bool of_keys = false;              ///< flags of the command were keys of a file, without dashes
    FindModel find_model = {};         ///< what lint() was given
};

/// Throws InputError if the text is neither a command line nor an object in JSON or YAML.
LintInput read_lint_input(const std::string& text);

/// The model that a command serves, by its name; nothing where it names none, or none that is known.
std::optional<sim::Model> served_model(const LintInput& input);

/// Parses JSON as engines do; throws an InputError that says where it stops being JSON. `name` is what messages call the text.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& name, std::vector<std::string>& repeated);
nlohmann::ordered_json parse_yaml(const std::string& text, std::vector<std::string>& repeated);

/// The flags that options of a file stand for, as words: "--key value", "--key" of a true one, nothing of a false one.
std::vector<std::string> flags_of_options(const nlohmann::ordered_json& options);

inline std::string in_capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

inline bool starts_with_any(std::string_view word, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return word.starts_with(prefix); });
}

inline bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace treeline::engines
