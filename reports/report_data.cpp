#include "reports/report_data.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/device_figures.h"
#include "reports/objective_text.h"
#include "reports/policy_figures.h"
#include "reports/recommend/recommendation_output.h"
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
    const sim::Stack& stack = variant.setup.platform.stack;
    add("Stack", stack.title.empty() ? variant.labels.stack : stack.title);
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

/// One figure of the recommendation, with that of the server without a drafter where there is one.
class Metrics {
public:
    explicit Metrics(const sweeps::Recommendation& found)
        : best_(best_of(found)), plain_(found.speculate ? &found.plain : nullptr) {}

    template <class ValueOf>
    void add(const char* name, ValueOf value_of, const char* unit, const char* note = "") {
        list.push_back({{"name", name}, {"value", value_of(best_)}, {"unit", unit}, {"note", note}});
        if (plain_ != nullptr) {
            list.back()["plain"] = value_of(*plain_);
        }
    }

    /// The interval of the figure that was added last.
    void between(double low, double high) {
        list.back()["low"] = low;
        list.back()["high"] = high;
    }

    /// Of the figure that was added last.
    void leave_out_plain_if(bool unknown) {
        if (unknown) {
            list.back().erase("plain");
        }
    }

    Json list = Json::array();

private:
    const sweeps::Candidate& best_;
    const sweeps::Candidate* plain_;
};

/// What the answer shows at once.
Json metrics_of(const ReportInputs& inputs, const ShownInterval& interval) {
    using sweeps::Candidate;
    const sweeps::Recommendation& found = inputs.recommendation;
    const bool of_time = inputs.workload.objective == sweeps::Objective::latency;
    const bool loaded = inputs.workload.traffic.kind != sweeps::LoadKind::batch;
    const bool steady = !found.saturation;
    Metrics metrics(found);
    if (found.speculate) {  // plain decoding gains nothing over itself
        metrics.list.push_back({{"name", of_time ? "Speed-up" : "Gain"},
                                {"value", best_of(found).gain},
                                {"unit", "x"},
                                {"note", of_time ? "" : "in " + quantity_text(inputs.workload.objective)}});
        metrics.between(interval.low, interval.high);
    }
    metrics.add(
        "Each device", [](const Candidate& c) { return c.tokens_per_second_device; }, "tokens/s");
    metrics.add(
        "TPOT", [](const Candidate& c) { return 1e3 * c.time_per_token.value(); }, "ms");
    if (inputs.plain_time != nullptr) {
        const double milliseconds = 1e3 * best_of(found).time_per_token.value();
        metrics.between(inputs.plain_time->low * milliseconds, inputs.plain_time->high * milliseconds);
    }
    if (steady) {
        const bool long_wait = best_of(found).time_to_first_token >= Seconds(10.0);
        const double per_second = long_wait ? 1.0 : 1e3;
        metrics.add(
            "TTFT", [&](const Candidate& c) { return per_second * c.time_to_first_token.value(); }, long_wait ? "s" : "ms",
            loaded ? "" : "one prompt, read alone");
        metrics.leave_out_plain_if(found.plain.overrun);
    }
    if (loaded && steady) {
        metrics.add(
            "Waiting", [](const Candidate& c) { return c.queued; }, "requests");
        metrics.leave_out_plain_if(found.plain.overrun);
    }
    const std::string cut = other_cut_text(found);
    metrics.list.push_back({{"name", "Largest batch"},
                            {"value", std::floor(found.speculate ? found.capacity.drafting : found.capacity.compared)},
                            {"unit", ""},
                            {"note", fmt::format("at context {}{}{}", text::short_text(found.capacity.context),
                                                 found.speculate ? ", while drafting" : "",
                                                 cut.empty() ? "" : "; plain decoding runs on another cut: " + cut)}});
    if (found.speculate) {
        metrics.list.back()["plain"] = std::floor(found.capacity.compared);
    }
    if (best_of(found).price_per_token > Dollars(0.0)) {
        metrics.add(
            "Million tokens", [](const Candidate& c) { return 1e6 * c.price_per_token.value(); }, "USD");
    }
    return metrics.list;
}

