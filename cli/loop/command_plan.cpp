// treeline plan: the runs that would make a recommendation surer.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/recommend/workload_options.h"
#include "engines/engine_flags.h"
#include "engines/priced_engine.h"
#include "reports/run/plan_output.h"

namespace treeline::cli {
namespace {

void plan_for(const CommonFlags& common, const WorkloadOptions& options, const std::string& most) {
    const Format format = common.chosen_format();
    const int runs = static_cast<int>(requests::whole_number("--runs", most, 1, 20));
    AnsweredFile found = answer_file(options, common.find());
    std::optional<sweeps::Recommendation>& recommendation = found.answer.result.recommendation;
    if (recommendation && !recommendation->speculate) {
        // A run may still show that drafting pays.
        if (std::optional<sweeps::Recommendation> drafting = sweeps::best_drafting(found.answer.input.workload)) {
            recommendation = std::move(drafting);
        }
    }
    const std::string problem = sweeps::why_not_planned(found.answer);
    if (!problem.empty()) {
        throw text::InputError({"plan: " + problem});
    }
    const std::optional<engines::Engine> engine =
        engines::priced_engine(sweeps::recommended_variant(found.answer).setup.platform);
    if (!engine) {
        throw text::InputError({"plan: " + engines::why_no_flags(*found.answer.result.recommendation)});
    }
    sweeps::MeasurementPlan plan =
        sweeps::plan_measurements(*found.answer.result.recommendation, found.answer.input.workload, runs);
    const reports::PlanAnswer result{std::move(found.answer), std::move(plan), *engine};
    common.deliver(format == Format::json  ? reports::plan_json(result).dump(2) + "\n"
                   : format == Format::csv ? reports::plan_csv(result)
                                           : reports::plan_table(result));
}

}  // namespace

Run add_plan(CLI::App& app) {
    auto common = std::make_shared<CommonFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    auto most = std::make_shared<std::string>("3");
    add_workload_options(app, options);
    app.add_option("--runs", *most, "At most so many runs")->type_name("N")->capture_default_str();
    add_common_flags(app, *common);
    app.footer(
        "Examples:\n"
        "  treeline plan examples/llama-3.1-8b-h100.json --engine vllm\n"
        "  treeline plan examples/starter.json --runs 2 --engine sglang");
    return [common, options, most] { plan_for(*common, *options, *most); };
}

}  // namespace treeline::cli
