#include "reports/report_data.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/device_figures.h"
#include "reports/objective_text.h"
#include "reports/policy_figures.h"
#include "reports/report_parts.h"
#include "reports/tree_search_figures.h"
#include "reports/trust_text.h"
#include "sweeps/uncertainty.h"
#include "text/number_text.h"
#include "text/precision_text.h"
#include "text/steady_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const sweeps::Candidate& best_of(const sweeps::Recommendation& recommendation) { return recommendation.candidates.front(); }

const sweeps::Variant& best_variant(const sweeps::Recommendation& recommendation) {
    return recommendation.variants[best_of(recommendation).variant];
}

std::string draft_text(const sweeps::Recommendation& recommendation) {
    const sweeps::Candidate& candidate = best_of(recommendation);
    const sweeps::Variant& variant = best_variant(recommendation);
    if (candidate.draft_tokens == 0) {
        return "none: plain decoding";
    }
    const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate.speculation)];
    return sim::is_chain(speculation)
               ? fmt::format("{}, chain of {}", variant.labels.drafter, candidate.draft_tokens)
               : fmt::format("{}, {}: a tree of {} nodes", variant.labels.drafter, speculation.label, candidate.draft_tokens);
}

std::string verification_text(const sweeps::Recommendation& recommendation) {
    const sim::Speculation& speculation =
        recommendation.speculations[static_cast<std::size_t>(best_of(recommendation).speculation)];
    if (speculation.verification == sim::Verification::packed) {
        return "packed: one sequence for the whole tree";
    }
    const std::string rows = sim::is_chain(speculation) ? "one pass over the chain" : "unrolled: one sequence per leaf";
    return speculation.verification == sim::Verification::unrolled ? rows : rows + ", chunk scan";
}

Json configuration_of(const ReportInputs& inputs) {
    const sweeps::Recommendation& recommendation = inputs.recommendation;
    const sweeps::Candidate& best = best_of(recommendation);
    const sweeps::Variant& variant = best_variant(recommendation);
    Json list = Json::array();
    const auto add = [&list](const char* name, const std::string& value) {
        list.push_back({{"name", name}, {"value", value}});
    };
    add("Target", variant.labels.target);
    const bool accelerated = variant.setup.platform.accelerator.has_value();  // computes in formats of its own
    add("Precision",
        accelerated ? variant.labels.precision : text::text_of(variant.setup.precision, variant.setup.platform.device));
    add("Drafter", draft_text(recommendation));
    if (recommendation.speculate && best.variant < inputs.acceptance.size()) {
        const AcceptanceNote& note = inputs.acceptance[best.variant];
        add("Acceptance", note.source.empty() ? note.text : note.text + " (" + note.source + ")");
        add("Verification", verification_text(recommendation));
        add("Rollback", variant.labels.rollback);
    }
    add("Device", variant.labels.platform());
    add("Stack", variant.labels.stack);
    add("Cost mode", variant.labels.mode);
    if (inputs.workload.traffic.kind != sweeps::LoadKind::batch) {
        add("Load", load_text(inputs.workload.traffic));
    }
    if (sweeps::largest_batch_of(recommendation.settled) > 1.0) {
        add("Prompts", text::steady_text(variant.setup));
    }
    add("Chosen for", goal_text(inputs.workload.objective));
    return list;
}

Json metrics_of(const sweeps::Candidate& best, const ShownInterval& interval, const sweeps::Workload& workload) {
    Json metrics = Json::array();
    const auto add = [&metrics](const char* name, double value, const char* unit, const char* note) {
        metrics.push_back({{"name", name}, {"value", value}, {"unit", unit}, {"note", note}});
    };
    const bool of_time = workload.objective == sweeps::Objective::latency;
    metrics.push_back({{"name", of_time ? "Speed-up" : "Gain"},
                       {"value", best.gain},
                       {"low", interval.low},
                       {"high", interval.high},
                       {"unit", "x"},
                       {"note", of_time ? "against plain decoding"
                                        : fmt::format("in {}, against plain decoding", quantity_text(workload.objective))}});
    // With shares of time a device generates tokens as fast as the mean TPOT falls: one number.
    if (!of_time &&
        !(workload.objective == sweeps::Objective::throughput && workload.traffic.shares_of == sweeps::ShareOf::time)) {
        add("Speed-up", best.speedup, "x", "in time per token");
    }
    add("TPOT", best.time_per_token.value() * 1e3, "ms", "mean over tokens");
    const bool loaded = workload.traffic.kind != sweeps::LoadKind::batch;
    add("TTFT", best.time_to_first_token.value() * 1e3, "ms", loaded ? "waiting included" : "one prompt, read alone");
    if (loaded) {
        add("In service", best.in_service, "requests", "mean over time");
        if (best.queued > 0.0) {
            add("Waiting", best.queued, "requests", "for a place in memory or in a step");
        }
        add("Prompts", 100.0 * (1.0 - best.decode_share_device), "%", "of device time");
    }
    add("Each user", best.tokens_per_second_user, "tokens/s", "");
    add("Each device", best.tokens_per_second_device, "tokens/s", "");
    add("Peak memory", best.peak_memory.value() / 1e9, "GB", "per device");
    if (best.energy_per_token > Joules(0.0)) {
        add("Energy", best.energy_per_token.value(), "J", "per accepted token");
    }
    if (best.price_per_token > Dollars(0.0)) {
        add("Price", best.price_per_token.value() * 1e6, "USD", "per million tokens");
    }
    if (best.draft_tokens > 0) {
        add("Wasted drafts", best.wasted_draft_share * 100.0, "%", "of drafted tokens");
    }
    return metrics;
}

