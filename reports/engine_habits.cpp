#include "reports/engine_habits.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/capabilities.h"
#include "engines/priced_engine.h"
#include "engines/request_limits.h"
#include "engines/round_habits.h"
#include "sim/rollback/rollback.h"
#include "sim/round_host.h"
#include "sim/stack_effects.h"
#include "sim/stack_parameters.h"
#include "sim/state_groups.h"
#include "sim/traits.h"
#include "text/table.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

struct Habit {
    std::string what, how, because;
};

std::string with_other(const std::string& because, const std::string& otherwise) {
    return otherwise.empty() ? because : fmt::format("{}; otherwise with {}", because, otherwise);
}

/// Whether drafts differ in length from one sequence to the next.
bool drafts_differ(const sim::RoundSetup& setup) {
    const sim::DrafterPlan plan = sim::plan(setup.drafter, setup.target, setup.precision);
    return plan.hit_rate < 1.0 || plan.mean_draft > 0.0;
}

/// What one says of an engine whose documents say it; `unknown` gets what they do not.
void add(const std::string& what, const engines::EngineHabit& habit, std::vector<Habit>& habits,
         std::vector<std::string>& unknown) {
    if (habit.how.empty()) {
        unknown.push_back(what);
    } else {
        habits.push_back({what, habit.how, with_other(habit.because, habit.otherwise)});
    }
}

constexpr const char* graph_of_verification = "graph of a verification";

void add_graph(const sim::RoundSetup& setup, const sim::VerificationRule* rule, const engines::EngineHabit& known,
               std::vector<Habit>& habits, std::vector<std::string>& unknown) {
    if (rule != nullptr && rule->in_pieces) {
        habits.push_back(
            {graph_of_verification, "in pieces",
             with_other("between pieces the host launches the attention of each layer; the pass takes the longer of "
                        "host and device",
                        rule->otherwise)});
    } else if (known.how == "whole" && drafts_differ(setup)) {
        habits.push_back({graph_of_verification, "whole where all drafts are as long",
                          with_other("the engine runs other steps in pieces, which is not priced", known.otherwise)});
    } else {
        add(graph_of_verification, known, habits, unknown);
    }
}

void add_verification(const sim::RoundSetup& setup, const engines::EngineHabits& known, std::vector<Habit>& habits,
                      std::vector<std::string>& unknown) {
    const sim::Stack& stack = setup.platform.stack;
    const sim::VerificationRule* rule =
        sim::has_attention_of_heads(setup.target)
            ? sim::rule_for(stack.picked.verification_rules, setup.platform.device, setup.precision)
            : nullptr;
    if (!stack.picked.attention_kernels.name.empty()) {
        habits.push_back({"attention", stack.picked.attention_kernels.title, "asked for"});
    } else if (rule != nullptr) {
        habits.push_back({"attention", rule->backend,
                          with_other(rule->because, rule->otherwise.empty() ? known.attention.otherwise : rule->otherwise)});
    } else if (sim::attends(setup.target)) {
        add("attention", known.attention, habits, unknown);
    }
    add_graph(setup, rule, known.graph, habits, unknown);
}

/// How the passes of the drafter are launched.
void add_drafting(const sim::RoundSetup& setup, const engines::EngineHabit& known, std::vector<Habit>& habits,
                  std::vector<std::string>& unknown) {
    const Seconds layer = setup.platform.stack.passes.host_per_draft_layer;
    const double speed = setup.platform.device.host_speed;
    if (std::holds_alternative<sim::NoDrafter>(setup.drafter)) {
        return;
    }
    if (std::holds_alternative<sim::IndependentDrafter>(setup.drafter) && layer > Seconds(0.0)) {
        habits.push_back({"passes of the draft model", "launched layer by layer",
                          fmt::format("no graph holds such a pass: it takes the longer of the device and {:.0f} us of the host "
                                      "for each layer",
                                      1e6 * (layer / speed).value())});
        return;
    }
    add("drafting", known, habits, unknown);
}

void add_power_limit(const sim::Device& device, std::vector<Habit>& habits) {
    if (device.power_limit > Watts(0.0)) {
        habits.push_back(
            {"power", fmt::format("limited to {:.0f} W", device.power_limit.value()),
             "clocks of the compute units fall, that of the memory stays: verification loses more than plain steps"});
    }
}

/// Verified tokens that the drafter reads in a pass of its own.
void add_reading(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    const sim::DrafterPlan plan = sim::plan(setup.drafter, setup.target, setup.precision);
    if (stack.drafts.drafter_reads_round && plan.catch_up != sim::CatchUp::none) {
        habits.push_back({"verified tokens", "read by the drafter in a pass of its own",
                          "before it drafts; passes whose shape changes are built and captured anew"});
    }
}

