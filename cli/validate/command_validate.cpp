// treeline validate: predicts published results, and says how wrong it is.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/reader.h"
#include "json/wording.h"
#include "reports/validate/validation_output.h"
#include "requests/validate/experiment_reader.h"
#include "text/output_file.h"

namespace treeline {
namespace {

struct ValidateFlags {
    CommonFlags common;
    std::vector<std::string> experiments;
    bool rows = false;
    std::string html;
};

void check_format(const std::string& format) {
    const std::vector<std::string> formats = {"table", "json", "csv", "markdown", "html"};
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        throw InputError(
            {fmt::format("--format: must be {}, not \"{}\"{}", listed(formats, "or"), format, did_you_mean(format, formats))});
    }
}

std::string text_of(const Validation& validation, const ValidateFlags& flags) {
    return flags.common.format == "json"       ? validation_json(validation).dump(1) + "\n"
           : flags.common.format == "csv"      ? validation_csv(validation)
           : flags.common.format == "markdown" ? validation_markdown(validation)
           : flags.common.format == "html"     ? validation_page(validation)
                                               : validation_table(validation, flags.rows);
}

void run_validation(const ValidateFlags& flags) {
    check_format(flags.common.format);
    const Validation validation = validate_published({flags.experiments.begin(), flags.experiments.end()}, flags.common.find());
    flags.common.deliver(text_of(validation, flags));
    if (!flags.html.empty()) {
        write_file(flags.html, validation_page(validation));
    }
    if (!validation.problems.empty()) {
        throw InputError(validation.problems);
    }
}

}  // namespace

Run add_validate(CLI::App& app) {
    auto flags = std::make_shared<ValidateFlags>();
    app.add_option("--experiments", flags->experiments,
                   "Further experiments: files, or folders of them. Their rows are predicted with the numbers already fitted, "
                   "not fitted again")
        ->type_name("FILE|DIR");
    app.add_flag("--rows", flags->rows, "Also print every row with its prediction");
    app.add_option("--html", flags->html, "Also write a page with the parity plot and the errors")->type_name("FILE");
    add_common_flags(app, flags->common);
    app.footer(
        "Example:\n  treeline validate --rows\n\nExit code 2 if bad input caused rows to be left out; the rest is shown.");
    return [flags] { run_validation(*flags); };
}

}  // namespace treeline
