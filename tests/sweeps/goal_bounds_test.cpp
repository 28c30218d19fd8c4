// Limits at their bounds, and figures of loads that are hardly served, of a round whose times are straight lines in the batch.
#include <catch2/catch.hpp>

#include <algorithm>

#include "straight_lines.h"
#include "sweeps/recommend.h"

namespace goal_bounds_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// The round of straight_lines.h with answers of eight tokens.
sim::CompiledRound with_answers(double memory = 1e6) {
    sim::CompiledRound round = lines(memory);
    round.output_tokens = 8.0;
    return round;
}

Traffic loads_of(LoadKind kind, const std::vector<WeightedValue>& loads) {
    Traffic traffic = traffic_from(loads, {{0.0, 1.0}});
    traffic.kind = kind;
    return traffic;
}

Limits without_growth() {
    Limits limits;
    limits.first_token_growth = limits.waiting = sim::unlimited;
    limits.first_token_of_saved = 0.0;
    return limits;
}

/// Drafts that gain, under a load.
Outcome drafting(double waiting, double first_token_growth, double saved) {
    Outcome outcome;
    outcome.speculation = 1;
    outcome.gain = 1.5;
    outcome.waiting = waiting;
    outcome.first_token_growth = first_token_growth;
    outcome.saved = saved;
    return outcome;
}

/// What one draft breaks with four requests in flight.
std::optional<Limit> broken_by_one_draft(const Limits& limits) {
    return LoadChoices(with_answers(), {1}, loads_of(LoadKind::concurrency, {{4.0, 1.0}}), limits).broken(1, 4.0);
}

}  // namespace

TEST_CASE("at a load, too, a limit is broken beyond it and not at it") {
    const sim::RoundEstimate needs = sim::evaluate(with_answers(), {1, 4.0, 0.0});
    Limits limits = without_growth();
    CHECK_FALSE(broken_by_one_draft(limits));
    limits.memory = needs.memory;
    CHECK_FALSE(broken_by_one_draft(limits));
    limits.memory = 0.99 * needs.memory;
    CHECK(broken_by_one_draft(limits) == Limit::memory);
    limits.memory.reset();
    limits.time_per_token = needs.time_per_token;
    CHECK_FALSE(broken_by_one_draft(limits));
    limits.time_per_token = 0.99 * needs.time_per_token;
    CHECK(broken_by_one_draft(limits) == Limit::time_per_token);
}

TEST_CASE("at a load the growth of the first token is over the plain decoding that drafts are compared with") {
    // Where six of ten fit, four wait for a place: with drafts as much shorter as their tokens come faster.
    const sim::CompiledRound round = with_answers(6.0);
    const Traffic traffic = loads_of(LoadKind::concurrency, {{10.0, 1.0}});
    const double growth = first_tokens_of(round, 1, traffic).front() / first_tokens_of(round, 0, traffic).front();
    REQUIRE(growth > 0.0);
    REQUIRE(growth < 1.0);
    Limits limits = without_growth();
    const auto broken = [&](double of_plain, double most) {
        limits.own_plain.at_points = {of_plain};
        limits.first_token_growth = most;
        return LoadChoices(round, {1}, traffic, limits).broken(1, 6.0);
    };
    CHECK_FALSE(broken(0.5, 0.5 * growth));
    CHECK(broken(0.5, 0.499 * growth) == Limit::first_token_growth);
    CHECK_FALSE(broken(2.0, 2.0 * growth));
    CHECK(broken(2.0, 1.999 * growth) == Limit::first_token_growth);
}

