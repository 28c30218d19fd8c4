#include "reports/engine_habits.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/rollback/rollback.h"
#include "sim/traits.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

struct Habit {
    std::string what, how, because;
};

std::string with_other(const std::string& because, const std::string& otherwise) {
    return otherwise.empty() ? because : fmt::format("{}; otherwise with {}", because, otherwise);
}

void add_verification(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    if (!stack.attention_kernels.name.empty()) {
        habits.push_back({"attention", stack.attention_kernels.title, "asked for"});
        return;
    }
    const sim::VerificationRule* rule = sim::rule_for(stack.verification_rules, setup.platform.device, setup.precision);
    if (rule == nullptr || !sim::has_attention_of_heads(setup.target)) {
        return;
    }
    habits.push_back({"attention", rule->backend, with_other(rule->because, rule->otherwise)});
    habits.push_back({"graph of a verification", rule->in_pieces ? "in pieces" : "whole",
                      rule->in_pieces
                          ? "between pieces the host launches the attention of each layer; the pass takes the longer of "
                            "host and device"
                          : "every sequence has as many tokens"});
}

void add_states(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    if (!sim::has_recurrent_state(setup.target) || std::holds_alternative<sim::NoDrafter>(setup.drafter)) {
        return;
    }
    std::vector<std::string> others;
    for (const sim::Rollback rollback : sim::rollbacks_for(setup.target, stack, true)) {
        const auto flag = stack.rollback_flags.find(rollback);
        if (rollback != setup.rollback) {
            others.push_back(flag == stack.rollback_flags.end() ? std::string(name_of(rollback))
                                                                : fmt::format("{} with {}", name_of(rollback), flag->second));
        }
    }
    const auto asked = stack.rollback_flags.find(setup.rollback);
    const std::string why = asked != stack.rollback_flags.end() ? "with " + asked->second
                            : stack.engine.empty()              ? "the fastest that fits"
                                                                : "without a flag";
    habits.push_back({"states of rejected tokens", std::string(name_of(setup.rollback)),
                      others.empty() ? why : fmt::format("{}; otherwise {}", why, fmt::join(others, ", "))});
    if (stack.committed_copies > 0.0 && setup.rollback == sim::Rollback::snapshot) {
        habits.push_back({"accepted states", fmt::format("copied {}", stack.committed_copies > 1.0 ? "twice" : "once"),
                          "outside of the graph, after each verification"});
    }
}

void add_host(const sim::RoundSetup& setup, std::vector<Habit>& habits) {
    const sim::Stack& stack = setup.platform.stack;
    const bool waits = sim::plan(setup.drafter, setup.target, setup.precision).reads_on_host;
    if (waits && stack.synchronous_per_round > Seconds(0.0)) {
        habits.push_back({"scheduling", "after each round", "this drafter needs the sampled tokens on the host"});
    }
    habits.push_back({"prompts", std::string(name_of(stack.prefill)),
                      stack.prefill == sim::PrefillPolicy::mixed         ? "in the steps of those that decode"
                      : stack.prefill == sim::PrefillPolicy::alternating ? "in steps of their own"
                                                                         : "by a pool of their own"});
}

}  // namespace

std::string engine_habits_text(const sim::RoundSetup& setup) {
    std::vector<Habit> habits;
    add_verification(setup, habits);
    add_states(setup, habits);
    add_host(setup, habits);
    text::TextTable table({{"what " + setup.platform.stack.name + " does", text::Align::left},
                           {"", text::Align::left},
                           {"because", text::Align::left}});
    for (const Habit& habit : habits) {
        table.add({habit.what, habit.how, habit.because});
    }
    return table.text();
}

}  // namespace treeline::reports
