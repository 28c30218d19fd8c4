// What `treeline study bandit` found, for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/adaptive/bandit_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> column(const std::vector<sweeps::RegretPoint>& regret, auto value) {
    std::vector<double> values;
    for (const sweeps::RegretPoint& point : regret) {
        values.push_back(value(point));
    }
    return values;
}

Json interval_json(const sweeps::Interval& interval) {
    return {{"mean", interval.mean}, {"low", interval.low()}, {"high", interval.high()}};
}

Json regret_json(const std::vector<sweeps::RegretPoint>& regret) {
    return {{"round", column(regret, [](const sweeps::RegretPoint& p) { return static_cast<double>(p.round); })},
            {"lost_seconds", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_seconds.mean; })},
            {"lost_seconds_low", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_seconds.low(); })},
            {"lost_seconds_high", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_seconds.high(); })},
            {"lost_reward", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_reward.mean; })},
            {"lost_reward_low", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_reward.low(); })},
            {"lost_reward_high", column(regret, [](const sweeps::RegretPoint& p) { return p.lost_reward.high(); })}};
}

Json shapes_json(const sweeps::BanditAnswer& answer) {
    Json shapes = Json::array();
    for (std::size_t k = 0; k < answer.input.problem.arms.size(); ++k) {
        const sweeps::BanditArm& arm = answer.input.problem.arms[k];
        shapes.push_back({{"name", arm.name},
                          {"draft_passes", arm.draft_passes},
                          {"share_of_rounds", answer.outcome.arm_share[k]},
                          {"tokens_per_second", answer.outcome.fixed_tokens_per_second[k].mean},
                          {"gain_of_bandit", interval_json(answer.outcome.gain_over_fixed[k])}});
    }
    return shapes;
}

Json tasks_json(const sweeps::BanditAnswer& answer) {
    Json tasks = Json::array();
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const sweeps::TaskFacts& facts = answer.outcome.tasks[t];
        Json shapes = Json::array();
        for (std::size_t k = 0; k < facts.arms.size(); ++k) {
            shapes.push_back({{"name", arm_name(answer, k)},
                              {"round_ms", 1e3 * problem.tasks[t].arms[k].round.value()},
                              {"accept_length", facts.arms[k].accept_length},
                              {"tokens_per_second", 1.0 / facts.arms[k].time_per_token.value()},
                              {"mean_reward", facts.arms[k].mean_reward},
                              {"accepted_exactly", problem.tasks[t].arms[k].accepted_exactly}});
        }
        tasks.push_back({{"name", problem.tasks[t].name},
                         {"fastest", arm_name(answer, facts.fastest)},
                         {"best_reward", arm_name(answer, facts.favoured)},
                         {"best_reward_of_means", arm_name(answer, facts.favoured_by_means)},
                         {"loss_of_best_reward", facts.loss_of_favoured},
                         {"shapes", std::move(shapes)}});
    }
    return tasks;
}

Json stretches_json(const sweeps::BanditAnswer& answer) {
    Json stretches = Json::array();
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const sweeps::StretchOutcome& stretch = answer.outcome.stretches[s];
        Json shares = Json::object();
        for (std::size_t k = 0; k < stretch.arm_share.size(); ++k) {
            shares[arm_name(answer, k)] = stretch.arm_share[k];
        }
        stretches.push_back({{"task", problem.tasks[problem.sequence[s].task].name},
                             {"rounds", problem.sequence[s].rounds},
                             {"tokens_per_second", interval_json(stretch.tokens_per_second)},
                             {"fastest_tokens_per_second", stretch.best_tokens_per_second},
                             {"share_of_rounds", std::move(shares)}});
    }
    return stretches;
}

}  // namespace

nlohmann::ordered_json bandit_json(const sweeps::BanditAnswer& answer) {
    const sweeps::BanditInput& input = answer.input;
    const sweeps::BanditOutcome& outcome = answer.outcome;
    Json json = {{"format", "treeline-bandit"}, {"version", 1}, {"title", input.title}, {"source", input.source}};
    json["answer"] = sentence_of(answer);
    json["priced"] = input.priced.empty() ? Json() : Json(input.priced);
    json["draft_share"] = input.problem.draft_share;
    json["draft_share_meaning"] = input.draft_share_meaning;
    json["reward"] = input.rule.reward == sweeps::BanditReward::published ? "published" : "time_per_token";
    json["exploration"] = input.rule.exploration;
    json["restart_with_task"] = input.rule.restart_with_task;
    json["repetitions"] = input.repetitions;
    json["seed"] = answer.runs.seed;
    json["tokens_per_second"] = interval_json(outcome.tokens_per_second);
    json["oracle_tokens_per_second"] = outcome.oracle_tokens_per_second.mean;
    json["loss_to_oracle"] = interval_json(outcome.loss_to_oracle);
    json["default"] = arm_name(answer, input.problem.default_arm);
    json["gain_over_default"] = interval_json(outcome.gain_over_fixed[input.problem.default_arm]);
    json["best_fixed"] = arm_name(answer, outcome.best_fixed);
    json["gain_over_best_fixed"] = interval_json(outcome.gain_over_fixed[outcome.best_fixed]);
    json["shapes"] = shapes_json(answer);
    json["tasks"] = tasks_json(answer);
    json["stretches"] = stretches_json(answer);
    json["regret"] = regret_json(outcome.regret);
    return json;
}

std::string bandit_csv(const sweeps::BanditAnswer& answer) {
    std::string csv = text::csv_line({"round", "lost_seconds", "lost_seconds_low", "lost_seconds_high", "lost_reward",
                                      "lost_reward_low", "lost_reward_high"});
    for (const sweeps::RegretPoint& point : answer.outcome.regret) {
        csv += text::csv_line({fmt::format("{}", point.round), text::exact_text(point.lost_seconds.mean),
                               text::exact_text(point.lost_seconds.low()), text::exact_text(point.lost_seconds.high()),
                               text::exact_text(point.lost_reward.mean), text::exact_text(point.lost_reward.low()),
                               text::exact_text(point.lost_reward.high())});
    }
    return csv;
}

}  // namespace treeline::reports
