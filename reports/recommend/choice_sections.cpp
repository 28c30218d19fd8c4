// Sections of --explain about the choice: rivals, policies, what is left out, devices, and the trade-off.
#include <algorithm>

#include <fmt/format.h>

#include "reports/device_figures.h"
#include "reports/explain.h"
#include "reports/objective_text.h"
#include "reports/policy_figures.h"
#include "reports/recommend/left_out_devices.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/recommend/recommendation_sections.h"
#include "reports/recommend/untrained.h"
#include "reports/shape_text.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

constexpr std::size_t most_runners_up = 10;
constexpr std::size_t most_excluded = 40;

/// Every rollback and way of verifying with the recommended drafter; nothing if there is no choice.
std::string policies(const sweeps::Recommendation& found) {
    const std::vector<sweeps::PolicyOutcome> outcomes = sweeps::compare_policies(found);
    if (outcomes.size() < 2) {
        return "";
    }
    text::TextTable table({{"Rollback", text::Align::left},
                           {"verification", text::Align::left},
                           {"draft tokens"},
                           {"speed-up"},
                           {"TPOT"},
                           {"memory"}});
    for (const sweeps::PolicyOutcome& outcome : outcomes) {
        const std::string& rollback = found.variants[outcome.variant].labels.rollback;
        if (outcome.best == nullptr) {
            continue;  // listed with everything that is excluded
        }
        const sweeps::Candidate& c = *outcome.best;
        table.add({rollback, std::string(name_of(outcome.verification)),
                   drafted_text(found.speculations, c.speculation, c.draft_tokens), text::ratio_text(c.speedup),
                   text_of(c.time_per_token), text_of(c.peak_memory)});
    }
    const std::string why = policy_sentence(found);
    return table.text() + (why.empty() ? "" : text::wrapped(why, screen_width) + "\n");
}

std::string runners_up(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Objective objective = answer.input.workload.objective;
    if (found.runners_up.empty()) {
        return "";
    }
    text::TextTable table({{"Runner-up", text::Align::left},
                           {"draft tokens"},
                           {objective_heading(objective)},
                           {"gain"},
                           {"speed-up"},
                           {"regret"}});
    for (std::size_t i = 0; i < std::min(most_runners_up, found.runners_up.size()); ++i) {
        const sweeps::Candidate& c = found.runners_up[i];
        table.add({text_of(found.variants[c.variant], found.variants),
                   drafted_text(found.speculations, c.speculation, c.draft_tokens) + basis_text(c.basis),
                   objective_cell(c, objective), text::ratio_text(c.gain), text::ratio_text(c.speedup),
                   text::percent_text(c.regret)});
    }
    std::string text = table.text() + regret_text(objective) + "\n";
    if (found.runners_up.size() > most_runners_up) {
        text += fmt::format("and {} more; --format csv lists all.\n", found.runners_up.size() - most_runners_up);
    }
    if (found.flip) {
        text += text::wrapped(flip_text(found), screen_width) + "\n";
    }
    return text;
}

std::string joined(const std::vector<std::string>& blocks) {
    std::string text;
    for (const std::string& block : blocks) {
        text += text.empty() || block.empty() ? block : "\n" + block;
    }
    return text;
}

}  // namespace

std::string excluded_text(const sweeps::Answer& answer) {
    std::string text;
    const std::vector<sweeps::Exclusion>& all = answer.result.excluded;
    for (std::size_t i = 0; i < std::min(all.size(), most_excluded); ++i) {
        const sweeps::Exclusion& exclusion = all[i];
        text += text::wrapped(fmt::format("Excluded: {}: {}.", exclusion.label, exclusion.reason), screen_width, "  ") + "\n";
    }
    if (all.size() > most_excluded) {
        text += fmt::format("{} more are excluded; --format json lists all with their reasons.\n", all.size() - most_excluded);
    }
    return text;
}

std::string candidates_section(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    return joined(
        {runners_up(answer), untrained_table(found, answer.input.workload.objective), policies(found), excluded_text(answer)});
}

/// What each device can do at its best, if there are several.
std::string devices_section(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const std::vector<sweeps::DeviceChoice> choices = sweeps::best_of_each_device(found);
    if (choices.size() < 2) {
        std::string text;
        for (const std::string& sentence : left_out_devices(answer)) {
            text += text::wrapped(sentence, screen_width) + "\n";
        }
        return text.empty() ? "One device was priced; --device A,B compares several.\n" : text;
    }
    std::vector<text::Column> columns = {
        {"Device", text::Align::left}, {"its best", text::Align::left}, {"draft tokens"}, {"gain"}, {"TPOT"}};
    columns.insert(columns.end(), {{"tokens/s/device"}, {"$/M tokens"}, {"tokens/J"}, {"regret"}});
    columns.push_back({"formats", text::Align::left});
    text::TextTable table(columns);
    for (const sweeps::DeviceChoice& choice : choices) {
        const sweeps::Candidate& c = *choice.best;
        const sweeps::VariantLabels& labels = found.variants[c.variant].labels;
        const bool rolls_back = c.draft_tokens > 0 && labels.rollback != "truncate";
        table.add({choice.platform, labels.drafter + (rolls_back ? ", " + labels.rollback : ""),
                   drafted_text(found.speculations, c.speculation, c.draft_tokens), text::ratio_text(c.gain),
                   text_of(c.time_per_token), text::short_text(c.tokens_per_second_device),
                   c.price_per_token > Dollars(0.0) ? text::dollars_text(1e6 * c.price_per_token.value())
                                                    : std::string(text::unknown_text),
                   c.energy_per_token > Joules(0.0) ? text::short_text(1.0 / c.energy_per_token.value())
                                                    : std::string(text::unknown_text),
                   text::percent_text(c.regret), formats_text(found.variants[c.variant])});
    }
    return table.text() + text::wrapped(device_sentence(answer.input.workload, found), screen_width) + "\n";
}

std::string pareto_section(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    text::TextTable table(
        {{"Pareto set", text::Align::left}, {"draft tokens"}, {"batch"}, {"tokens/s/user"}, {"tokens/s/device"}, {"speed-up"}});
    std::vector<sweeps::TradeoffPoint> front;
    for (const sweeps::TradeoffPoint& point : found.tradeoffs) {
        if (point.on_front) {
            front.push_back(point);
        }
    }
    std::sort(front.begin(), front.end(), [](const sweeps::TradeoffPoint& a, const sweeps::TradeoffPoint& b) {
        return a.tokens_per_second_user > b.tokens_per_second_user;
    });
    for (const sweeps::TradeoffPoint& point : front) {
        table.add({text_of(found.variants[point.variant], found.variants),
                   drafted_text(found.speculations, point.speculation, point.draft_tokens), text::short_text(point.batch),
                   text::short_text(point.tokens_per_second_user), text::short_text(point.tokens_per_second_device),
                   text::ratio_text(point.speedup)});
    }
    return table.text() + (front.empty() ? "" : fmt::format("At context {}.\n", text::short_text(front.front().context)));
}

}  // namespace treeline::reports
