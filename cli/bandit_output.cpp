#include "cli/bandit_output.h"

#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/number_text.h"
#include "reports/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

const std::string& arm_name(const BanditAnswer& answer, std::size_t arm) { return answer.input.problem.arms[arm].name; }

/// Of equal samples only rounding is left.
double width_of(const Interval& interval) {
    return interval.half_width > 1e-12 * std::abs(interval.mean) ? interval.half_width : 0.0;
}

std::string with_interval(const Interval& interval) {
    return fmt::format("{} +- {}", short_text(interval.mean), short_text(width_of(interval)));
}

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

std::string arms_table(const BanditAnswer& answer) {
    TextTable table(
        {{"Shape", Align::left}, {"draft passes"}, {"share of rounds"}, {"tokens/s alone"}, {"bandit gains (95 %)"}});
    const BanditOutcome& outcome = answer.outcome;
    for (std::size_t k = 0; k < answer.input.problem.arms.size(); ++k) {
        const Interval& gain = outcome.gain_over_fixed[k];
        table.add({arm_name(answer, k), short_text(answer.input.problem.arms[k].draft_passes),
                   percent_text(outcome.arm_share[k]), short_text(outcome.fixed_tokens_per_second[k].mean),
                   fmt::format("{} to {}", signed_percent(gain.low()), signed_percent(gain.high()))});
    }
    return table.text();
}

std::string tasks_table(const BanditAnswer& answer) {
    TextTable table({{"Task", Align::left},
                     {"shape", Align::left},
                     {"accept length"},
                     {"round"},
                     {"tokens/s"},
                     {"mean reward"},
                     {"", Align::left}});
    const BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const TaskFacts& facts = answer.outcome.tasks[t];
        for (std::size_t k = 0; k < facts.arms.size(); ++k) {
            const std::string notes = std::string(k == facts.fastest ? "fastest" : "") +
                                      (k == facts.fastest && k == facts.favoured ? ", " : "") +
                                      (k == facts.favoured ? "best reward" : "");
            table.add({k == 0 ? problem.tasks[t].name : "", arm_name(answer, k), fixed_text(facts.arms[k].accept_length, 3),
                       text_of(problem.tasks[t].arms[k].round), short_text(1.0 / facts.arms[k].time_per_token.value()),
                       fixed_text(facts.arms[k].mean_reward, 4), notes});
        }
    }
    return table.text();
}

std::string stretches_table(const BanditAnswer& answer) {
    TextTable table({{"Stretch", Align::left}, {"rounds"}, {"tokens/s (95 %)"}, {"fastest shape"}, {"runs", Align::left}});
    const BanditProblem& problem = answer.input.problem;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const StretchOutcome& stretch = answer.outcome.stretches[s];
        std::string shares;
        for (std::size_t k = 0; k < stretch.arm_share.size(); ++k) {
            shares += fmt::format("{}{} {}", k == 0 ? "" : ", ", arm_name(answer, k), percent_text(stretch.arm_share[k]));
        }
        table.add({problem.tasks[problem.sequence[s].task].name, grouped_text(problem.sequence[s].rounds),
                   with_interval(stretch.tokens_per_second), short_text(stretch.best_tokens_per_second), shares});
    }
    return table.text();
}

std::string regret_table(const BanditAnswer& answer) {
    TextTable table({{"After rounds"}, {"time lost (95 %)"}, {"reward lost (95 %)"}});
    std::int64_t next = 1;
    const std::vector<RegretPoint>& regret = answer.outcome.regret;
    for (std::size_t i = 0; i < regret.size(); ++i) {
        if (regret[i].round >= next || i + 1 == regret.size()) {
            table.add({grouped_text(regret[i].round),
                       fmt::format("{} +- {}", text_of(Seconds(regret[i].lost_seconds.mean)),
                                   text_of(Seconds(width_of(regret[i].lost_seconds)))),
                       with_interval(regret[i].lost_reward)});
            next = 10 * next;
        }
    }
    return table.text();
}

/// Where the reward misleads: E[1/N] is not 1/E[N], and its cost is not the round's time.
std::string misled_text(const BanditAnswer& answer) {
    std::string text;
    const BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const TaskFacts& facts = answer.outcome.tasks[t];
        if (facts.favoured == facts.fastest) {
            continue;
        }
        const bool by_cost = facts.favoured_by_means != facts.fastest;
        text +=
            fmt::format("On {}, the reward prefers {}, which is {} slower a token than {}, as {}.\n", problem.tasks[t].name,
                        arm_name(answer, facts.favoured), percent_text(facts.loss_of_favoured), arm_name(answer, facts.fastest),
                        by_cost ? "its cost, 1 + draft share x passes, is not the time of a round"
                                : "the mean of 1/N is not 1 / the mean of N");
    }
    return text.empty() ? "On every task, the shape with the best mean reward is the fastest.\n" : text;
}

std::vector<double> column(const std::vector<RegretPoint>& regret, auto value) {
    std::vector<double> values;
    for (const RegretPoint& point : regret) {
        values.push_back(value(point));
    }
    return values;
}

Json interval_json(const Interval& interval) {
    return {{"mean", interval.mean}, {"low", interval.low()}, {"high", interval.high()}};
}

