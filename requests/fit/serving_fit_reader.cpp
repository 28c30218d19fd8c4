#include "requests/fit/serving_fit_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/fit/served_point.h"
#include "requests/loop/diagnosis_request.h"
#include "requests/loop/run_deployment.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Measured and predicted times that differ by more than this factor point to a slip in the unit, the batch or the model.
constexpr double absurd_factor = 30.0;

/// "line 3: …" before a sentence about a row; of runs, which have no lines, its load.
std::vector<std::string> at_line(const calibrate::ServingTable& table, const calibrate::ServingRow& row,
                                 std::vector<std::string> sentences) {
    const std::string place = row.line > 0 ? fmt::format("line {}", row.line)
                                           : fmt::format("batch {:g}, {} draft tokens", row.batch, row.draft_tokens);
    for (std::string& sentence : sentences) {
        sentence = fmt::format("{}: {}: {}", table.path, place, sentence);
    }
    return sentences;
}

void check_plausible(const calibrate::ServingTable& table, const std::vector<calibrate::MeasuredStep>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Seconds predicted = calibrate::predicted_time(steps[i], steps[i].setup.platform.stack);
        const double factor = steps[i].time / predicted;
        if (factor > absurd_factor || factor < 1.0 / absurd_factor) {
            throw text::InputError(
                at_line(table, table.rows[i],
                        {fmt::format("says {} per round, but the model says {}; check the unit, the batch and the model",
                                     text_of(steps[i].time), text_of(predicted))}));
        }
    }
}

/// A load as its clients saw it, where they measured TPOT and the lengths are known: later questions are of such traffic, with
/// the prompts of other requests between the steps, which the median time between messages leaves out.
runs::RunCell as_served(runs::RunCell cell) {
    if (cell.concurrency && cell.tpot.known() && cell.prompt_tokens >= 1.0 && cell.output_tokens >= 1.0 &&
        cell.accept_length() >= 1.0) {
        cell.round = {};
    }
    return cell;
}

/// Refuses what does not say which stack is fitted and what was served.
void require_stack_and_model(const Json& point, const char* asked_by) {
    const Json platform = point.value("platform", Json::object());
    if (platform.is_object() && !platform.contains("stack") && !platform.contains("engine")) {
        throw text::InputError(
            {fmt::format("{} needs --stack: the software stack to start from, such as vllm or sglang", asked_by)});
    }
    if (!point.contains("target")) {
        throw text::InputError({fmt::format("{} needs --model: what the deployment serves", asked_by)});
    }
}

/// One row of the table at what `point` describes.
void add_step(const calibrate::ServingRow& row, const Json& point, Descriptions& descriptions, calibrate::ServingFit& result) {
    if (row.draft_tokens > 0 && !point.contains("drafter")) {
        throw text::InputError(at_line(result.table, row, {"drafts tokens, so --drafter must name their drafter"}));
    }
    try {
        const sweeps::PointInput input = read_served(row, point, descriptions);
        if (input.platform.accelerator) {
            throw text::InputError(
                {fmt::format("--device: {} is an accelerator without a software stack to fit", input.platform.device.name)});
        }
        result.target = input.target.label;
        const std::string& device = input.platform.device.name;
        const bool one = input.platform.ranks <= 1.0;
        result.platform = one ? device : fmt::format("{}x {}", input.platform.ranks, device);
        result.stack = input.platform.stack.name;
        result.steps.push_back(measured_step(row, input));
    } catch (const text::InputError& error) {
        throw text::InputError(at_line(result.table, row, in_terms_of_flags(error.problems(), point_flags())));
    }
}

calibrate::ServingFit fitted(calibrate::ServingFit result) {
    if (std::vector<std::string> problems = problems_of(result.steps); !problems.empty()) {
        for (std::string& problem : problems) {
            problem = fmt::format("{}: {}", result.table.path, problem);
        }
        throw text::InputError(std::move(problems));
    }
    check_plausible(result.table, result.steps);
    result.fit = calibrate::fit_stack(result.steps);
    return result;
}

}  // namespace

calibrate::ServingFit fit_serving(const std::string& csv, const FlagTexts& flags, const Catalogue& catalogue,
                                  std::vector<std::string>* bad_rows) {
    const Json point = with_flags(Json::object(), flags);
    require_stack_and_model(point, "--serving");
    calibrate::ServingFit result;
    result.table = calibrate::read_serving_csv(csv, bad_rows);
    Descriptions descriptions(catalogue, {});
    for (const calibrate::ServingRow& row : result.table.rows) {
        add_step(row, point, descriptions, result);
    }
    return fitted(std::move(result));
}

calibrate::ServingFit fit_runs(const std::vector<std::string>& files, const FlagTexts& flags, const Catalogue& catalogue) {
    const runs::MeasuredRun run = runs::import_runs(files);
    PointOfRun filled = point_of_run(run, with_flags(Json::object(), flags), catalogue);
    require_stack_and_model(filled.point, "--runs");
    const Json point = std::move(filled.point);
    calibrate::ServingFit result;
    result.remarks = std::move(filled.remarks);
    result.remarks.insert(result.remarks.end(), run.remarks.begin(), run.remarks.end());
    result.table.path = files.size() == 1 ? files.front() : fmt::format("{} and {} more", files.front(), files.size() - 1);
    Descriptions descriptions(catalogue, {});
    for (const runs::RunCell& measured : run.cells) {
        const runs::RunCell cell = as_served(measured);
        if (cell.batch >= 1.0 && cell.round_seconds() > 0.0) {
            result.table.rows.push_back(serving_row(cell));
            add_step(result.table.rows.back(), point_of_load(cell, point), descriptions, result);
        }
    }
    if (result.table.rows.size() > calibrate::most_serving_rows) {
        throw text::InputError({fmt::format("{}: has {} timed loads; at most {} are allowed", result.table.path,
                                            result.table.rows.size(), calibrate::most_serving_rows)});
    }
    return fitted(std::move(result));
}

}  // namespace treeline::requests