Json commands_of(const sweeps::Recommendation& recommendation, const std::vector<engines::Engine>& engines) {
    Json commands = Json::array();
    for (const engines::EngineFlags& flags : engines::engine_flags(recommendation, engines)) {
        if (!flags.text.empty()) {
            commands.push_back({{"engine", flags.engine}, {"remark", flags.remark}, {"text", engines::pasted(flags)}});
        }
    }
    return commands;
}

Json uncertainty_of(const sweeps::GainInterval& interval, const sweeps::Trust* trust,
                    const sweeps::Recommendation& recommendation, sweeps::Objective objective) {
    Json inputs = Json::array();
    for (const sweeps::Sensitivity& input : interval.inputs) {
        inputs.push_back({{"name", input.input}, {"low", input.low}, {"high", input.high}, {"assumed", input.range}});
    }
    std::string sentence;
    for (const std::string& each : trust_sentences(interval, trust, objective)) {
        sentence += (sentence.empty() ? "" : " ") + each;
    }
    sentence += fmt::format(" Of the inputs, {} and {} matter most.", interval.inputs[0].input, interval.inputs[1].input);
    if (recommendation.flip_accept_length) {
        sentence += fmt::format(" Below an accept length of {:.2f} (expected: {:.2f}) the runner-up is the better choice.",
                                *recommendation.flip_accept_length, best_of(recommendation).accept_length);
    }
    return {{"sentence", sentence}, {"quantity", quantity_text(objective)}, {"inputs", inputs}};
}

Json provenance_of(const std::vector<text::Provenance>& provenance) {
    Json inputs = Json::array();
    std::set<std::string> seen;
    for (const text::Provenance& entry : provenance) {
        if (seen.insert(entry.path).second) {
            inputs.push_back({{"name", entry.path}, {"value", entry.text}, {"source", entry.source}, {"kind", entry.kind}});
        }
    }
    return inputs;
}

/// " in the tree sglang 5,4,32", or nothing for a chain.
std::string in_a_tree(const sweeps::Recommendation& recommendation) {
    const sim::Speculation& speculation =
        recommendation.speculations[static_cast<std::size_t>(best_of(recommendation).speculation)];
    return sim::is_chain(speculation) ? "" : " in the tree " + speculation.label;
}

/// The best trees of the recommended drafter, if the acceptance of siblings is known and trees can be verified.
std::optional<FigureSection> tree_section(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    const sweeps::Variant& variant = best_variant(recommendation);
    if (!recommendation.speculate || variant.setup.acceptance.siblings.ranks() < 2) {
        return std::nullopt;
    }
    sweeps::TreeSearch search;
    for (const std::size_t index : sweeps::variants_by_rollback(recommendation)) {
        search.rollbacks.push_back(recommendation.variants[index].setup.rollback);
    }
    for (double batch = 1.0; batch <= 256.0; batch *= 2.0) {
        search.batches.push_back(batch);
    }
    search.context = sweeps::typical_point(workload.traffic).context;
    try {
        FigureSection section =
            best_tree_section(sweeps::search_trees(variant.setup, search),
                              fmt::format("{} with {} on {}, context {:.0f}", variant.labels.target, variant.labels.drafter,
                                          variant.labels.platform(), search.context));
        section.text += fmt::format(
            " The recommendation ({}) is the best of the shapes that the workload lists, over all of its traffic; here every "
            "tree is allowed, and each batch is considered alone.",
            text_of(recommendation.speculations[static_cast<std::size_t>(best_of(recommendation).speculation)]));
        return section;
    } catch (const std::invalid_argument&) {  // the stack verifies chains only
        return std::nullopt;
    }
}

Json sections_of(const ReportInputs& inputs, const sweeps::Workload& workload) {
    const sweeps::Recommendation& recommendation = inputs.recommendation;
    Json sections = Json::array();
    if (const std::optional<FigureSection> devices = device_section(workload, recommendation)) {
        sections.push_back(section_json(*devices));
    }
    if (const FigureSection policies = policy_section(workload, recommendation); !policies.figures.empty()) {
        sections.push_back(section_json(policies));
    }
    if (const std::optional<FigureSection> trees = tree_section(workload, recommendation)) {
        sections.push_back(section_json(*trees));
    }
    for (const FigureSection& study : inputs.studies) {
        sections.push_back(section_json(study));
    }
    return sections;
}

