// Checks a configuration for speculative decoding before somebody pastes it into an engine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "sim/enum_names.h"
#include "sim/model.h"

namespace treeline::engines {

enum class FindingKind {
    unknown,        ///< the engine has no such key or value
    removed,        ///< the engine had it once, or has it under another name
    ignored,        ///< silently accepted, without effect
    contradiction,  ///< keys that exclude each other or together break a rule
    value,          ///< a value out of its range
    missing,        ///< something that the other keys require
    downgrade       ///< starts, but rounds run another, slower way than one would expect
};
constexpr auto names_in(FindingKind) {
    using enum FindingKind;
    return enum_names<FindingKind>({{unknown, "unknown"},
                                    {removed, "removed"},
                                    {ignored, "ignored"},
                                    {contradiction, "contradiction"},
                                    {value, "value"},
                                    {missing, "missing"},
                                    {downgrade, "downgrade"}});
}

struct LintFinding {
    FindingKind kind;
    std::string key;   ///< as written in the configuration
    std::string text;  ///< a sentence that starts with the key
};

struct LintResult {
    Engine engine;     ///< of the first server
    std::string form;  ///< "a command line", "a YAML file", …
    std::vector<LintFinding> findings;
    std::vector<Engine> other_engines = {};  ///< of further servers of the text, each once
    std::vector<std::string> notes = {};     ///< sentences on what was not checked, or what only the reader can tell
};

/// The content of a file that the configuration names; nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string&)>;
/// The model that a configuration names by a repository; nothing of one that is not known.
using FindModel = std::function<std::optional<sim::Model>(const std::string&)>;

/// Reads vLLM's speculative config (JSON, YAML or a whole command line), SGLang's command line, adaptive config or cost file,
/// TensorRT-LLM's YAML, llama.cpp's command line, and what `pasted()` writes. Without `engine` the content decides which engine
/// it is for, at its newest version. What an engine refuses of a model is found where `find_model` knows it. Throws InputError
/// if the text is none of these or cannot be parsed.
LintResult lint(
    const std::string& text, const std::optional<Engine>& engine, const ReadFile& read_file,
    const FindModel& find_model = [](const std::string&) { return std::nullopt; });

}  // namespace treeline::engines