/// What the host does with each token, one after the other.
void add_tokens(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack stack = setup.platform.stack.where(setup.target, setup.precision, setup.platform.device);
    const double vocabulary = static_cast<double>(setup.target.vocabulary_size);
    if (stack.host[sim::HostDriver::emitted_entry] > Seconds(0.0)) {
        const Seconds sampling = stack.host[sim::HostDriver::emitted_entry] * vocabulary;
        habits.push_back({"sampling", fmt::format("on the host, {:.2f} ms a token", 1e3 * sampling.value()),
                          with_other(fmt::format("one request after the other, and {:.2f} ms to stream each out",
                                                 1e3 * stack.host[sim::HostDriver::emitted_token].value()),
                                     stack.drafts.sampling_flag)});
    }
}

/// Ways to roll back: those of the engine at its version, or of a stack that is no engine's.
std::vector<engines::RollbackChoice> choices_of_rollback(const sim::RoundSetup& setup) {
    const sim::Stack& stack = setup.platform.stack;
    if (const std::optional<engines::Engine> engine = engines::priced_engine(setup.platform)) {
        return engines::rollbacks_at(*engine, setup.target, stack);
    }
    std::vector<engines::RollbackChoice> choices;
    for (const sim::Rollback rollback : sim::rollbacks_for(setup.target, stack, true)) {
        choices.push_back({rollback, ""});
    }
    return choices;
}

void add_states(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    if (!sim::has_recurrent_state(setup.target) || std::holds_alternative<sim::NoDrafter>(setup.drafter)) {
        return;
    }
    std::vector<std::string> others;
    std::string why = stack.engine.empty() ? "the fastest that fits" : "without a flag";
    for (const engines::RollbackChoice& choice : choices_of_rollback(setup)) {
        const std::string with = choice.flag.empty() ? "" : " with " + choice.flag;
        if (choice.rollback != setup.rollback) {
            others.push_back(std::string(name_of(choice.rollback)) + with);
        } else if (!with.empty()) {
            why = with.substr(1);
        }
    }
    habits.push_back({"states of rejected tokens", std::string(name_of(setup.rollback)),
                      others.empty() ? why : fmt::format("{}; otherwise {}", why, fmt::join(others, ", "))});
    if (stack.states.committed_copies > 0.0 && setup.rollback == sim::Rollback::snapshot) {
        habits.push_back({"accepted states", fmt::format("copied {}", stack.states.committed_copies > 1.0 ? "twice" : "once"),
                          "outside of the graph, after each verification"});
    }
    if (const double share = stack.states.state_pool_share; share > 0.0) {
        habits.push_back({"memory of states", fmt::format("{:.0f} % of that for states and caches", 100.0 * share),
                          with_other(fmt::format("divided at start, {:.0f} states a running request beside those of its draft",
                                                 stack.states.state_slots),
                                     stack.states.state_pool_flag)});
    }
    if (const double apart = stack.where(setup.target, setup.precision, setup.platform.device).states.recurrent_passes_apart;
        apart > 0.0) {
        habits.push_back({"verification of several sequences",
                          apart < 1.0 ? "together or one by one, by build (the middle of both is priced)" : "one by one",
                          "the engine splits a batch whose sequences have several tokens and a recurrent state"});
    }
}

void add_running_requests(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Platform& platform = setup.platform;
    const std::optional<engines::Engine> engine = engines::priced_engine(platform);
    if (!engine) {
        return;
    }
    if (engine->name == engines::EngineName::sglang && std::holds_alternative<sim::NoDrafter>(setup.drafter)) {
        habits.push_back({"running requests", "as memory holds",
                          "its default without drafts; with them 48, unless --max-running-requests says otherwise"});
        return;
    }
    habits.push_back(
        {"running requests", fmt::format("up to {:.0f}", engines::usual_requests(*engine, platform)),
         fmt::format("its default; {} is written where a load needs more{}", engines::requests_option(*engine),
                     platform.stack.serving.most_requests ? fmt::format(", up to {:.0f}", *platform.stack.serving.most_requests)
                                                          : "")});
}

/// Groups of recurrent layers that the host prepares in every round.
void add_state_groups(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    const sim::DrafterPlan plan = sim::plan(setup.drafter, setup.target, setup.precision);
    const double groups = sim::state_groups(setup.target, setup.drafter, plan);
    if (groups == 0.0 || stack.passes.host_per_state_group == Seconds(0.0) || plan.kind == "none") {
        return;
    }
    habits.push_back(
        {"groups of recurrent layers", fmt::format("{:.0f}", groups),
         fmt::format("as large as the kind of cache with the fewest layers; the host prepares each in every round, "
                     "{:.1f} ms in all while the device verifies",
                     1e3 * sim::host_of_verification(stack, groups).value() / setup.platform.device.host_speed)});
}