Json regret_json(const std::vector<RegretPoint>& regret) {
    return {{"round", column(regret, [](const RegretPoint& p) { return static_cast<double>(p.round); })},
            {"lost_seconds", column(regret, [](const RegretPoint& p) { return p.lost_seconds.mean; })},
            {"lost_seconds_low", column(regret, [](const RegretPoint& p) { return p.lost_seconds.low(); })},
            {"lost_seconds_high", column(regret, [](const RegretPoint& p) { return p.lost_seconds.high(); })},
            {"lost_reward", column(regret, [](const RegretPoint& p) { return p.lost_reward.mean; })},
            {"lost_reward_low", column(regret, [](const RegretPoint& p) { return p.lost_reward.low(); })},
            {"lost_reward_high", column(regret, [](const RegretPoint& p) { return p.lost_reward.high(); })}};
}

Json shapes_json(const BanditAnswer& answer) {
    Json shapes = Json::array();
    for (std::size_t k = 0; k < answer.input.problem.arms.size(); ++k) {
        const BanditArm& arm = answer.input.problem.arms[k];
        shapes.push_back({{"name", arm.name},
                          {"draft_passes", arm.draft_passes},
                          {"share_of_rounds", answer.outcome.arm_share[k]},
                          {"tokens_per_second", answer.outcome.fixed_tokens_per_second[k].mean},
                          {"gain_of_bandit", interval_json(answer.outcome.gain_over_fixed[k])}});
    }
    return shapes;
}

Json tasks_json(const BanditAnswer& answer) {
    Json tasks = Json::array();
    const BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const TaskFacts& facts = answer.outcome.tasks[t];
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

Json stretches_json(const BanditAnswer& answer) {
    Json stretches = Json::array();
    const BanditProblem& problem = answer.input.problem;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const StretchOutcome& stretch = answer.outcome.stretches[s];
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

std::string sentence_of(const BanditAnswer& answer) {
    const BanditOutcome& outcome = answer.outcome;
    const std::size_t usual = answer.input.problem.default_arm;
    return fmt::format(
        "The bandit decodes {} tokens/s: {} against {} throughout, {} against the best single shape ({}), and {} below the "
        "fastest "
        "shape of each task.",
        short_text(outcome.tokens_per_second.mean), signed_percent(outcome.gain_over_fixed[usual].mean),
        arm_name(answer, usual), signed_percent(outcome.gain_over_fixed[outcome.best_fixed].mean),
        arm_name(answer, outcome.best_fixed), percent_text(outcome.loss_to_oracle.mean));
}

std::string bandit_table(const BanditAnswer& answer) {
    const BanditInput& input = answer.input;
    FactList facts;
    if (!input.priced.empty()) {
        facts.add("Round times", "by the simulator: " + input.priced);
    }
    facts.add("Draft share", fmt::format("{} ({})", short_text(input.problem.draft_share), input.draft_share_meaning));
    facts.add("Reward", input.rule.reward == BanditReward::published
                            ? "-(1 + draft share x passes) / tokens, averaged (published)"
                            : "-(time of all rounds) / (their tokens)");
    facts.add("Exploration",
              short_text(input.rule.exploration) + (input.rule.restart_with_task ? ", forgetting where the task changes" : ""));
    facts.add("Simulated", fmt::format("{} repetitions, seed {}; +- is a 95 % interval", input.repetitions, answer.runs.seed));
    return (input.title.empty() ? "" : input.title + "\n\n") + wrapped(sentence_of(answer), 120) + "\n\n" + facts.text() +
           "\n" + arms_table(answer) + "\n" + stretches_table(answer) + "\n" + tasks_table(answer) + "\n" +
           wrapped(misled_text(answer), 120) + "\n" + regret_table(answer) +
           (input.source.empty() ? "" : "\n" + wrapped("Source: " + input.source, 120) + "\n");
}

nlohmann::ordered_json bandit_json(const BanditAnswer& answer) {
    const BanditInput& input = answer.input;
    const BanditOutcome& outcome = answer.outcome;
    Json json = {{"format", "treeline-bandit"}, {"version", 1}, {"title", input.title}, {"source", input.source}};
    json["answer"] = sentence_of(answer);
    json["priced"] = input.priced.empty() ? Json() : Json(input.priced);
    json["draft_share"] = input.problem.draft_share;
    json["draft_share_meaning"] = input.draft_share_meaning;
    json["reward"] = input.rule.reward == BanditReward::published ? "published" : "time_per_token";
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

std::string bandit_csv(const BanditAnswer& answer) {
    std::string csv = csv_line({"round", "lost_seconds", "lost_seconds_low", "lost_seconds_high", "lost_reward",
                                "lost_reward_low", "lost_reward_high"});
    for (const RegretPoint& point : answer.outcome.regret) {
        csv +=
            csv_line({fmt::format("{}", point.round), exact_text(point.lost_seconds.mean), exact_text(point.lost_seconds.low()),
                      exact_text(point.lost_seconds.high()), exact_text(point.lost_reward.mean),
                      exact_text(point.lost_reward.low()), exact_text(point.lost_reward.high())});
    }
    return csv;
}

}  // namespace treeline
