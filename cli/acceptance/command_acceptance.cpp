// treeline study acceptance: accept lengths of verification methods over temperature, on synthetic models.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/acceptance/acceptance_output.h"
#include "requests/acceptance/acceptance_study_reader.h"
#include "requests/file_kind.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct AcceptanceFlags {
    CommonFlags common;
    requests::FlagTexts study;
    std::vector<std::string> shapes;
    std::string file, html;
};

requests::FlagJson study_in(const std::string& file) {
    json::Document document = json::Document::load(file);
    requests::FlagJson study = document.root().raw();
    document.throw_if_problems();
    requests::refuse_other_kinds(study, file, {requests::FileKind::acceptance_study});
    return study;
}

void acceptance(const AcceptanceFlags& flags) {
    const Format format = flags.common.chosen_format();
    const bool from_file = !flags.file.empty();
    const requests::FlagJson study =
        requests::with_flags(from_file ? study_in(flags.file) : requests::FlagJson::object(), flags.study, flags.shapes);
    json::Document document = json::Document::of(study, from_file ? flags.file : "flags");
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    try {
        const sweeps::AcceptanceStudyAnswer result =
            sweeps::answer(requests::read_acceptance_study(document, descriptions), document.name());
        if (!flags.html.empty()) {
            text::write_file(flags.html, reports::acceptance_html(result));
        }
        flags.common.deliver(format == Format::json  ? reports::acceptance_json(result)
                             : format == Format::csv ? reports::acceptance_csv(result)
                                                     : reports::acceptance_table(result));
    } catch (const text::InputError& error) {
        throw text::InputError(requests::in_terms_of_flags(error.problems(), requests::acceptance_study_flags()));
    }
}

}  // namespace

Run add_acceptance(CLI::App& app) {
    auto flags = std::make_shared<AcceptanceFlags>();
    app.add_option("FILE", flags->file, "Study (JSON); flags override its keys");
    for (const requests::KeyFlag& flag : requests::acceptance_study_flags()) {
        if (flag.path == "shapes") {
            app.add_option(flag.name, flags->shapes, flag.help)->type_name(flag.value)->allow_extra_args(false);
        } else {
            add_key_flags(app, {flag}, flags->study);
        }
    }
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline study acceptance --shape chain:5 --shape widths:4,2,2 --temperature 0,1\n"
        "  treeline study acceptance --measured 0:2.04,1:1.55 --shape chain:4 --shape stree-mil\n\n"
        "Synthetic models stand in for target and drafter, so acceptance can be computed exactly and simulated. The result is\n"
        "a model, not a measurement.");
    return [flags] { acceptance(*flags); };
}

}  // namespace treeline::cli
