// What stands behind the first screen: the sections of --explain.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/engine_habits.h"
#include "reports/explain.h"
#include "reports/measured_loads_text.h"
#include "reports/objective_text.h"
#include "reports/passes_text.h"
#include "reports/prefill_pool.h"
#include "reports/provenance_output.h"
#include "reports/recommend/engines_output.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/recommend/recommendation_sections.h"
#include "reports/shape_text.h"
#include "reports/trust_text.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string configuration(const sweeps::Answer& answer) {
    text::FactList facts;
    for (const auto& [name, value] : configuration_of(answer)) {
        facts.add(name, text::wrapped(value, screen_width - 17, "                 "));
    }
    return facts.text();
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
    return text::wrapped(prefill_pool_sentence(share, devices), screen_width) + "\n";
}

/// The recommended configuration at each load of the traffic.
std::string each_load(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    const sim::CompiledRound compiled = sim::compile_round(found.variants[best.variant].setup);
    const sweeps::StartedRound server = sweeps::server_of(compiled, best.plan);
    const sim::CompiledRound& round = server.get();
    const bool batches = found.traffic.kind == sweeps::LoadKind::batch;
    text::TextTable table({{batches                                               ? "Batch"
                            : found.traffic.kind == sweeps::LoadKind::concurrency ? "In flight"
                                                                                  : "Requests/s"},
                           {"context"},
                           {"share"},
                           {"draft tokens"},
                           {"in service"},
                           {"waiting"},
                           {"TPOT"},
                           {"TTFT"}});
    for (std::size_t i = 0; i < found.traffic.points.size(); ++i) {
        const sweeps::TrafficPoint& point = found.traffic.points[i];
        const int speculation = best.plan.at(i);
        const sweeps::SettledLoad settled = sweeps::settle(round, speculation, found.traffic.kind, point);
        const sim::RoundEstimate served = sweeps::under_load(round, speculation, {found.traffic.kind, point.load}, settled,
                                                             sim::evaluate(round, {speculation, settled.batch, point.context}));
        table.add({text::short_text(point.load), text::short_text(point.context), text::percent_text(point.share),
                   speculation <= 0 ? "off" : drafted_text(found.speculations, speculation, best.draft_tokens),
                   text::fixed_text(settled.batch, 1), text::fixed_text(settled.queued, 1), text_of(served.time_per_token),
                   sweeps::waits_for_ever(found, best) ? "grows"
                   : served.first_token > Seconds(0.0) ? text_of(served.first_token)
                                                       : ""});
    }
    for (const sweeps::UnservedLoad& load : found.unserved) {
        table.add({text::short_text(load.point.load), text::short_text(load.point.context), "", "not served"});
    }
    return table.text();
}

/// Every figure over the load, and what the schedule does at each batch.
std::string loads(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Candidate& best = found.candidates.front();
    const sim::Device& device = sweeps::recommended_variant(answer).setup.platform.device;
    const bool steady = sweeps::recommended_variant(answer).setup.output_tokens > 0.0;
    text::TextTable table({{"Mean over the load", text::Align::left}, {"plain"}, {"recommended"}});
    const auto add = [&](const char* name, auto value_of) { table.add({name, value_of(found.plain), value_of(best)}); };
    const sweeps::Objective objective = answer.input.workload.objective;
    if (objective != sweeps::Objective::latency) {
        add(("Gain in " + quantity_text(objective)).c_str(),
            [](const sweeps::Candidate& c) { return text::ratio_text(c.gain); });
    }
    add("Speed-up (TPOT)", [](const sweeps::Candidate& c) { return text::ratio_text(c.speedup); });
    add("Time per token (TPOT)", [](const sweeps::Candidate& c) { return text_of(c.time_per_token); });
    add("Slowest TPOT", [](const sweeps::Candidate& c) { return text_of(c.worst_time_per_token); });
    add("Time to first token (TTFT)", [&](const sweeps::Candidate& c) { return first_token_text(found, c); });
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
        add("Requests waiting", [&](const sweeps::Candidate& c) {
            return sweeps::waits_for_ever(found, c) ? "grows" : text::fixed_text(c.queued, 1);
        });
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
    const std::string steps = found.speculate ? steps_text(found.schedule) : "";
    return table.text() + text::wrapped(traffic_text(answer.input.workload.traffic), screen_width) + "\n" + pool(answer) +
           "\n" + each_load(found) + (steps.empty() ? "" : text::wrapped(steps, screen_width) + "\n");
}

std::string engine(const sweeps::Answer& answer) {
    const sweeps::Recommendation& recommendation = *answer.result.recommendation;
    return flags_text(recommendation) + "\n" +
           engine_habits_text(recommendation.variants[recommendation.candidates.front().variant].setup);
}

/// Which loads of the traffic were measured, where those of a deployment were.
std::string measured_loads(const sweeps::Recommendation& recommendation) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    const sim::RoundSetup& setup = recommendation.variants[best.variant].setup;
    if (sim::measured_loads_of(setup).loads.empty()) {
        const std::string other = other_deployment_text(setup);
        return other.empty() ? "" : text::wrapped(other, screen_width) + "\n";
    }
    const sim::CompiledRound round = sim::compile_round(setup);
    std::string text;
    for (const sweeps::TrafficPoint& point : recommendation.settled.points) {
        text += text::wrapped(fmt::format("At batch {:g}, {}.", point.load,
                                          measured_load_text(setup, round, {best.speculation, point.load, point.context})),
                              screen_width) +
                "\n";
    }
    return text;
}

