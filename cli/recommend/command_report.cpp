// treeline report: the recommendation as one HTML page.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/estimate/estimate.h"
#include "cli/recommend/report_accelerators.h"
#include "cli/recommend/report_studies.h"
#include "cli/recommend/workload_file.h"
#include "reports/html.h"
#include "reports/output_file.h"
#include "reports/report_data.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct ReportFlags {
    std::string output, catalogue;
    std::string format = "html";
};

/// Of each variant, what its drafter's acceptance rests on.
std::vector<AcceptanceNote> acceptance_notes(const WorkloadInput& input) {
    std::vector<AcceptanceNote> notes;
    for (const Variant& variant : input.workload.variants) {
        for (const DrafterChoice& drafter : input.drafters) {
            if (drafter.label == variant.labels.drafter) {
                notes.push_back({drafter.acceptance_text, drafter.acceptance_source});
            }
        }
    }
    return notes;
}

std::vector<std::string> notes_of(const WorkloadInput& input) {
    std::vector<std::string> notes;
    if (!input.source.empty()) {
        notes.push_back(input.source + ".");
    }
    for (const DrafterChoice& drafter : input.drafters) {
        const std::string source =
            drafter.acceptance_source.empty() ? "the workload names no source" : drafter.acceptance_source;
        notes.push_back(fmt::format("Acceptance of {}: {} ({}).", drafter.label, drafter.acceptance_text, source));
    }
    notes.insert(notes.end(), input.target.model.notes.begin(), input.target.model.notes.end());
    return notes;
}

/// Where nothing keeps the limits, the page still says why.
Json reasons_only(const Answer& answer) {
    Json data = {{"format", "treeline-report"}, {"version", 1}, {"title", answer.input.title}};
    data["summary"] = {{"sentence", sentence_of(answer)}};
    data["excluded"] = Json::array();
    for (const Exclusion& exclusion : answer.result.excluded) {
        data["excluded"].push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    data["inputs"] = provenance_json(answer.input.provenance);
    data["notes"] = notes_of(answer.input);
    return data;
}

Json data_of(const Answer& answer) {
    if (!answer.result.recommendation) {
        return reasons_only(answer);
    }
    std::vector<FigureSection> sections = accelerator_sections(answer);
    for (FigureSection& study : study_sections(answer)) {
        sections.push_back(std::move(study));
    }
    return report_data({answer.input.workload, *answer.result.recommendation, answer.input.provenance,
                        acceptance_notes(answer.input), std::move(sections), notes_of(answer.input), answer.engines});
}

void report(const ReportFlags& flags, const WorkloadOptions& options) {
    const Catalogue catalogue = find_catalogue(flags.catalogue);
    if (options.print_input) {
        return write_file(flags.output, workload_text(read_workload(options, catalogue).raw));
    }
    if (flags.format != "html" && flags.format != "json") {
        throw InputError({fmt::format("--format: must be html or json, not \"{}\"", flags.format)});
    }
    const AnsweredFile result = answer_file(options, catalogue);
    const Json data = data_of(result.answer);
    write_file(flags.output, flags.format == "json" ? data.dump(2) + "\n" : render_html(data));
    if (flags.output != "-") {
        write_file("-", sentence_of(result.answer) + "\nReport: " + flags.output + "\n");
    }
}

}  // namespace

Run add_report(CLI::App& app) {
    auto flags = std::make_shared<ReportFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option("--output", flags->output, "HTML file to write; - is standard output")->type_name("FILE")->required();
    app.add_option("--format", flags->format, "html, or json for the data behind the page")
        ->type_name("FORMAT")
        ->capture_default_str();
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer(
        "Examples:\n"
        "  treeline report examples/llama-3.1-8b-h100.json --output report.html\n"
        "  treeline report --target qwen3-8b --device l40s --drafter ngram --acceptance 0.4 --batch 1-16 --output report.html");
    return [flags, options] { report(*flags, *options); };
}

}  // namespace treeline