void add_scheduling(const sim::RoundSetup& setup, const engines::EngineHabit& known, std::vector<Habit>& habits,
                    std::vector<std::string>& unknown) {
    const sim::Stack& stack = setup.platform.stack;
    const sim::DrafterPlan plan = sim::plan(setup.drafter, setup.target, setup.precision);
    if (sim::is_synchronous(stack, setup.drafter, plan) && known.how != "after each round") {
        habits.push_back({"scheduling", "after each round",
                          plan.reads_on_host ? "this drafter needs the sampled tokens on the host"
                                             : "this version schedules no rounds of this drafter ahead"});
    } else {
        add("scheduling", known, habits, unknown);
    }
}

void add_host(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    add_state_groups(setup, habits);
    add_running_requests(setup, habits);
    habits.push_back({"prompts", std::string(name_of(stack.serving.prefill)),
                      stack.serving.prefill == sim::PrefillPolicy::mixed         ? "in the steps of those that decode"
                      : stack.serving.prefill == sim::PrefillPolicy::alternating ? "in steps of their own"
                                                                                 : "by a pool of their own"});
}

/// " for mixture models, but not on compute capability 10, with experts that are quantised or beside shared ones"
std::string text_of(const sim::NumberCondition& condition) {
    std::string text = condition.models.empty() ? "" : fmt::format(" for {} models", text::listed(condition.models, "and"));
    if (!condition.not_on.empty()) {
        text += fmt::format(", but not on compute capability {}", fmt::join(condition.not_on, ", "));
    }
    const std::string comma = text.empty() ? "" : ",";
    if (condition.experts == sim::ConditionExperts::not_plain) {
        text += comma + " with experts that are quantised or beside shared ones";
    } else if (condition.experts == sim::ConditionExperts::fp4) {
        text += comma + " with experts in fp4";
    }
    return text;
}

/// Whether a number is about products in a format that the target's weights are not in.
bool concerns_another_format(const std::string& number, const sim::Precision& precision) {
    const std::optional<sim::NumberFormat> format = sim::stack_parameter(number).format;
    return format && precision.weights.format != *format && precision.experts.format != *format;
}

/// Numbers that the stack states and that do not hold for this target on this device, although they might.
void add_unmet(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    for (const sim::NumberCondition& condition :
         setup.platform.stack.unmet(setup.target, setup.precision, setup.platform.device)) {
        if (concerns_another_format(condition.number, setup.precision)) {
            continue;
        }
        habits.push_back({condition.number, "not taken", "stated" + text_of(condition)});
    }
}

/// Numbers that the user's file of the stack states and that nothing here counts.
void add_without_effect(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    for (const std::string& number : sim::numbers_without_effect(setup)) {
        habits.push_back({number, "without effect", "stated, but nothing that is priced here counts it"});
    }
}

}  // namespace

std::string version_note(const sim::Stack& stack) {
    return stack.stands_for.empty()
               ? ""
               : fmt::format("No description of {}: priced as {}, the nearest version known.", stack.stands_for, stack.name);
}

std::string engine_habits_text(const sim::RoundSetup& setup) {
    std::vector<Habit> habits;
    std::vector<std::string> unknown;
    const std::optional<engines::Engine> engine = engines::priced_engine(setup.platform);
    const engines::EngineHabits known = engine ? engines::habits_of(*engine, setup) : engines::EngineHabits{};
    add_verification(setup, known, habits, unknown);
    add_power_limit(setup.platform.device, habits);
    add_drafting(setup, known.drafting, habits, unknown);
    add_reading(setup, habits);
    add_tokens(setup, habits);
    add_states(setup, habits);
    add_scheduling(setup, known.scheduling, habits, unknown);
    add_host(setup, habits);
    if (!unknown.empty() && !setup.platform.accelerator) {
        habits.push_back(
            {text::listed(unknown, "and"), "not known",
             engine ? "neither its documents nor its stack say it of this target and device" : "the stack is no engine's"});
    }
    add_unmet(setup, habits);
    add_without_effect(setup, habits);
    text::TextTable table({{"what " + setup.platform.stack.name + " does", text::Align::left},
                           {"", text::Align::left},
                           {"because", text::Align::left}});
    for (const Habit& habit : habits) {
        table.add({habit.what, habit.how, habit.because});
    }
    return table.text();
}

}  // namespace treeline::reports
