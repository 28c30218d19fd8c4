#include "reports/adaptive/bandit_output.h"

#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

/// Of equal samples only rounding is left.
double width_of(const sweeps::Interval& interval) {
    return interval.half_width > 1e-12 * std::abs(interval.mean) ? interval.half_width : 0.0;
}

std::string with_interval(const sweeps::Interval& interval) {
    return fmt::format("{} +- {}", text::short_text(interval.mean), text::short_text(width_of(interval)));
}

std::string signed_percent(double share) {
    const double tenths = std::round(1000.0 * share);
    return fmt::format("{:+.1f} %", tenths == 0.0 ? 0.0 : tenths / 10.0);  // no "-0.0"
}

std::string arms_table(const sweeps::BanditAnswer& answer) {
    text::TextTable table(
        {{"Shape", text::Align::left}, {"draft passes"}, {"share of rounds"}, {"tokens/s alone"}, {"bandit gains (95 %)"}});
    const sweeps::BanditOutcome& outcome = answer.outcome;
    for (std::size_t k = 0; k < answer.input.problem.arms.size(); ++k) {
        const sweeps::Interval& gain = outcome.gain_over_fixed[k];
        table.add({arm_name(answer, k), text::short_text(answer.input.problem.arms[k].draft_passes),
                   text::percent_text(outcome.arm_share[k]), text::short_text(outcome.fixed_tokens_per_second[k].mean),
                   fmt::format("{} to {}", signed_percent(gain.low()), signed_percent(gain.high()))});
    }
    return table.text();
}

std::string tasks_table(const sweeps::BanditAnswer& answer) {
    text::TextTable table({{"Task", text::Align::left},
                           {"shape", text::Align::left},
                           {"accept length"},
                           {"round"},
                           {"tokens/s"},
                           {"mean reward"},
                           {"", text::Align::left}});
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const sweeps::TaskFacts& facts = answer.outcome.tasks[t];
        for (std::size_t k = 0; k < facts.arms.size(); ++k) {
            const std::string notes = std::string(k == facts.fastest ? "fastest" : "") +
                                      (k == facts.fastest && k == facts.favoured ? ", " : "") +
                                      (k == facts.favoured ? "best reward" : "");
            table.add({k == 0 ? problem.tasks[t].name : "", arm_name(answer, k),
                       text::fixed_text(facts.arms[k].accept_length, 3), text_of(problem.tasks[t].arms[k].round),
                       text::short_text(1.0 / facts.arms[k].time_per_token.value()),
                       text::fixed_text(facts.arms[k].mean_reward, 4), notes});
        }
    }
    return table.text();
}

std::string stretches_table(const sweeps::BanditAnswer& answer) {
    text::TextTable table(
        {{"Stretch", text::Align::left}, {"rounds"}, {"tokens/s (95 %)"}, {"fastest shape"}, {"runs", text::Align::left}});
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const sweeps::StretchOutcome& stretch = answer.outcome.stretches[s];
        std::string shares;
        for (std::size_t k = 0; k < stretch.arm_share.size(); ++k) {
            shares += fmt::format("{}{} {}", k == 0 ? "" : ", ", arm_name(answer, k), text::percent_text(stretch.arm_share[k]));
        }
        table.add({problem.tasks[problem.sequence[s].task].name, text::grouped_text(problem.sequence[s].rounds),
                   with_interval(stretch.tokens_per_second), text::short_text(stretch.best_tokens_per_second), shares});
    }
    return table.text();
}

std::string regret_table(const sweeps::BanditAnswer& answer) {
    text::TextTable table({{"After rounds"}, {"time lost (95 %)"}, {"reward lost (95 %)"}});
    std::int64_t next = 1;
    const std::vector<sweeps::RegretPoint>& regret = answer.outcome.regret;
    for (std::size_t i = 0; i < regret.size(); ++i) {
        if (regret[i].round >= next || i + 1 == regret.size()) {
            table.add({text::grouped_text(regret[i].round),
                       fmt::format("{} +- {}", text_of(Seconds(regret[i].lost_seconds.mean)),
                                   text_of(Seconds(width_of(regret[i].lost_seconds)))),
                       with_interval(regret[i].lost_reward)});
            next = 10 * next;
        }
    }
    return table.text();
}

}  // namespace

std::string misled_text(const sweeps::BanditAnswer& answer) {
    std::string text;
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
        const sweeps::TaskFacts& facts = answer.outcome.tasks[t];
        if (facts.favoured == facts.fastest) {
            continue;
        }
        const bool by_cost = facts.favoured_by_means != facts.fastest;
        text += fmt::format("On {}, the reward prefers {}, which is {} slower per token than {}, because {}.\n",
                            problem.tasks[t].name, arm_name(answer, facts.favoured), text::percent_text(facts.loss_of_favoured),
                            arm_name(answer, facts.fastest),
                            by_cost ? "its cost, 1 + draft share x passes, is not the time of a round"
                                    : "the mean of 1/N is not 1 / the mean of N");
    }
    return text.empty() ? "On every task, the shape with the best mean reward is the fastest.\n" : text;
}

std::string sentence_of(const sweeps::BanditAnswer& answer) {
    const sweeps::BanditOutcome& outcome = answer.outcome;
    const std::size_t usual = answer.input.problem.default_arm;
    std::string text = fmt::format("The bandit decodes {} tokens/s: {} against {} throughout",
                                   text::short_text(outcome.tokens_per_second.mean),
                                   signed_percent(outcome.gain_over_fixed[usual].mean), arm_name(answer, usual));
    if (outcome.best_fixed != usual) {
        text +=
            fmt::format(", {} against the best single shape ({})",
                        signed_percent(outcome.gain_over_fixed[outcome.best_fixed].mean), arm_name(answer, outcome.best_fixed));
    }
    return text + fmt::format(", and {} against the fastest shape of each task.", signed_percent(-outcome.loss_to_oracle.mean));
}

std::string bandit_table(const sweeps::BanditAnswer& answer) {
    const sweeps::BanditInput& input = answer.input;
    text::FactList facts;
    if (!input.priced.empty()) {
        facts.add("Round times", "by the simulator: " + input.priced);
    }
    facts.add("Draft share", fmt::format("{} ({})", text::short_text(input.problem.draft_share), input.draft_share_meaning));
    facts.add("Reward", input.rule.reward == sweeps::BanditReward::published
                            ? "-(1 + draft share x passes) / tokens, averaged (published)"
                            : "-(time of all rounds) / (their tokens)");
    facts.add("Exploration", text::short_text(input.rule.exploration) +
                                 (input.rule.restart_with_task ? ", forgetting when the task changes" : ""));
    facts.add("Simulated", fmt::format("{} repetitions, seed {}; +- is a 95 % interval", input.repetitions, answer.runs.seed));
    return (input.title.empty() ? "" : input.title + "\n\n") + text::wrapped(sentence_of(answer), 120) + "\n\n" + facts.text() +
           "\n" + arms_table(answer) + "\n" + stretches_table(answer) + "\n" + tasks_table(answer) + "\n" +
           text::wrapped(misled_text(answer), 120) + "\n" + regret_table(answer) +
           (input.source.empty() ? "" : "\n" + text::wrapped("Source: " + input.source, 120) + "\n");
}

}  // namespace treeline::reports