TEST_CASE("a first token may come later by a share of what decoding of the answer saves") {
    const sim::CompiledRound round = with_answers();
    Outcome outcome = drafting(0.01, 3.0, 8.0);  // a quarter are two TTFTs
    Limits limits;
    const auto broken = [&] { return broken_limit(outcome, round, limits); };
    CHECK_FALSE(broken());
    outcome.saved = 7.9;
    CHECK(broken() == Limit::first_token_growth);
    outcome.first_token_growth = 2.0;  // as much as is allowed whatever is saved
    outcome.saved = -1.0;
    CHECK_FALSE(broken());
    outcome.first_token_growth = 3.0;
    outcome.saved = 8.0;
    limits.first_token_of_saved = 0.0;
    CHECK(broken() == Limit::first_token_growth);
    limits.first_token_of_saved = 0.25;
    outcome.waiting = 0.0;  // late for other reasons than that others come first
    CHECK(broken() == Limit::first_token_growth);
    outcome.waiting = 0.01;
    // Beside plain decoding of another cut, whose first tokens take half as long and whose answers take eight TTFTs less.
    limits.own_plain.mean = 2.0;
    limits.own_plain.slower = 8.0;
    CHECK(allowed_first_token_growth(outcome, limits) == Approx(1.0 + 0.25 * (16.0 - 8.0)));
    CHECK(broken() == Limit::first_token_growth);
    outcome.first_token_growth = 1.5;
    CHECK_FALSE(broken());
}

TEST_CASE("more may wait under a load whose first tokens come in time, unless a share is stated") {
    const sim::CompiledRound round = with_answers();
    Outcome outcome = drafting(0.2, 1.5, 0.0);
    Limits limits;
    const auto broken = [&] { return broken_limit(outcome, round, limits); };
    CHECK_FALSE(broken());
    outcome.first_token_growth = 2.1;
    CHECK(broken() == Limit::waiting);
    outcome.first_token_growth = 1.5;
    // Beside the cut on which fewest wait, too: its first tokens take half as long.
    limits.own_plain.first_token_there = 2.0;
    CHECK(broken() == Limit::waiting);
    outcome.saved = 4.0;
    CHECK_FALSE(broken());  // 3 of 1 + 8 / 4 TTFTs there
    limits.own_plain.slower_there = 0.1;
    CHECK(broken() == Limit::waiting);
    limits.own_plain = {};
    outcome.saved = 0.0;
    limits.waiting_stated = true;
    CHECK(broken() == Limit::waiting);
    outcome.first_token_growth = 0.9;
    CHECK_FALSE(broken());
    limits.own_plain.first_token_there = 1.2;
    CHECK(broken() == Limit::waiting);
    limits = {};
    outcome.first_token_growth = 1.5;
    outcome.speculation = 0;  // a cut of the devices on which others would not wait
    CHECK(broken() == Limit::waiting);
    outcome.speculation = 1;
    outcome.saved.reset();  // batches, whose first tokens wait for nobody
    CHECK(broken() == Limit::waiting);
    outcome.waiting = 0.05;
    CHECK_FALSE(broken());
}

TEST_CASE("where drafts alone serve a load, gains are of what full servers serve, too") {
    // Of twelve places, plain decoding serves 12 answers in 80 s and one draft 12 in 8·13.4/1.6 = 67 s.
    const sim::CompiledRound round = with_answers(12.0);
    const Outcome one = outcomes_of(round, {1}, loads_of(LoadKind::arrival_rate, {{0.16, 1.0}}), Objective::latency).front();
    CHECK(one.problem.empty());
    CHECK(one.gain_of_capacity);
    CHECK(one.gain == Approx(80.0 / 67.0));
    CHECK_FALSE(
        outcomes_of(round, {1}, loads_of(LoadKind::arrival_rate, {{0.14, 1.0}}), Objective::latency).front().gain_of_capacity);
}

TEST_CASE("the rate that a server is full at is served, with nobody ever in its place at once") {
    const sim::CompiledRound round = with_answers(16.0);  // 16 of 80 s: 0.2 a second
    const Load full{LoadKind::arrival_rate, 0.2};
    const SettledLoad settled = settle(round, 0, full, 0.0);
    CHECK(settled.problem.empty());
    CHECK(settled.batch == 16.0);
    const sim::RoundEstimate estimate = under_load(round, 0, full, settled, sim::evaluate(round, {0, 16.0, 0.0}));
    CHECK(estimate.first_token == Seconds(sim::unlimited));
}