std::string trust(const sweeps::Answer& answer) {
    if (!answer.interval) {
        std::string text;
        for (const std::string& sentence : {answer.rejected ? rejected_text(*answer.rejected) : "", plain_time_text(answer)}) {
            text += sentence.empty() ? "" : text::wrapped(sentence, screen_width) + "\n";
        }
        return text;
    }
    std::string text;
    for (const std::string& sentence :
         trust_sentences(*answer.interval, answer.trust ? &*answer.trust : nullptr, answer.input.workload.objective)) {
        text += text::wrapped(sentence, screen_width) + "\n";
    }
    return text + measured_loads(*answer.result.recommendation);
}

std::string sensitivity(const sweeps::Answer& answer) {
    if (!answer.interval) {
        return "";
    }
    text::TextTable table({{"Uncertain input", text::Align::left}, {"gain from"}, {"to"}, {"range", text::Align::left}});
    for (const sweeps::Sensitivity& input : answer.interval->inputs) {
        table.add({input.input, text::ratio_text(input.low), text::ratio_text(input.high), input.range});
    }
    return table.text();
}

/// The recommended configuration, priced at one point of the load.
struct PricedPoint {
    sim::CompiledRound round;
    sim::DesignPoint point;
};

PricedPoint priced_at(const sweeps::Answer& answer, const sweeps::TrafficPoint& traffic) {
    const sweeps::Candidate& best = answer.result.recommendation->candidates.front();
    return {sim::compile_round(sweeps::recommended_variant(answer).setup), {best.speculation, traffic.load, traffic.context}};
}

std::string where_text(const sim::DesignPoint& point) {
    return fmt::format("At batch {} and context {}:\n", text::short_text(point.batch), text::short_text(point.context));
}

std::string operations(const sweeps::Answer& answer) {
    const PricedPoint at = priced_at(answer, sweeps::typical_point(answer.result.recommendation->settled));
    const bool speculates = answer.result.recommendation->speculate;
    return where_text(at.point) +
           phases_text(sim::evaluate(at.round, at.point), speculates, host_of_plain_step(at.round, at.point)) + "\n" +
           operations_text(sim::explain(at.round, at.point));
}

/// At the point of the load that needs most.
std::string memory(const sweeps::Answer& answer) {
    const sweeps::Traffic& settled = answer.result.recommendation->settled;
    PricedPoint most = priced_at(answer, settled.points.front());
    for (const sweeps::TrafficPoint& traffic : settled.points) {
        const sim::DesignPoint point = {most.point.speculation, traffic.load, traffic.context};
        if (sim::evaluate(most.round, point).memory > sim::evaluate(most.round, most.point).memory) {
            most.point = point;
        }
    }
    return where_text(most.point) + memory_text(sim::memory_parts(most.round, most.point), most.round.memory.capacity) +
           largest_batches_text(*answer.result.recommendation) + "\n";
}

std::string inputs(const sweeps::Answer& answer) {
    std::string text = answer.result.recommendation ? configuration(answer) + "\n" : "";
    text += "Inputs: " + provenance_summary(answer.input.provenance) + ".\n" + provenance_table(answer.input.provenance);
    for (const std::string& note : answer.input.notes) {
        text += text::wrapped("Note: " + note + ".", screen_width, "  ") + "\n";
    }
    for (const std::string& note : answer.input.target.model.notes) {
        text += text::wrapped("Note: " + note, screen_width, "  ") + "\n";
    }
    return text;
}

struct Section {
    const char* name;
    std::string (*text)(const sweeps::Answer& answer);
};

const std::vector<Section>& sections() {
    static const std::vector<Section> all = {{"candidates", candidates_section},
                                             {"pareto", pareto_section},
                                             {"sensitivity", sensitivity},
                                             {"trust", trust},
                                             {"loads", loads},
                                             {"memory", memory},
                                             {"operations", operations},
                                             {"devices", devices_section},
                                             {"engine", engine},
                                             {"inputs", inputs}};
    return all;
}

}  // namespace

std::vector<std::string> recommendation_sections() {
    std::vector<std::string> names;
    for (const Section& section : sections()) {
        names.emplace_back(section.name);
    }
    return names;
}

std::string recommendation_section(const sweeps::Answer& answer, const std::string& name) {
    if (!answer.result.recommendation) {
        return name == "candidates" ? excluded_text(answer) : name == "inputs" ? inputs(answer) : "";
    }
    return std::find_if(sections().begin(), sections().end(), [&](const Section& each) { return each.name == name; })
        ->text(answer);
}

std::string recommendation_table(const sweeps::Answer& answer, const Explain& explain) {
    return explained_answer(explain, recommendation_sections(), first_screen(answer),
                            text::wrapped(sentence_of(answer), screen_width) + "\n",
                            [&](const std::string& name) { return recommendation_section(answer, name); });
}

}  // namespace treeline::reports
