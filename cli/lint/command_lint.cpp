// treeline lint: does a configuration for speculative decoding do what its author expects?
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/lint/lint_formats.h"
#include "engines/lint.h"
#include "json/reader.h"
#include "json/wording.h"
#include "models/catalogue.h"
#include "reports/lint/lint_output.h"
#include "text/input_file.h"
#include "text/table.h"

namespace treeline::cli {
namespace {

constexpr std::size_t most_bytes = 1u << 20;

struct LintFlags {
    std::string file, engine;
    std::string format = "table";
};

/// Of a file that the configuration names.
std::optional<std::string> content_of_file(const std::filesystem::path& path) {
    if (!std::filesystem::is_regular_file(path)) {
        return std::nullopt;
    }
    try {
        return text::read_file(path, most_bytes);
    } catch (const text::InputError&) {
        return std::nullopt;
    }
}

void lint_for(const LintFlags& flags) {
    const std::vector<std::string> formats = {"table", "json", "github", "sarif"};
    if (std::find(formats.begin(), formats.end(), flags.format) == formats.end()) {
        throw text::InputError({fmt::format("--format: must be {}, not \"{}\"{}", text::listed(formats, "or"), flags.format,
                                            text::did_you_mean(flags.format, formats))});
    }
    const std::optional<engines::Engine> engine =
        flags.engine.empty() ? std::nullopt : std::optional(engines::find_engine(flags.engine));
    const std::filesystem::path folder =
        flags.file == text::standard_input_word ? "" : std::filesystem::path(flags.file).parent_path();
    const std::string given = text::read_file(flags.file, most_bytes);
    const requests::Catalogue catalogue = requests::find_catalogue("");
    const engines::LintResult result = engines::lint(
        given, engine, [&](const std::string& name) { return content_of_file(folder / name); },
        [&](const std::string& name) { return models::published_model(catalogue.models, name); });
    write_answer("-",
                 flags.format == "json"     ? reports::lint_json(result)
                 : flags.format == "github" ? github_annotations(result, flags.file, given)
                 : flags.format == "sarif"  ? sarif(result, flags.file, given)
                                            : reports::lint_table(result),
                 flags.format == "table" || flags.format == "github");
    if (!result.findings.empty()) {
        throw Finished{1};
    }
}

}  // namespace

Run add_lint(CLI::App& app) {
    auto flags = std::make_shared<LintFlags>();
    app.add_option("FILE", flags->file,
                   "Configuration to check: a command line, vLLM's speculative config, SGLang's adaptive config or cost table, "
                   "TensorRT-LLM's YAML; - is standard input")
        ->required();
    app.add_option("--engine", flags->engine, "Engine and version, as in vllm@0.19 (default: by content, newest version)")
        ->type_name("NAME[@VERSION]");
    app.add_option("--format", flags->format, "table, json, github (annotations of a workflow) or sarif")
        ->type_name("FORMAT")
        ->capture_default_str();
    app.footer(
        "Exit code: 0 clean, or notes alone; 1 findings; 2 unreadable.\n\n"
        "Example:\n"
        "  echo '--spec-type ngram-simple --spec-draft-n-max 8' | treeline lint -\n"
        "  treeline lint serve.yaml --format github");
    return [flags] { lint_for(*flags); };
}

}  // namespace treeline::cli
