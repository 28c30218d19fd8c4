// What `treeline study bandit` found, as charts.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "reports/adaptive/bandit_output.h"
#include "reports/figure.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Figure regret_figure(const sweeps::BanditAnswer& answer, bool in_time) {
    Figure figure;
    figure.id = in_time ? "bandit-time-lost" : "bandit-reward-lost";
    figure.title = in_time ? "Time lost against the fastest shape of each task" : "Reward lost against the best of each task";
    figure.reading = in_time
                         ? "The flatter the line, the nearer the bandit runs to the fastest shape; the band is a 95 % interval."
                         : "The regret that theory bounds: for one task it grows with the logarithm of the rounds.";
    figure.x = {"round", "Rounds"};
    figure.y = {"lost", in_time ? "Time lost (s)" : "Reward lost"};
    figure.low = "low";
    figure.high = "high";
    figure.columns = {{"round", "Rounds", "", 0}, {"lost", in_time ? "Lost" : "Reward lost", in_time ? "s" : ""}};
    for (const sweeps::RegretPoint& point : answer.outcome.regret) {
        const sweeps::Interval& lost = in_time ? point.lost_seconds : point.lost_reward;
        figure.rows.push_back({{"round", point.round}, {"lost", lost.mean}, {"low", lost.low()}, {"high", lost.high()}});
    }
    return figure;
}

/// "2 HumanEval": stretches of one task stay separate.
std::string stretch_name(const sweeps::BanditAnswer& answer, std::size_t stretch) {
    const sweeps::BanditProblem& problem = answer.input.problem;
    return std::to_string(stretch + 1) + " " + problem.tasks[problem.sequence[stretch].task].name;
}

Figure choice_figure(const sweeps::BanditAnswer& answer) {
    Figure figure;
    figure.id = "bandit-choices";
    figure.title = "Which shape ran";
    figure.reading = "Each bar is a stretch of one task, in their order; its parts are the shapes that the bandit ran.";
    figure.mark = FigureMark::bar;
    figure.stacked = true;
    figure.x = {"stretch", "Stretch"};
    figure.y = {"share", "Share of rounds (%)"};
    figure.series = "shape";
    figure.columns = {{"stretch", "Stretch", ""}, {"shape", "Shape", ""}, {"share", "Share", "%", 1}};
    for (std::size_t s = 0; s < answer.outcome.stretches.size(); ++s) {
        for (std::size_t k = 0; k < answer.outcome.arm_share.size(); ++k) {
            figure.rows.push_back({{"stretch", stretch_name(answer, s)},
                                   {"shape", arm_name(answer, k)},
                                   {"share", 100.0 * answer.outcome.stretches[s].arm_share[k]}});
        }
    }
    return figure;
}

Figure speed_figure(const sweeps::BanditAnswer& answer) {
    Figure figure;
    figure.id = "bandit-speed";
    figure.title = "Speed by stretch";
    figure.reading = "The bandit next to every shape run alone; the last bars are the whole sequence.";
    figure.mark = FigureMark::bar;
    figure.x = {"stretch", "Stretch"};
    figure.y = {"tokens_per_second", "Tokens/s"};
    figure.series = "runs";
    figure.columns = {{"stretch", "Stretch", ""}, {"runs", "What runs", ""}, {"tokens_per_second", "Tokens/s", ""}};
    const auto add = [&figure](const std::string& stretch, const std::string& runs, double rate) {
        figure.rows.push_back({{"stretch", stretch}, {"runs", runs}, {"tokens_per_second", rate}});
    };
    const sweeps::BanditProblem& problem = answer.input.problem;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        add(stretch_name(answer, s), "bandit", answer.outcome.stretches[s].tokens_per_second.mean);
        for (std::size_t k = 0; k < problem.arms.size(); ++k) {
            add(stretch_name(answer, s), arm_name(answer, k),
                1.0 / answer.outcome.tasks[problem.sequence[s].task].arms[k].time_per_token.value());
        }
    }
    add("all", "bandit", answer.outcome.tokens_per_second.mean);
    for (std::size_t k = 0; k < problem.arms.size(); ++k) {
        add("all", arm_name(answer, k), answer.outcome.fixed_tokens_per_second[k].mean);
    }
    return figure;
}

/// What the charts are about, for a reader to whom the word is new.
std::string what_it_is(const sweeps::BanditAnswer& answer) {
    std::int64_t rounds = 0;
    for (const auto& stretch : answer.input.problem.sequence) {
        rounds += stretch.rounds;
    }
    return fmt::format(
        "A bandit is a rule that chooses the draft shape anew for each round while the engine decodes: it tracks the mean "
        "reward of every shape, runs the one that looks best, and occasionally tries the others, as the text may change. Here "
        "it chooses among {} shapes, simulated over {} rounds.",
        answer.input.problem.arms.size(), text::short_text(static_cast<double>(rounds)));
}

}  // namespace

FigureSection bandit_section(const sweeps::BanditAnswer& answer) {
    std::string text = what_it_is(answer) + " " + sentence_of(answer) + " " + misled_text(answer);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return {"bandit", "Choosing shapes while decoding", std::move(text), {regret_figure(answer, true), choice_figure(answer)}};
}

std::string bandit_html(const sweeps::BanditAnswer& answer) {
    const std::string title = answer.input.title.empty() ? "Choosing tree shapes while decoding" : answer.input.title;
    const FigureSection speed{
        "speed", "Speed", what_it_is(answer) + " " + misled_text(answer), {speed_figure(answer), choice_figure(answer)}};
    const FigureSection regret{
        "regret", "Regret", "The cost of learning and exploring.", {regret_figure(answer, true), regret_figure(answer, false)}};
    return render_figures({title,
                           answer.input.priced.empty() ? answer.input.source : answer.input.priced,
                           "What the bandit gains",
                           sentence_of(answer),
                           {speed, regret}});
}

}  // namespace treeline::reports
