#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/device_figures.h"
#include "reports/objective_text.h"
#include "reports/policy_figures.h"
#include "reports/prefill_pool.h"
#include "reports/provenance_output.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/shape_text.h"
#include "reports/trust_text.h"
#include "sweeps/variants.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

constexpr std::size_t page_width = 110;
constexpr std::size_t most_runners_up = 10;
constexpr std::size_t most_excluded = 40;

std::string excluded(const sweeps::Answer& answer) {
    std::string text;
    const std::vector<sweeps::Exclusion>& all = answer.result.excluded;
    for (std::size_t i = 0; i < std::min(all.size(), most_excluded); ++i) {
        const sweeps::Exclusion& exclusion = all[i];
        text += text::wrapped(fmt::format("Excluded: {}: {}.", exclusion.label, exclusion.reason), page_width, "  ") + "\n";
    }
    if (all.size() > most_excluded) {
        text += fmt::format("{} more are excluded; --format json lists all with their reasons.\n", all.size() - most_excluded);
    }
    return text.empty() ? text : text + "\n";
}

std::string configuration(const sweeps::Answer& answer) {
    text::FactList facts;
    for (const auto& [name, value] : configuration_of(answer)) {
        facts.add(name, text::wrapped(value, page_width - 17, "                 "));
    }
    return facts.text() + "\n";
}

bool has_pool(const sweeps::Answer& answer) {
    const sim::RoundSetup& setup = sweeps::recommended_variant(answer).setup;
    return has_prefill_pool(setup.platform.stack, setup.output_tokens);
}

/// What the pool that reads prompts must be in the mean over the traffic, if there is one.
std::string pool(const sweeps::Answer& answer) {
    if (!has_pool(answer)) {
        return {};
    }
    const double share = answer.result.recommendation->candidates.front().decode_share_device;
    const double devices = sweeps::recommended_variant(answer).setup.platform.devices();
    return text::wrapped(prefill_pool_sentence(share, devices), page_width) + "\n\n";
}

std::string averages(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sim::Device& device = sweeps::recommended_variant(answer).setup.platform.device;
    const bool steady = sweeps::recommended_variant(answer).setup.output_tokens > 0.0;
    text::TextTable table({{"Mean over the traffic", text::Align::left}, {"plain"}, {"recommended"}});
    const auto add = [&](const char* name, auto value_of) { table.add({name, value_of(found.plain), value_of(best)}); };
    const sweeps::Objective objective = answer.input.workload.objective;
    if (objective != sweeps::Objective::latency) {
        add(("Gain in " + quantity_text(objective)).c_str(),
            [](const sweeps::Candidate& c) { return text::ratio_text(c.gain); });
    }
    add("Speed-up (TPOT)", [](const sweeps::Candidate& c) { return text::ratio_text(c.speedup); });
    add("Time per token (TPOT)", [](const sweeps::Candidate& c) { return text_of(c.time_per_token); });
    add("Slowest TPOT", [](const sweeps::Candidate& c) { return text_of(c.worst_time_per_token); });
    add("Time to first token (TTFT)", [](const sweeps::Candidate& c) { return text_of(c.time_to_first_token); });
    if (steady) {
        add("Time between steps (ITL)", [](const sweeps::Candidate& c) { return text_of(c.time_per_round); });
        add("Device time on prompts",
            [](const sweeps::Candidate& c) { return text::percent_text(1.0 - c.decode_share_device); });
    }
    if (has_pool(answer)) {
        add("Prefill devices for each that decodes",
            [](const sweeps::Candidate& c) { return text::short_text(prefill_pool(c.decode_share_device)); });
    }
    if (answer.input.workload.traffic.kind != sweeps::LoadKind::batch) {
        add("Requests in service", [](const sweeps::Candidate& c) { return text::fixed_text(c.in_service, 1); });
        add("Requests waiting", [](const sweeps::Candidate& c) { return text::fixed_text(c.queued, 1); });
    }
    add("Tokens/s/user", [](const sweeps::Candidate& c) { return text::short_text(c.tokens_per_second_user); });
    add("Tokens/s/device", [](const sweeps::Candidate& c) { return text::short_text(c.tokens_per_second_device); });
    add("Peak memory per device", [](const sweeps::Candidate& c) { return text_of(c.peak_memory); });
    add("Energy per accepted token", [&](const sweeps::Candidate& c) {
        return device.knows_energy() ? text_of(c.energy_per_token) : std::string(text::unknown_text);
    });
    add("Money per million tokens", [&](const sweeps::Candidate& c) {
        return device.price > DollarsPerSecond(0.0) ? text::dollars_text(1e6 * c.price_per_token.value())
                                                    : std::string(text::unknown_text);
    });
    add("Accept length",
        [](const sweeps::Candidate& c) { return text::fixed_text(c.accept_length, 2) + (basis_text(c.basis)); });
    add("Break-even accept length", [](const sweeps::Candidate& c) { return text::fixed_text(c.break_even_accept_length, 2); });
    add("Wasted drafts", [](const sweeps::Candidate& c) { return text::percent_text(c.wasted_draft_share); });
    return table.text() + "\n";
}

