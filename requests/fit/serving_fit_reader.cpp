#include "requests/fit/serving_fit_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/number_text.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

/// Measured and predicted times that differ by more than this factor point to a slip in the unit, the batch or the model.
constexpr double absurd_factor = 30.0;
/// Share of drafts assumed accepted if a round was measured without its accept length: only the rollback depends on it.
constexpr double assumed_share_accepted = 0.5;

/// The point of a row: what the flags say, at the row's batch, context, draft tokens and accept length.
Json point_of(const calibrate::ServingRow& row, const Json& flags) {
    Json point = flags;
    point["batch"] = row.batch;
    if (row.context) {
        point["context"] = *row.context;
    }
    point["draft_tokens"] = row.draft_tokens;
    if (row.draft_tokens == 0) {
        point.erase("drafter");
        return point;
    }
    const double length = row.accept_length.value_or(1.0 + assumed_share_accepted * row.draft_tokens);
    point["drafter"]["acceptance"] = {{"mean_length", length}, {"draft_tokens", row.draft_tokens}};
    return point;
}

/// The row under the rollback policy and way of verifying that are fastest there.
calibrate::MeasuredStep step_of(const calibrate::ServingRow& row, const sweeps::PointInput& input) {
    calibrate::MeasuredStep fastest;
    Seconds least(sim::unlimited);
    for (const sim::Rollback rollback : sweeps::policies_to_try(input)) {
        const sim::RoundSetup setup = setup_of(input, rollback);
        if (!problems_of(setup).empty()) {
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(setup);
        for (int choice = input.speculates() ? 1 : 0; round.runs(choice); ++choice) {
            const sim::DesignPoint point{choice, input.batch, input.context};
            if (const Seconds time = sim::evaluate(round, point).round; time < least) {
                least = time;
                fastest = {setup, point, row.round};
            }
        }
    }
    return fastest;
}

/// "line 3: …" before a sentence about a row.
std::vector<std::string> at_line(const calibrate::ServingTable& table, const calibrate::ServingRow& row,
                                 std::vector<std::string> sentences) {
    for (std::string& sentence : sentences) {
        sentence = fmt::format("{}: line {}: {}", table.path, row.line, sentence);
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

Json point_of_flags(const FlagTexts& flags) {
    if (given(flags, "platform.stack").empty()) {
        throw text::InputError({"--serving needs --stack: the software stack to start from, such as vllm or sglang"});
    }
    if (given(flags, "target.model").empty()) {
        throw text::InputError({"--serving needs --model: what the deployment serves"});
    }
    return with_flags(Json::object(), flags);
}

}  // namespace

calibrate::ServingFit fit_serving(const std::string& csv, const FlagTexts& flags, const Catalogue& catalogue) {
    const Json point = point_of_flags(flags);
    calibrate::ServingFit result;
    result.table = calibrate::read_serving_csv(csv);
    Descriptions descriptions(catalogue, {});
    for (const calibrate::ServingRow& row : result.table.rows) {
        if (row.draft_tokens > 0 && given(flags, "drafter").empty()) {
            throw text::InputError(at_line(result.table, row, {"drafts tokens, so --drafter must name their drafter"}));
        }
        try {
            json::Document document = json::Document::of(point_of(row, point), "flags");
            const sweeps::PointInput input = read_point(document, descriptions);
            if (input.platform.accelerator) {
                throw text::InputError({fmt::format("--device: {} is an accelerator without a software stack to fit",
                                                    input.platform.device.name)});
            }
            result.target = input.target.label;
            const std::string& device = input.platform.device.name;
            const bool one = input.platform.ranks <= 1.0;
            result.platform = one ? device : fmt::format("{}x {}", input.platform.ranks, device);
            result.stack = input.platform.stack.name;
            result.steps.push_back(step_of(row, input));
        } catch (const text::InputError& error) {
            throw text::InputError(at_line(result.table, row, in_terms_of_flags(error.problems(), point_flags())));
        }
    }
    if (std::vector<std::string> problems = problems_of(result.steps); !problems.empty()) {
        for (std::string& problem : problems) {
            problem = fmt::format("{}: {}", csv, problem);
        }
        throw text::InputError(std::move(problems));
    }
    check_plausible(result.table, result.steps);
    result.fit = calibrate::fit_stack(result.steps);
    return result;
}

}  // namespace treeline::requests
