#include "reports/lint/lint_output.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/wording.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string finding_count(const engines::LintResult& result) {
    const std::size_t count = result.findings.size();
    return count == 0 ? "no findings" : count == 1 ? "1 finding" : fmt::format("{} findings", count);
}

}  // namespace

std::string lint_table(const engines::LintResult& result) {
    std::vector<std::string> engines = {result.engine.label()};
    for (const engines::Engine& other : result.other_engines) {
        engines.push_back(other.label());
    }
    std::string text =
        fmt::format("Read as {} for {}: {}.\n", result.form, text::listed(engines, "and"), finding_count(result));
    for (const engines::LintFinding& finding : result.findings) {
        text += fmt::format("  {:<14} {}\n", name_of(finding.kind), finding.text);
    }
    for (const std::string& note : result.notes) {
        text += fmt::format("  {:<14} {}\n", "note", note);
    }
    return text;
}

std::string lint_json(const engines::LintResult& result) {
    Json json = {{"format", "treeline-lint"},
                 {"version", 1},
                 {"engine", result.engine.word},
                 {"engine_version", result.engine.asked.empty() ? result.engine.version : result.engine.asked},
                 {"rules_of", result.engine.version},
                 {"source", result.engine.source},
                 {"findings", Json::array()}};
    for (const engines::LintFinding& finding : result.findings) {
        json["findings"].push_back({{"kind", name_of(finding.kind)}, {"key", finding.key}, {"text", finding.text}});
    }
    for (const engines::Engine& other : result.other_engines) {
        json["other_engines"].push_back({{"engine", other.word},
                                         {"engine_version", other.asked.empty() ? other.version : other.asked},
                                         {"rules_of", other.version}});
    }
    if (!result.notes.empty()) {
        json["notes"] = result.notes;
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace treeline::reports
