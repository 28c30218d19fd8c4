// treeline validate: predicts published results, and says how wrong it is.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/reader.h"
#include "json/wording.h"
#include "reports/validate/serving_output.h"
#include "reports/validate/validation_output.h"
#include "requests/validate/experiment_reader.h"
#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "text/output_file.h"
#include "text/problems.h"

namespace treeline::cli {
namespace {

struct ValidateFlags {
    CommonFlags common;
    std::vector<std::string> experiments, papers, serving, speculation, modes;
    std::string configs;
    bool no_papers = false;
    bool rows = false;
    std::string html, errors;

    [[nodiscard]] bool reads_rows() const { return !serving.empty() || !speculation.empty(); }
};

/// What is asked for: published results, measured rows in each mode, or both.
struct ValidationResults {
    std::optional<validation::Validation> papers;
    std::vector<validation::ServingStudy> studies;
    std::vector<std::string> bad_rows;  ///< of files of measured rows, left out
};

sim::CostMode mode_named(const std::string& name) {
    const std::vector<std::string> names = {"roofline", "calibrated"};
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw text::InputError({fmt::format("--mode: must be {}, not \"{}\"{}", text::listed(names, "or"), name,
                                            text::did_you_mean(name, names))});
    }
    return *value_named<sim::CostMode>(name);
}

void check_flags(const ValidateFlags& flags) {
    const std::vector<std::string> formats = {"table", "json", "csv", "markdown", "html"};
    const std::string& format = flags.common.format;
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        throw text::InputError({fmt::format("--format: must be {}, not \"{}\"{}", text::listed(formats, "or"), format,
                                            text::did_you_mean(format, formats))});
    }
    if (flags.no_papers && !flags.papers.empty()) {
        throw text::InputError({"--paper: shows a published paper, which --no-papers leaves out; give one of them"});
    }
    if (flags.no_papers && !flags.reads_rows()) {
        throw text::InputError({"--no-papers: nothing is left to predict; give --serving or --speculation"});
    }
    if (format == "csv" && flags.reads_rows() && !flags.no_papers) {
        throw text::InputError(
            {"--format csv: rows of published results and measured rows have other columns; give --no-papers"});
    }
    if (!flags.reads_rows() && (!flags.modes.empty() || !flags.configs.empty() || !flags.errors.empty())) {
        throw text::InputError({"--mode, --configs and --errors apply to --serving and --speculation"});
    }
    for (const std::string& mode : flags.modes) {
        static_cast<void>(mode_named(mode));
    }
}

/// Rows that no device can have measured are bad input, whatever else is left out.
void name_impossible_rows(const validation::ServingStudy& study, std::vector<std::string>& bad_rows) {
    for (const validation::LeftOutPoint& left : study.serving.left_out) {
        if (left.reason == validation::impossible_time) {
            const validation::RowPlace& place = study.input.serving[left.row].place;
            text::add_problem(bad_rows,
                              fmt::format("{}: row {}: {}{}", place.file, place.number, left.reason, text::left_out_row));
        }
    }
}

std::vector<validation::ServingStudy> studies_of(const ValidateFlags& flags, std::vector<std::string>& bad_rows) {
    if (!flags.reads_rows()) {
        return {};
    }
    validation::ServingStudyInput input;
    input.parts = requests::read_serving_parts(flags.common.find(), flags.configs, input.notes);
    for (const std::string& file : flags.serving) {
        const std::vector<validation::ServingRun> rows =
            requests::read_serving_rows(file, input.notes, &bad_rows, &input.parts.names);
        input.serving.insert(input.serving.end(), rows.begin(), rows.end());
    }
    for (const std::string& file : flags.speculation) {
        const std::vector<validation::SpeculationRow> rows = requests::read_speculation_rows(file, input.notes, &bad_rows);
        input.speculation.insert(input.speculation.end(), rows.begin(), rows.end());
    }
    std::vector<validation::ServingStudy> studies;
    for (const std::string& mode : flags.modes.empty() ? std::vector<std::string>{"roofline"} : flags.modes) {
        input.mode = mode_named(mode);
        studies.push_back(validation::study_serving(input));
    }
    name_impossible_rows(studies.front(), bad_rows);
    return studies;
}

std::string json_of(const ValidationResults& results) {
    nlohmann::ordered_json json = {{"format", "treeline-validation"}, {"version", 1}};
    if (results.papers) {
        json = reports::validation_json(*results.papers);
    }
    for (const validation::ServingStudy& study : results.studies) {
        json["measured_rows"].push_back(reports::serving_json(study));
    }
    return json.dump(1) + "\n";
}