/// The other figures.
Json further_metrics(const ReportInputs& inputs) {
    using sweeps::Candidate;
    const sweeps::Candidate& best = best_of(inputs.recommendation);
    Metrics metrics(inputs.recommendation);
    if (inputs.workload.objective != sweeps::Objective::latency) {
        metrics.add(
            "Speed-up", [](const Candidate& c) { return c.speedup; }, "x", "in time per token");
    }
    metrics.add(
        "Each user", [](const Candidate& c) { return c.tokens_per_second_user; }, "tokens/s");
    if (inputs.workload.traffic.kind != sweeps::LoadKind::batch) {
        metrics.add(
            "In service", [](const Candidate& c) { return c.in_service; }, "requests");
        metrics.add(
            "Prompts", [](const Candidate& c) { return 100.0 * (1.0 - c.decode_share_device); }, "%", "of device time");
    }
    metrics.add(
        "Peak memory", [](const Candidate& c) { return 1e-9 * c.peak_memory.value(); }, "GB", "per device");
    if (best.energy_per_token > Joules(0.0)) {
        metrics.add(
            "Energy", [](const Candidate& c) { return c.energy_per_token.value(); }, "J", "per accepted token");
    }
    if (best.draft_tokens > 0) {
        metrics.add(
            "Wasted drafts", [](const Candidate& c) { return 100.0 * c.wasted_draft_share; }, "%");
    }
    return metrics.list;
}

/// Flags of the engine that was priced, then those of others; an engine that cannot run it says why.
Json commands_of(const sweeps::Recommendation& recommendation, const std::vector<engines::EngineFlags>& others) {
    Json commands = Json::array();
    const auto add = [&](const engines::EngineFlags& flags) {
        commands.push_back(
            {{"engine", flags.engine}, {"remark", flags.remark}, {"text", flags.text.empty() ? "" : engines::pasted(flags)}});
    };
    if (const std::optional<engines::EngineFlags> own = engines::engine_flags(recommendation)) {
        add(*own);
    }
    std::for_each(others.begin(), others.end(), add);
    return commands;
}

Json uncertainty_of(const sweeps::GainInterval& interval, const sweeps::Trust* trust,
                    const sweeps::Recommendation& recommendation, sweeps::Objective objective) {
    Json inputs = Json::array();
    for (const sweeps::Sensitivity& input : interval.inputs) {
        inputs.push_back({{"name", input.input}, {"low", input.low}, {"high", input.high}, {"assumed", input.range}});
    }
    std::string sentence;  // the interval itself stands at the top
    const std::vector<std::string> sentences = trust_sentences(interval, trust, objective);
    for (std::size_t i = 1; i < sentences.size(); ++i) {
        sentence += (sentence.empty() ? "" : " ") + sentences[i];
    }
    sentence += fmt::format(" Of the inputs, {} and {} matter most.", interval.inputs[0].input, interval.inputs[1].input);
    if (recommendation.flip) {
        sentence += " " + flip_text(recommendation);
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

}  // namespace

Json report_data(const ReportInputs& inputs) {
    const sweeps::Recommendation& recommendation = inputs.recommendation;
    const sweeps::Candidate& best = best_of(recommendation);
    const sweeps::Variant& variant = best_variant(recommendation);
    const sim::CompiledRound round = sim::compile_round(variant.setup);
    const sweeps::Objective objective = inputs.workload.objective;
    const sweeps::GainInterval interval = sweeps::gain_interval(variant.setup, best.plan, inputs.workload.traffic, objective);
    sweeps::Workload workload = inputs.workload;
    workload.traffic = recommendation.settled;  // charts are drawn over batches

    Json data = {{"format", "treeline-report"}, {"version", 1}};
    data["title"] = inputs.workload.title;
    data["subtitle"] =
        fmt::format("{}, {} mode, {}", variant.labels.target, variant.labels.mode, goal_text(inputs.workload.objective));
    data["generator"] = "treeline " TREELINE_VERSION;
    data["summary"] = {{"sentence", inputs.sentence},
                       {"configuration", configuration_of(inputs)},
                       {"metrics", metrics_of(inputs, shown_interval(interval, inputs.trust))},
                       {"further", further_metrics(inputs)},
                       {"accept_length", best.accept_length},
                       {"break_even_accept_length", best.break_even_accept_length},
                       {"commands", commands_of(recommendation, inputs.others)}};
    if (recommendation.speculate) {
        data["summary"]["sure"] = gain_sentence(interval, inputs.trust, objective);
    }
    data["summary"]["note"] = traffic_text(inputs.workload.traffic);
    data["schedule_sentence"] = schedule_text(recommendation.schedule, recommendation.capacity) +
                                (recommendation.schedule.steps.empty() ? "" : " " + steps_text(recommendation.schedule));
    data["traffic"] = traffic_rows(workload.traffic);
    data["schedule"] = schedule_rows(recommendation);
    data["heatmap"] = {{"rows", heatmap_rows(round, workload, recommendation)}};
    data["by_draft_length"] = draft_length_rows(workload, recommendation);
    data["sections"] = sections_of(inputs, workload);
    data["round"] = round_rows(round, workload, best);
    data["roofline"] = roofline_data(round, variant, workload, best);
    data["pareto"] = pareto_rows(recommendation);
    data["memory"] = memory_data(round, workload, best);
    data["memory"]["sentence"] = largest_batches_text(recommendation);
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