std::string schedule(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Schedule& schedule = found.schedule;
    const bool loaded = answer.input.workload.traffic.kind != sweeps::LoadKind::batch;
    text::TextTable table(
        {{loaded ? "Running requests" : "Batch", text::Align::left}, {"draft tokens"}, {"speed-up over the range"}});
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        table.add({entry.batch_from == entry.batch_to ? std::to_string(entry.batch_from)
                                                      : fmt::format("{} to {}", entry.batch_from, entry.batch_to),
                   drafted_text(found.speculations, entry.speculation, entry.draft_tokens) + basis_text(entry.basis),
                   fmt::format("{} to {}", text::ratio_text(entry.speedup_from), text::ratio_text(entry.speedup_to))});
    }
    return table.text() +
           text::wrapped(fmt::format("Over the traffic this schedule reaches {}. {}",
                                     gain_text(schedule.gain, answer.input.workload.objective), schedule_text(schedule)) +
                             (schedule.steps.empty() ? "" : " " + steps_text(schedule)),
                         page_width) +
           "\n\n";
}

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
    return table.text() + (why.empty() ? "" : text::wrapped(why, page_width) + "\n") + "\n";
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
    if (found.flip_accept_length) {
        text += fmt::format("The first of them would do as well if the recommended drafter's accept length were {}.\n",
                            text::fixed_text(*found.flip_accept_length, 2));
    }
    return text + "\n";
}

/// What each device can do at its best, if there are several.
std::string devices(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const std::vector<sweeps::DeviceChoice> choices = sweeps::best_of_each_device(found);
    if (choices.size() < 2) {
        return "";
    }
    std::vector<text::Column> columns = {
        {"Device", text::Align::left}, {"its best", text::Align::left}, {"draft tokens"}, {"gain"}, {"TPOT"}};
    columns.insert(columns.end(), {{"tokens/s/device"}, {"$/M tokens"}, {"tokens/J"}, {"regret"}});
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
                   text::percent_text(c.regret)});
    }
    return table.text() + text::wrapped(device_sentence(answer.input.workload, found), page_width) + "\n\n";
}

std::string pareto(const sweeps::Recommendation& found) {
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
    return table.text() + (front.empty() ? "" : fmt::format("At context {}.\n", text::short_text(front.front().context))) +
           "\n";
}

std::string engine_table(const sweeps::Answer& answer, const std::vector<engines::Engine>& engines) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const auto indented = [](const std::string& lines, const std::string& indent) {
        std::string result;
        std::istringstream stream(lines);
        for (std::string line; std::getline(stream, line);) {
            result.append(indent).append(line).append("\n");
        }
        return result;
    };
    std::string text;
    for (const engines::EngineFlags& flags : engines::engine_flags(found, engines)) {
        text += flags.engine + "\n" + indented(engines::pasted(flags), "  ");
        text += flags.remark.empty() ? "" : "  " + text::wrapped("Note: " + flags.remark + ".", page_width - 2, "  ") + "\n";
    }
    return text.empty() ? "" : "To run it:\n" + text + "\n";
}

std::string uncertainty(const sweeps::Answer& answer) {
    if (!answer.interval) {
        return answer.rejected ? text::wrapped(rejected_text(*answer.rejected), page_width) + "\n\n" : "";
    }
    std::string text;
    for (const std::string& sentence :
         trust_sentences(*answer.interval, answer.trust ? &*answer.trust : nullptr, answer.input.workload.objective)) {
        text += text::wrapped(sentence, page_width) + "\n";
    }
    text += "\n";
    text::TextTable table({{"Uncertain input", text::Align::left}, {"gain from"}, {"to"}, {"range", text::Align::left}});
    for (const sweeps::Sensitivity& input : answer.interval->inputs) {
        table.add({input.input, text::ratio_text(input.low), text::ratio_text(input.high), input.range});
    }
    return text + table.text() + "\n";
}

}  // namespace

std::string recommendation_table(const sweeps::Answer& answer, const std::vector<engines::Engine>& engines) {
    std::string text = answer.input.title.empty() ? "" : text::wrapped(answer.input.title, page_width) + "\n\n";
    text += text::wrapped(sentence_of(answer), page_width) + "\n\n";
    if (answer.result.recommendation) {
        const sweeps::Recommendation& found = *answer.result.recommendation;
        text += configuration(answer) + averages(answer) + pool(answer);
        if (found.speculate) {
            text += schedule(answer);
        }
        text += devices(answer) + policies(found) + runners_up(answer) + pareto(found) + uncertainty(answer) +
                engine_table(answer, engines);
    }
    text += excluded(answer);
    text += "Inputs: " + provenance_summary(answer.input.provenance) + "; --format json lists each with its source.\n";
    for (const std::string& note : answer.input.notes) {
        text += text::wrapped("Note: " + note + ".", page_width, "  ") + "\n";
    }
    for (const std::string& note : answer.input.target.model.notes) {
        text += text::wrapped("Note: " + note, page_width, "  ") + "\n";
    }
    return text;
}

}  // namespace treeline::reports