/// The answer to a workload without drafters.
std::string plain_sentence(const sweeps::Workload& workload, const sweeps::Candidate& best, const std::string& where) {
    const bool loaded = workload.traffic.kind != sweeps::LoadKind::batch;
    std::string sentence = fmt::format(
        "{} without a drafter generates {} tokens/s per device over this traffic, {} per token; the first token comes after {}",
        where, text::short_text(best.tokens_per_second_device), text_of(best.time_per_token),
        text_of(best.time_to_first_token));
    if (loaded && best.queued >= 0.5) {
        sentence += fmt::format(", and {:.0f} requests wait", best.queued);
    }
    return sentence + ".";
}

}  // namespace

std::string answer_sentence(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation) {
    const sweeps::Candidate& best = best_of(recommendation);
    const sweeps::Variant& variant = best_variant(recommendation);
    const std::string where = fmt::format("{} on {}", variant.labels.target, variant.labels.platform());
    if (const auto& all = recommendation.variants;
        std::all_of(all.begin(), all.end(), [](const sweeps::Variant& each) { return each.plain(); })) {
        return plain_sentence(workload, best, where);
    }
    if (!recommendation.speculate) {
        return fmt::format("Run {} without speculation: no drafter gains {} or more within the limits.", where,
                           text::ratio_text(workload.limits.minimum_gain));
    }
    const sweeps::Objective objective = workload.objective;
    const sweeps::Candidate& plain = recommendation.plain;
    std::string sentence =
        fmt::format("Run {} with {} drafting {} token{}{}: {} over this traffic, {} instead of {}", where,
                    variant.labels.drafter, best.draft_tokens, best.draft_tokens > 1 ? "s" : "", in_a_tree(recommendation),
                    gain_text(best.gain, objective), figure_text(best, objective), objective_cell(plain, objective));
    sentence += objective == sweeps::Objective::latency
                    ? "."
                    : fmt::format("; {} per token instead of {}.", text_of(best.time_per_token), text_of(plain.time_per_token));
    if (best.basis == sim::AcceptanceBasis::extrapolated) {
        sentence += fmt::format(" Acceptance was measured only up to position {}; beyond that it is extrapolated.",
                                variant.setup.acceptance.chain.measured_positions());
    } else if (best.basis == sim::AcceptanceBasis::upper_bound) {
        sentence += " Its accept length is an upper bound: the chains are assumed independent.";
    }
    return sentence + " " + schedule_text(recommendation.schedule);
}

Json report_data(const ReportInputs& inputs) {
    const sweeps::Recommendation& recommendation = inputs.recommendation;
    const sweeps::Candidate& best = best_of(recommendation);
    const sweeps::Variant& variant = best_variant(recommendation);
    const sim::CompiledRound round = sim::compile_round(variant.setup);
    const sweeps::Objective objective = inputs.workload.objective;
    const sweeps::GainInterval interval =
        sweeps::gain_interval(variant.setup, best.speculation, inputs.workload.traffic, objective);
    sweeps::Workload workload = inputs.workload;
    workload.traffic = recommendation.settled;  // charts are drawn over batches

    Json data = {{"format", "treeline-report"}, {"version", 1}};
    data["title"] = inputs.workload.title;
    data["subtitle"] =
        fmt::format("{}, {} mode, {}", variant.labels.target, variant.labels.mode, goal_text(inputs.workload.objective));
    data["generator"] = "treeline " TREELINE_VERSION;
    data["summary"] = {{"sentence", answer_sentence(inputs.workload, recommendation)},
                       {"configuration", configuration_of(inputs)},
                       {"metrics", metrics_of(best, shown_interval(interval, inputs.trust), inputs.workload)},
                       {"accept_length", best.accept_length},
                       {"break_even_accept_length", best.break_even_accept_length},
                       {"commands", commands_of(recommendation, inputs.engines)}};
    data["summary"]["note"] = traffic_text(inputs.workload.traffic);
    data["schedule_sentence"] = schedule_text(recommendation.schedule) +
                                (recommendation.schedule.steps.empty() ? "" : " " + steps_text(recommendation.schedule));
    data["traffic"] = traffic_rows(workload.traffic);
    data["schedule"] = schedule_rows(recommendation);
    data["heatmap"] = {{"rows", heatmap_rows(round, workload, recommendation)}};
    data["by_draft_length"] = draft_length_rows(workload, recommendation);
    data["sections"] = sections_of(inputs, workload);
    data["round"] = round_rows(round, workload, best);
    data["roofline"] = roofline_data(round, variant.setup, workload, best);
    data["pareto"] = pareto_rows(recommendation);
    data["memory"] = memory_data(round, workload, best);
    data["uncertainty"] = uncertainty_of(interval, inputs.trust, recommendation, objective);
    data["candidates"] = candidate_table(inputs.workload, recommendation);
    data["excluded"] = Json::array();
    for (const sweeps::Exclusion& exclusion : recommendation.excluded) {
        data["excluded"].push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    data["inputs"] = provenance_of(inputs.provenance);
    data["notes"] = inputs.notes;
    return data;
}

}  // namespace treeline::reports
