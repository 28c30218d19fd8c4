// What lint says of a text, for the tests of its rules.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "engines/command_line.h"
#include "engines/lint.h"
#include "models/catalogue.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace treeline::testing {

/// The files that the text may name, and what they hold.
using NamedFiles = std::map<std::string, std::string>;

inline std::optional<sim::Model> no_model(const std::string& /*name*/) { return std::nullopt; }
/// Those of the catalogue, by their published names.
inline std::optional<sim::Model> known_models(const std::string& name) {
    return models::published_model(source_folder() / "models", name);
}

inline engines::LintResult checked(const std::string& text, const std::string& engine = "", const NamedFiles& files = {},
                                   const engines::FindModel& find_model = no_model) {
    return engines::lint(
        text, engine.empty() ? std::nullopt : std::optional(engines::find_engine(engine)),
        [&](const std::string& name) {
            const auto at = files.find(name);
            return at == files.end() ? std::nullopt : std::optional(at->second);
        },
        find_model);
}

/// Every finding, one a line, with its kind.
inline std::string findings(const std::string& text, const std::string& engine = "", const NamedFiles& files = {},
                            const engines::FindModel& find_model = no_model) {
    std::string all;
    for (const engines::LintFinding& finding : checked(text, engine, files, find_model).findings) {
        all += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
    }
    return all;
}

inline bool finds(const std::string& text, const std::string& what, const std::string& engine = "",
                  const NamedFiles& files = {}) {
    const std::string all = findings(text, engine, files);
    const bool found = all.find(what) != std::string::npos;
    if (!found) {
        UNSCOPED_INFO("findings: " << all);
    }
    return found;
}

/// Every note, one a line.
inline std::string notes(const std::string& text, const std::string& engine = "") {
    std::string all;
    for (const std::string& note : checked(text, engine).notes) {
        all += note + "\n";
    }
    return all;
}

/// The members of a vLLM configuration as one.
inline std::string for_vllm(const std::string& members) { return "{" + members + "}"; }

/// Why lint refuses the text; empty where it does not.
inline std::string problem(const std::string& text, const std::string& engine = "") {
    try {
        checked(text, engine);
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace treeline::testing
