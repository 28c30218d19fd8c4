// treeline acceptance: accept lengths of verification methods over temperature, on synthetic models.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/acceptance/acceptance_output.h"
#include "requests/acceptance/acceptance_study_reader.h"
#include "text/output_file.h"

namespace treeline {
namespace {

struct AcceptanceFlags {
    CommonFlags common;
    AcceptanceStudyFlags study;
    std::string file, html;
};

nlohmann::ordered_json study_in(const std::string& file) {
    json::Document document = json::Document::load(file);
    nlohmann::ordered_json study = document.root().raw();
    document.throw_if_problems();
    return study;
}

void acceptance(const AcceptanceFlags& flags) {
    const Format format = flags.common.chosen_format();
    const bool from_file = !flags.file.empty();
    const nlohmann::ordered_json study =
        with_flags(from_file ? study_in(flags.file) : nlohmann::ordered_json::object(), flags.study);
    json::Document document = json::Document::of(study, from_file ? flags.file : "flags");
    Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    try {
        const AcceptanceStudyAnswer result = answer(read_acceptance_study(document, descriptions), document.name());
        if (!flags.html.empty()) {
            write_file(flags.html, acceptance_html(result));
        }
        flags.common.deliver(format == Format::json  ? acceptance_json(result)
                             : format == Format::csv ? acceptance_csv(result)
                                                     : acceptance_table(result));
    } catch (const InputError& error) {
        throw InputError(in_terms_of_study_flags(error.problems()));
    }
}

}  // namespace

Run add_acceptance(CLI::App& app) {
    auto flags = std::make_shared<AcceptanceFlags>();
    AcceptanceStudyFlags& study = flags->study;
    app.add_option("FILE", flags->file, "Study (JSON); flags override its keys");
    app.add_option("--shape", study.shapes, "Tree as in `treeline tree`, repeatable (default: chain:4 and stree-mil)")
        ->type_name("TREE")
        ->allow_extra_args(false);
    app.add_option("--temperature", study.temperatures, "Sampling temperatures (default: 0,0.3,0.7,1)")->type_name("T1,T2,...");
    app.add_option("--drafter-temperature", study.drafter_temperature, "Drafter temperature, if different (0: its best tokens)")
        ->type_name("T");
    app.add_option("--measured", study.measured,
                   "Measured accept lengths by temperature that the models should reproduce: one fits the mismatch, two the "
                   "caution as well")
        ->type_name("T:LENGTH,...");
    app.add_option("--measured-shape", study.measured_shape, "Shape they were measured with (default: the first shape)")
        ->type_name("TREE");
    app.add_option("--measured-method", study.measured_method,
                   "How their drafts were verified (default: token-wise for chains, multi-step for trees)")
        ->type_name("METHOD");
    app.add_option("--vocabulary", study.vocabulary, "Tokens of the synthetic models (default 32)")->type_name("N");
    app.add_option("--sharpness", study.sharpness, "Spread of the target's logits (default 6)")->type_name("X");
    app.add_option("--mismatch", study.mismatch, "Spread of the drafter's error in the logits (default 2.5)")->type_name("X");
    app.add_option("--caution", study.caution,
                   "How cautious the drafter is: 0 overconfident, 1 calibrated, above 1 underconfident (default 6)")
        ->type_name("X");
    app.add_option("--worlds", study.worlds, "Pairs of models to average over (default 16)")->type_name("N");
    app.add_option("--seed", study.seed, "Seed of the first pair (default 1)")->type_name("N");
    app.add_option("--rounds", study.rounds, "Rounds decoded for each figure (default 16000)")->type_name("N");
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name("FILE");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline acceptance --shape chain:5 --shape widths:4,2,2 --temperature 0,1\n"
        "  treeline acceptance --measured 0:2.04,1:1.55 --shape chain:4 --shape stree-mil\n\n"
        "Synthetic models stand in for target and drafter, so acceptance can be computed exactly and simulated. The result is\n"
        "a model, not a measurement.");
    return [flags] { acceptance(*flags); };
}

}  // namespace treeline
