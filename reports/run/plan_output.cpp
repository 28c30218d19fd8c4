#include "reports/run/plan_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engines/measurement_commands.h"
#include "json/wording.h"
#include "reports/json_rows.h"
#include "sweeps/tree_study.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

engines::RunCommands commands_of(const PlanAnswer& answer, const sweeps::CandidateRun& run) {
    return engines::commands_for(run, answer.engine, *answer.answer.result.recommendation);
}

std::string title_of(const PlanAnswer& answer, const sweeps::CandidateRun& run) {
    if (run.tree) {
        const std::string tree = "tree " + sweeps::text_of(*run.tree);
        return run.of_acceptance ? fmt::format("real requests, {}: acceptance", tree)
                                 : fmt::format("{} at batch {:g}", tree, run.batch);
    }
    return run.of_acceptance       ? fmt::format("real requests, {} draft tokens: acceptance", run.draft_tokens)
           : run.draft_tokens == 0 ? fmt::format("plain decoding at batch {:g}", run.batch)
                                   : fmt::format("{} draft tokens at batch {:g}{}", run.draft_tokens, run.batch,
                                                 commands_of(answer, run).simulated ? ", simulated acceptance" : "");
}

/// Whether a choice after the runs is expected to beat the choice now by more than a benchmark can show.
bool is_worth_making(const sweeps::MeasurementPlan& plan) {
    constexpr double nothing = 0.005;
    return !plan.runs.empty() && plan.runs.back().value >= nothing;
}

/// "3 draft tokens", or the tree.
std::string drafts_text(const PlanAnswer& answer) {
    const sweeps::Candidate& best = answer.answer.result.recommendation->candidates.front();
    const sim::Speculation& shape =
        sweeps::recommended_variant(answer.answer).setup.speculations[static_cast<std::size_t>(best.speculation)];
    return sim::is_chain(shape)
               ? fmt::format("{} draft tokens", best.draft_tokens)
               : fmt::format("{} draft tokens in the tree {}", best.draft_tokens, sweeps::text_of(shape.shape));
}

std::string range_text(double low, double high, const char* between = "to") {
    return fmt::format("{} {} {}", text::ratio_text(low), between, text::ratio_text(high));
}

/// A name as the catalogues have them; dots for what a file of the user's calls itself, whose path is not known.
std::string name_or_dots(const std::string& name) {
    const bool of_catalogue =
        !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
    return of_catalogue ? name : "...";
}

/// The command that fits the stack to the runs of this deployment.
std::string calibration_of(const sweeps::Variant& variant) {
    const sim::Platform& platform = variant.setup.platform;
    const sweeps::VariantLabels& labels = variant.labels;
    std::string text = fmt::format("treeline calibrate --runs my-run.json --model {} --device {} ",
                                   name_or_dots(variant.setup.target.name), name_or_dots(platform.device.name));
    text += labels.precision == sweeps::as_published ? "" : fmt::format("--precision {} ", name_or_dots(labels.precision));
    text += labels.tensor_parallel > 1 ? fmt::format("--tensor-parallel {} ", labels.tensor_parallel) : "";
    return text + fmt::format("--stack {} --drafter {} --output my-stack.json", name_or_dots(platform.stack.name),
                              name_or_dots(labels.drafter.substr(0, labels.drafter.find(" ("))));
}

/// What to do with the results of the runs.
std::string after_the_runs(const sweeps::Variant& variant) {
    const std::string import = "\nThen:  treeline import *-drafts-*.json* --output my-run.json\n";
    return variant.setup.platform.parallel == sim::Parallelism{}
               ? import + "       " + calibration_of(variant) + "\nand recommend again with \"stack\": \"my-stack.json\".\n"
               : import +
                     "(treeline calibrate fits deployments that tensor parallelism alone cuts, and this one is cut "
                     "otherwise.)\n";
}

}  // namespace

std::string plan_table(const PlanAnswer& answer) {
    const sweeps::MeasurementPlan& plan = answer.plan;
    const bool speculates = answer.answer.result.recommendation->speculate;
    std::string text =
        text::wrapped(
            fmt::format("{} {}, for a gain of {} that lies between {} (80 %). Knowing every input exactly would raise "
                        "the expected gain by {}.",
                        drafts_text(answer),
                        speculates ? "are recommended" : "are the best that drafts (plain decoding is recommended)",
                        text::ratio_text(plan.gain), range_text(plan.low, plan.high, "and"), text::percent_text(plan.perfect)),
            110) +
        "\n\n";
    if (plan.runs.empty()) {
        return text + "No run of the engine would narrow that by more than 1 %.\n";
    }
    text::TextTable table({{"Run", text::Align::left}, {"interval then"}, {"worth"}, {"settles", text::Align::left}});
    for (const sweeps::PlannedRun& run : plan.runs) {
        table.add({title_of(answer, run.run), range_text(run.low, run.high), text::percent_text(run.value),
                   text::listed(run.settles, "and")});
    }
    if (!is_worth_making(plan)) {
        return text +
               text::wrapped(
                   "No run is worth making for the choice: whatever it measured, the same configuration would most likely be "
                   "chosen. "
                   "These would only narrow the interval of the gain (--format json has their commands).",
                   110) +
               "\n\n" + table.text();
    }
    text += table.text() +
            "\nThe interval is what is expected after the run and those above it; worth is the expected rise of the gain by "
            "choosing "
            "then.\n";
    int number = 0;
    for (const sweeps::PlannedRun& run : plan.runs) {
        const engines::RunCommands commands = commands_of(answer, run.run);
        text += fmt::format("\n{}. {} ({})\n", ++number, title_of(answer, run.run), answer.engine.label());
        for (const std::string& line : commands.lines) {
            text += "   " + line + "\n";
        }
        text += commands.remark.empty() ? "" : "   " + text::wrapped("(" + commands.remark + ")", 110, "   ") + "\n";
    }
    return text + after_the_runs(sweeps::recommended_variant(answer.answer));
}

namespace {

Json runs_json(const PlanAnswer& answer, bool with_commands) {
    Json runs = Json::array();
    for (const sweeps::PlannedRun& run : answer.plan.runs) {
        Json row = {{"run", run.run.of_acceptance ? "acceptance" : "time"},
                    {"draft_tokens", run.run.draft_tokens},
                    {"batch", run.run.batch},
                    {"context", run.run.context},
                    {"low", run.low},
                    {"high", run.high},
                    {"value", run.value}};
        if (with_commands) {
            const engines::RunCommands commands = commands_of(answer, run.run);
            row["settles"] = run.settles;
            row["commands"] = commands.lines;
            row["remark"] = commands.remark;
        }
        runs.push_back(std::move(row));
    }
    return runs;
}

}  // namespace

Json plan_json(const PlanAnswer& answer) {
    return {{"format", "treeline-plan"},
            {"version", 1},
            {"engine", answer.engine.label()},
            {"gain", answer.plan.gain},
            {"low", answer.plan.low},
            {"high", answer.plan.high},
            {"value_of_knowing_everything", answer.plan.perfect},
            {"worth_making", is_worth_making(answer.plan)},
            {"runs", runs_json(answer, true)}};
}

std::string plan_csv(const PlanAnswer& answer) {
    return csv_of({"run", "draft_tokens", "batch", "context", "low", "high", "value"}, runs_json(answer, false));
}

}  // namespace treeline::reports
