#include "cli/lint/lint_formats.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;
using engines::FindingKind;
using engines::LintFinding;

constexpr std::pair<FindingKind, const char*> rules[] = {
    {FindingKind::unknown, "The engine has no such key or value."},
    {FindingKind::removed, "The engine had it once, or has it under another name."},
    {FindingKind::ignored, "Silently accepted, without effect."},
    {FindingKind::contradiction, "Keys that exclude each other or together break a rule."},
    {FindingKind::value, "A value out of its range."},
    {FindingKind::missing, "Something that the other keys require."},
    {FindingKind::downgrade, "Starts, but rounds run another, slower way than one would expect."}};

/// What starts without complaint is a warning, what does not an error.
const char* level_of(FindingKind kind) {
    return kind == FindingKind::ignored || kind == FindingKind::downgrade ? "warning" : "error";
}

/// The first line that holds the key; the first of all where none does.
std::ptrdiff_t line_of(const LintFinding& finding, const std::string& text) {
    const std::size_t at = finding.key.empty() ? std::string::npos : text.find(finding.key);
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(at == std::string::npos ? 0 : at);
    return 1 + std::count(text.begin(), end, '\n');
}

/// Percent-encodes what ends a workflow command or, in a property, the property.
/// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts, escapeData and escapeProperty
std::string escaped(const std::string& text, bool property) {
    std::string result;
    for (const char letter : text) {
        const bool special =
            letter == '%' || letter == '\r' || letter == '\n' || (property && (letter == ':' || letter == ','));
        result += special ? fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(letter)))
                          : std::string(1, letter);
    }
    return result;
}

/// A path as a relative reference of RFC 3986.
std::string uri_of(const std::string& file) {
    std::string result;
    for (const char letter : file) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                           std::string_view("/-._~").find(letter) != std::string_view::npos;
        result += plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned>(byte));
    }
    return result;
}

}  // namespace

std::string github_annotations(const engines::LintResult& result, const std::string& file, const std::string& text) {
    std::string annotations;
    for (const LintFinding& finding : result.findings) {
        const std::string place =
            file == "-" ? "" : fmt::format("file={},line={},", escaped(file, true), line_of(finding, text));
        annotations +=
            fmt::format("::{} {}title={}::{}\n", level_of(finding.kind), place,
                        escaped(fmt::format("treeline lint: {}", name_of(finding.kind)), true), escaped(finding.text, false));
    }
    for (const std::string& note : result.notes) {
        annotations +=
            fmt::format("::notice {}title=treeline lint%3A note::{}\n",
                        file == "-" ? "" : fmt::format("file={},line=1,", escaped(file, true)), escaped(note, false));
    }
    return annotations;
}

std::string sarif(const engines::LintResult& result, const std::string& file, const std::string& text) {
    Json described = Json::array(), results = Json::array();
    for (const auto& [kind, description] : rules) {
        described.push_back({{"id", name_of(kind)},
                             {"shortDescription", {{"text", description}}},
                             {"defaultConfiguration", {{"level", level_of(kind)}}}});
    }
    for (const LintFinding& finding : result.findings) {
        Json entry = {
            {"ruleId", name_of(finding.kind)}, {"level", level_of(finding.kind)}, {"message", {{"text", finding.text}}}};
        if (file != "-") {
            entry["locations"] = {
                {{"physicalLocation",
                  {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", {{"startLine", line_of(finding, text)}}}}}}};
        }
        results.push_back(std::move(entry));
    }
    const Json driver = {{"name", "treeline lint"}, {"version", TREELINE_VERSION}, {"rules", std::move(described)}};
    const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", {{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}}}};
    return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace treeline::cli