std::string page_of(const ValidationResults& results) {
    return results.papers ? reports::validation_page(*results.papers, results.studies) : reports::serving_page(results.studies);
}

std::string table_of(const ValidationResults& results, bool all_rows) {
    std::string text = results.papers ? reports::validation_table(*results.papers, all_rows) : "";
    for (const validation::ServingStudy& study : results.studies) {
        text += (text.empty() ? "" : "\n") + reports::serving_table(study, all_rows);
    }
    return text;
}

std::string text_of(const ValidationResults& results, const ValidateFlags& flags) {
    const std::string& format = flags.common.format;
    return format == "json" ? json_of(results)
           : format == "csv"
               ? (results.papers ? reports::validation_csv(*results.papers) : reports::serving_csv(results.studies))
           : format == "markdown" ? (results.papers ? reports::validation_markdown(*results.papers) : "") +
                                        reports::serving_markdown(results.studies)
           : format == "html" ? page_of(results)
                              : table_of(results, flags.rows);
}

void run_validation(const ValidateFlags& flags) {
    check_flags(flags);
    ValidationResults results;
    results.studies = studies_of(flags, results.bad_rows);
    if (!flags.no_papers) {
        const requests::Catalogue catalogue = flags.common.find();
        results.papers = requests::of_published(
            requests::validate_published({flags.experiments.begin(), flags.experiments.end()}, catalogue), flags.papers,
            catalogue);
    }
    if (!flags.html.empty()) {
        text::write_file(flags.html, page_of(results));
    }
    if (!flags.errors.empty()) {
        text::write_file(flags.errors, reports::measured_errors_json(results.studies));
    }
    flags.common.deliver(text_of(results, flags));
    std::vector<std::string> problems = results.bad_rows;
    if (results.papers) {
        problems.insert(problems.end(), results.papers->problems.begin(), results.papers->problems.end());
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

}  // namespace

bool can_validate() { return true; }

Run add_validate(CLI::App& app) {
    auto flags = std::make_shared<ValidateFlags>();
    app.add_option("--experiments", flags->experiments,
                   "Further experiments: files, or folders of them. Their rows are predicted with the numbers already fitted, "
                   "not fitted again")
        ->type_name("FILE|DIR");
    app.add_option("--paper", flags->papers,
                   "Show only this published paper, beside --experiments; repeatable: stree, spire, specmamba, ...")
        ->type_name("NAME");
    app.add_option(
           "--serving", flags->serving,
           "Measured runs without speculation: CSV with the columns id, backend, model, system, precision, isl, osl, "
           "batch_size, tp, tpot_ms and, where known, backend_version, moe_precision, pp, attention_dp, moe_tp, moe_ep, "
           "ttft_ms. Times per token are predicted and scored")
        ->type_name("FILE");
    app.add_option("--speculation", flags->speculation,
                   "Measured runs with and without speculation: a JSON list of rows with id, series, engine, target_model, "
                   "drafter_type, gpu, metric, is_pair, speedup and, where known, batch, draft, accept length, parallelism and "
                   "lengths. Speed-ups are predicted and scored")
        ->type_name("FILE");
    app.add_option("--mode", flags->modes, "Cost mode of measured rows: roofline (default) or calibrated; both if given twice")
        ->type_name("MODE");
    app.add_option("--configs", flags->configs,
                   "Folder of Hugging Face config files (org--name.json) of models that the catalogue lacks, for measured rows")
        ->type_name("DIR");
    app.add_flag("--no-papers", flags->no_papers, "Leave the published experiments out");
    app.add_flag("--rows", flags->rows, "Also print every row with its prediction");
    app.add_option("--html", flags->html, "Also write a page with the parity plot and the errors")->type_name(written_file);
    app.add_option("--errors", flags->errors,
                   "Also write what was missed, as the catalogue's hardware/errors/serving.json, which intervals of "
                   "recommendations come from")
        ->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n  treeline validate --rows\n  treeline validate --paper stree --paper spire --experiments my-drafter.json "
        "--rows\n  treeline validate --serving runs.csv --speculation pairs.json "
        "--no-papers\n\nExit code 2 if bad input caused rows to be left out; the rest is shown.");
    return [flags] { run_validation(*flags); };
}

}  // namespace treeline::cli