TEST_CASE("where a server keeps room for states, the batch at which drafts let the fewest more wait is judged") {
    // 30 bytes, of which a sequence takes one beside its states: 15 sequences of plain decoding, 10 with one draft, which needs
    // a second state. Of 40, 25 and 30 wait; of 60, 45 and 50.
    sim::CompiledRound round = lines(30.0);
    round.memory.target_state = Bytes(1.0);
    round.rows[1].target_states = 2.0;
    const auto waiting = [&](const std::vector<WeightedValue>& batches) {
        return outcomes_of(round, {1}, loads_of(LoadKind::batch, batches), Objective::throughput).front().waiting;
    };
    CHECK(waiting({{40.0, 1.0}}) == Approx(5.0 / 40));
    CHECK(waiting({{60.0, 1.0}}) == Approx(5.0 / 60));
    CHECK(waiting({{40.0, 1.0}, {60.0, 1.0}}) == Approx(5.0 / 60));
}

TEST_CASE("a server that is started for drafts keeps room for all that they need, whatever it drafts") {
    sim::CompiledRound round = lines();
    round.memory.target_state = round.memory.draft_state = round.memory.replay_per_token = Bytes(1.0);
    round.rows[2].target_states = 2.0;
    round.rows[2].draft_states = 3.0;
    round.rows[2].cached_activations = 4.0;
    const StartedRound server(round, 2);
    for (const int speculation : {sim::drafting_off, 1, 2}) {
        const sim::RoundRow& row = server.get().row(speculation);
        CHECK(row.target_states == 2.0);
        CHECK(row.draft_states == 3.0);
        CHECK(row.cached_activations == 4.0);
    }
    CHECK(server.get().row(0).cached_activations == 0.0);  // another server, without the drafter
}

TEST_CASE("the means of a plan over a traffic are those that its outcome has") {
    const Traffic traffic = loads_of(LoadKind::batch, {{4.0, 3.0}, {20.0, 1.0}});
    DraftPlan plan = 1;
    for (const std::vector<int>& by_point : {std::vector<int>{}, {1, sim::drafting_off}}) {
        plan.by_point = by_point;
        const TrafficMeans means = means_over(traffic, lines(), plan);
        const TrafficMeans of_outcome = outcomes_of(lines(), {&plan, 1}, traffic, Objective::latency).front().means;
        CHECK(means.time_per_token == of_outcome.time_per_token);
        CHECK(means.tokens_per_second_device == of_outcome.tokens_per_second_device);
        CHECK(means.in_service == of_outcome.in_service);
        CHECK(means.peak_memory == of_outcome.peak_memory);
    }
}

TEST_CASE("the accept length that a latency asks for under arrivals, however short") {
    // Hardly anybody else is there: 11.2 s a round.
    const auto length_for = [](double seconds) {
        return accept_length_under_arrivals(with_answers(), 1, loads_of(LoadKind::arrival_rate, {{1e-7, 1.0}}),
                                            Objective::latency, seconds);
    };
    CHECK(length_for(11.2 / 2.5) == Approx(2.5).epsilon(1e-4));
    CHECK(length_for(11.2 * 50.0) == Approx(1.0 / 50.0).epsilon(1e-4));
    CHECK(length_for(11.2 / 63.0) == Approx(63.0).epsilon(1e-4));
    CHECK(length_for(11.2 / 65.0) == sim::unlimited);
}

TEST_CASE("a plan that is off where drafts break a limit is kept even if it gains too little") {
    const Traffic traffic = loads_of(LoadKind::batch, {{4.0, 1.0}, {30.0, 1.0}});
    Limits limits;
    limits.time_per_token = Seconds(10.2);  // of 7.4 and 10.6 s with one draft, and 10 s without
    limits.minimum_gain = 2.0;
    const PlannedOutcome planned = planned_outcome(lines(), 1, traffic, Objective::latency, limits);
    CHECK(planned.plan.by_point == std::vector<int>{1, sim::drafting_off});
    CHECK(planned.broken == Limit::gain);
}

TEST_CASE("every speculation of a round that has no problem runs") {
    sim::CompiledRound round = lines();
    CHECK(runnable(round) == std::vector<int>{0, 1, 2});
    round.rows[1].problem = "no";
    CHECK(runnable(round) == std::vector<int>{0, 2});
}

}  // namespace goal_bounds_test
