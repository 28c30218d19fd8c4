// Schedules, goals and means over a traffic, of a round whose times are straight lines in the batch (straight_lines.h).
#include <catch2/catch.hpp>

#include <algorithm>

#include "straight_lines.h"
#include "sweeps/recommend.h"
#include "sweeps/recommend_inside.h"
#include "sweeps/variants.h"

namespace choice_arithmetic_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Outcome outcome_with(auto change) {
    Outcome outcome;
    outcome.speculation = 1;
    outcome.gain = 1.0;
    change(outcome);
    return outcome;
}

}  // namespace

TEST_CASE("the round of this file is what its head says") {
    const sim::CompiledRound round = lines();
    for (const double batch : {1.0, 8.0, 30.0}) {
        CHECK(sim::evaluate(round, {0, batch, 0.0}).round.value() == Approx(10.0));
        CHECK(sim::evaluate(round, {sim::drafting_off, batch, 0.0}).round.value() == Approx(10.0));
        CHECK(sim::evaluate(round, {1, batch, 0.0}).round.value() == Approx(11 + 0.2 * batch));
        CHECK(sim::evaluate(round, {2, batch, 0.0}).time_per_token.value() == Approx((11 + 0.5 * batch) / 2));
    }
}

TEST_CASE("a schedule keeps a length as long as it costs at most 1.5 % more than the best") {
    // Two drafts equal one at batch 11 and cost 1.5 % more up to 12; one draft gains up to 25 and loses 1.5 % up to 26.
    const Schedule schedule = scheduled(lines(), 40.0, 100);
    CHECK(ranges_of(schedule) == std::vector<Range>{{1, 12, 2}, {13, 26, 1}, {27, 40, 0}});
    CHECK(schedule.entries[0].greatest == Approx(20 / 11.5));
    CHECK(schedule.entries[0].least == Approx(20 / 17.0));
    CHECK(schedule.entries[1].greatest == Approx(16 / 13.6));
    CHECK(schedule.entries[1].least == Approx(16 / 16.2));
    CHECK(schedule.entries[2].greatest == 1.0);
    CHECK(schedule.switch_off_batch == 27);
    CHECK_FALSE(schedule.switch_off_limit);  // plain decoding is better
    CHECK(schedule.largest_batch == 100);
    CHECK_FALSE(schedule.end_limit);
    REQUIRE(schedule.gains.size() == 100);
    CHECK(schedule.gains[0] == Approx(20 / 11.5));
    CHECK(schedule.gains[10] == Approx(20 / 16.5));
    CHECK(schedule.gains[29] == Approx(16 / 17.0));
    CHECK(schedule.steps.empty());
    CHECK(schedule.gain == Approx(1.0));  // off at 40
    CHECK_FALSE(schedule.broken);
    // The batch beyond a range's last is the next one's: one draft at 13.
    CHECK(scheduled(lines(), 13.0, 100).gain == Approx(16 / 13.6));
    CHECK(scheduled(lines(), 12.0, 100).gain == Approx(20 / 17.0));
}

TEST_CASE("under arrivals a schedule is followed at the batch that they settle at, not at their rate") {
    // Of answers of 8 tokens and 0.3 a second, with one draft N others stay 0.3·8·(11 + 0.2·(N + 1))/1.6: 24, a batch of 25.
    sim::CompiledRound round = lines();
    round.output_tokens = 8.0;
    Workload workload = workload_of({{0.3, 1.0}});
    workload.traffic.kind = LoadKind::arrival_rate;
    workload.objective = Objective::latency;
    const auto gain_of = [&](int drafts) {
        return outcomes_of(round, {drafts}, workload.traffic, workload.objective).front().gain;
    };
    const Schedule schedule = schedule_for(round, {0, 1, 2}, workload, 100, 0);
    CHECK(settle(round, 1, {LoadKind::arrival_rate, 0.3}, 0.0).batch == Approx(25.0).margin(0.01));
    CHECK(schedule.gain == Approx(gain_of(1)));
    CHECK(gain_of(2) != Approx(gain_of(1)));
    CHECK(outcomes_of(round, std::vector<int>{}, workload.traffic, workload.objective).empty());
}

TEST_CASE("over two loads a plan is off where its drafts break a limit, and where they break none it is not") {
    const Traffic traffic = traffic_from({{4.0, 1.0}, {30.0, 1.0}}, {{0.0, 1.0}});
    Limits limits;
    limits.time_per_token = Seconds(10.2);  // of 7.4 and 10.6 s with one draft, and 10 s without
    const PlannedOutcome partly = planned_outcome(lines(), 1, traffic, Objective::latency, limits);
    CHECK(partly.plan.by_point == std::vector<int>{1, sim::drafting_off});
    CHECK_FALSE(partly.broken);
    limits.time_per_token = Seconds(10.7);
    CHECK(planned_outcome(lines(), 1, traffic, Objective::latency, limits).plan.by_point.empty());
    limits.time_per_token = Seconds(7.0);
    const PlannedOutcome nowhere = planned_outcome(lines(), 1, traffic, Objective::latency, limits);
    CHECK(nowhere.plan.by_point.empty());
    CHECK(nowhere.broken == Limit::time_per_token);
}

TEST_CASE("a schedule is worth telling an engine of if it gains 2 % more than the best length alone") {
    Recommendation found;
    found.candidates.resize(1);
    const auto pays = [&](double gain) {
        found.schedule.gain = gain;
        return schedule_pays(found);
    };
    CHECK(pays(1.021));
    CHECK_FALSE(pays(1.02));
    found.candidates.front().gain = 2.0;
    CHECK(pays(2.05));
    CHECK_FALSE(pays(2.03));
}

TEST_CASE("a limit on the first token is kept where it is just met") {
    Prepared prepared;
    prepared.round = lines();
    prepared.time_to_first_token = Seconds(2.0);
    prepared.plain_first_token = Seconds(1.0);
    const Outcome outcome = outcome_with([](Outcome&) {});
    Limits limits;
    limits.first_token_growth = 2.0;
    limits.time_to_first_token = Seconds(2.0);
    CHECK_FALSE(limit_of(outcome, prepared, limits));
    limits.time_to_first_token = Seconds(1.9);
    CHECK(limit_of(outcome, prepared, limits) == Limit::time_to_first_token);
    limits.time_to_first_token.reset();
    limits.first_token_growth = 1.9;
    CHECK(limit_of(outcome, prepared, limits) == Limit::first_token_growth);
    CHECK_FALSE(limit_of(outcome_with([](Outcome& o) { o.speculation = 0; }), prepared, limits));
}

TEST_CASE("of lengths that serve equally many batches the preferred one is kept, or else the better one") {
    CHECK(ranges_of(scheduled(lines(), 12.0, 12)) == std::vector<Range>{{1, 12, 2}});
    // Both stay within 1.5 % at 11 and 12 alone; one draft is better at 12.
    sim::CompiledRound late = lines();
    late.pass(sim::PassId::verify_chunk).operations = {bytes_per_sequence(0.25)};
    late.pass(sim::PassId::verify_chunk).node_time = Seconds(13.75);  // two drafts cost what one does, at every batch
    CHECK(ranges_of(scheduled(late, 20.0, 20, 1)) == std::vector<Range>{{1, 20, 1}});
    CHECK(ranges_of(scheduled(late, 20.0, 20, 2)) == std::vector<Range>{{1, 20, 2}});
    late.pass(sim::PassId::verify_chunk).node_time = Seconds(13.7);  // a little better
    CHECK(ranges_of(scheduled(late, 20.0, 20)) == std::vector<Range>{{1, 20, 2}});
    CHECK(ranges_of(scheduled(late, 20.0, 20, 1)) == std::vector<Range>{{1, 20, 1}});
    late.pass(sim::PassId::verify_chunk).node_time = Seconds(13.8);
    CHECK(ranges_of(scheduled(late, 20.0, 20)) == std::vector<Range>{{1, 20, 1}});
}

TEST_CASE("drafts stop beyond what was asked for where the best choice does") {
    sim::CompiledRound round = lines();
    round.pass(sim::PassId::verify_unrolled).node_time = Seconds(11.1);  // one draft gains up to 24, and is kept up to 25
    CHECK(scheduled(round, 20.0, 100).switch_off_batch == 25);
    CHECK(scheduled(round, 24.0, 100).switch_off_batch == 25);
    CHECK(scheduled(round, 25.0, 100).switch_off_batch == 26);
    CHECK_FALSE(scheduled(round, 20.0, 24).switch_off_batch);
    CHECK_FALSE(scheduled(round, 25.0, 25).switch_off_batch);
    CHECK(scheduled(round, 20.0, 25).switch_off_batch == 25);
}

TEST_CASE("a schedule ends before the first batch that memory does not hold") {
    const Schedule schedule = scheduled(lines(15.0), 40.0, 100);
    CHECK(schedule.largest_batch == 15);
    CHECK(schedule.end_limit == Limit::memory);
    CHECK(ranges_of(schedule) == std::vector<Range>{{1, 12, 2}, {13, 15, 1}});
    CHECK(schedule.gains.size() == 15);
}

TEST_CASE("a gain that is asked for ends drafting where it ends") {
    Workload workload = workload_of({{40.0, 1.0}});
    workload.limits.minimum_gain = 1.3;  // two drafts: up to 20/1.3 = 15.38 = 11 + 0.5·8.77
    const Schedule schedule = schedule_for(lines(), {0, 1, 2}, workload, 100);
    CHECK(ranges_of(schedule).front() == Range{1, 8, 2});
    CHECK(schedule.switch_off_batch == 9);
    CHECK(schedule.switch_off_limit == Limit::gain);
}

TEST_CASE("a step is a fall of more than 3 %, and of three times what its neighbours change") {
    sim::CompiledRound round = lines();
    sim::RowSteps rule;
    rule.step_after = 8.0;  // rows of one token each
    const auto steps = [&](double seconds, double asked = 40.0) {
        rule.step = Seconds(seconds);
        sim::TimedOperation jump;
        jump.rates.rule = rule;
        for (const sim::PassId id : {sim::PassId::verify_unrolled, sim::PassId::verify_chunk}) {
            round.pass(id).operations.resize(1);
            round.pass(id).operations.push_back(jump);
        }
        return scheduled(round, asked, 100).steps;
    };
    // Of two drafts: 15 s at batch 8 and 15.5 at 9, 3.2 % more, as from any batch to the next.
    CHECK(steps(0.5).empty());
    const std::vector<ScheduleStep> found = steps(2.0);
    REQUIRE(found.size() == 1);
    CHECK(found.front().batch == 8);
    CHECK(found.front().before == Approx(20 / 15.0));
    CHECK(found.front().after == Approx(20 / 17.5));
    CHECK(steps(2.0, 9.0).size() == 1);
    CHECK(steps(2.0, 8.0).empty());  // nobody asked for nine
}

TEST_CASE("objectives are per token") {
    TrafficMeans means;
    means.tokens_per_second_device = 4.0;
    means.time_per_token = Seconds(2.0);
    means.price_per_token = Dollars(3.0);
    means.energy_per_token = Joules(5.0);
    CHECK(objective_of(means, Objective::throughput) == 0.25);
    CHECK(objective_of(means, Objective::latency) == 2.0);
    CHECK(objective_of(means, Objective::cost) == 3.0);
    CHECK(objective_of(means, Objective::energy) == 5.0);
}

TEST_CASE("a limit is broken beyond it, not at it, and the first of them is named") {
    const sim::CompiledRound round = lines(100.0);
    Limits limits;
    limits.time_per_token = Seconds(2.0);
    limits.waiting = 0.5;
    limits.waiting_stated = true;
    const auto broken = [&](auto change) { return broken_limit(outcome_with(change), round, limits); };
    CHECK_FALSE(broken([](Outcome&) {}));
    CHECK(broken([](Outcome& o) { o.problem = "no"; }) == Limit::load);
    CHECK_FALSE(broken([](Outcome& o) { o.means.peak_memory = Bytes(100.0); }));
    CHECK(broken([](Outcome& o) { o.means.peak_memory = Bytes(101.0); }) == Limit::memory);
    CHECK_FALSE(broken([](Outcome& o) { o.means.worst_time_per_token = Seconds(2.0); }));
    CHECK(broken([](Outcome& o) { o.means.worst_time_per_token = Seconds(2.1); }) == Limit::time_per_token);
    CHECK_FALSE(broken([](Outcome& o) { o.waiting = 0.5; }));
    CHECK(broken([](Outcome& o) { o.waiting = 0.6; }) == Limit::waiting);
    CHECK_FALSE(broken([](Outcome& o) {  // a longer queue that moves faster
        o.waiting = 0.6;
        o.first_token_growth = 0.99;
    }));
    CHECK_FALSE(broken([](Outcome& o) { o.first_token_growth = 2.0; }));
    CHECK(broken([](Outcome& o) { o.first_token_growth = 2.1; }) == Limit::first_token_growth);
    CHECK(broken([](Outcome& o) { o.gain = 0.99; }) == Limit::gain);
    const auto plain = [&](int speculation) {
        return broken([&](Outcome& o) {
            o.speculation = speculation;
            o.gain = 0.5;
            o.first_token_growth = 1.0;
        });
    };
    CHECK_FALSE(plain(0));
    CHECK_FALSE(plain(sim::drafting_off));
    const auto plain_waits = [&] { return broken([](Outcome& o) { o.speculation = 0; }); };
    CHECK_FALSE(plain_waits());
    limits.own_plain.waiting = 0.9;  // than on another cut of the devices
    CHECK(plain_waits() == Limit::waiting);
    limits.own_plain.first_token_there = 0.9;
    CHECK_FALSE(plain_waits());
    limits.own_plain = {};
    limits.memory = Bytes(50.0);
    CHECK(allowed_memory(round, 1, limits) == Bytes(50.0));
    limits.memory = Bytes(500.0);
    CHECK(allowed_memory(round, 1, limits) == Bytes(100.0));
}

TEST_CASE("the best within the limits, and the best anyhow with the limit in its way") {
    const sim::CompiledRound round = lines();
    const auto outcome = [](double objective, double gain) {
        return outcome_with([&](Outcome& o) {
            o.objective = objective;
            o.gain = gain;
        });
    };
    const std::vector<Outcome> outcomes = {outcome(3.0, 1.0), outcome(1.0, 0.9), outcome(1.0, 0.8), outcome(2.0, 1.0),
                                           outcome(2.0, 1.0)};
    const BestOutcome best = best_of(outcomes, round, {});
    CHECK(best.within == &outcomes[3]);  // the first of equals
    CHECK(best.anyhow == &outcomes[1]);
    CHECK(best.in_the_way == Limit::gain);
    CHECK(best_of({}, round, {}).anyhow == nullptr);
    sim::RoundEstimate quick, slow;
    quick.time_per_token = Seconds(1.0);
    slow.time_per_token = Seconds(2.0);
    slow.memory = Bytes(1.0);
    quick.memory = Bytes(2.0);
    CHECK(better_at_a_point(quick, slow));
    CHECK_FALSE(better_at_a_point(slow, quick));
    CHECK_FALSE(better_at_a_point(quick, quick));
    quick.fits = false;
    CHECK(better_at_a_point(slow, quick));
    slow.fits = false;
    CHECK(better_at_a_point(slow, quick));  // it needs less
    CHECK_FALSE(better_at_a_point(quick, slow));
    CHECK_FALSE(better_at_a_point(slow, slow));
    CHECK(fastest_that_fits(lines(), {0, 1, 2}, 4.0, 0.0)->speculation == 2);
    CHECK(fastest_that_fits(lines(), {0, 1, 2}, 20.0, 0.0)->speculation == 1);
    CHECK_FALSE(fastest_that_fits(lines(10.0), {0, 1, 2}, 20.0, 0.0));
}

TEST_CASE("gains and speed-ups over loads that take their shares of time") {
    const sim::CompiledRound round = lines();
    const Traffic traffic = traffic_from({{4.0, 3.0}, {20.0, 1.0}}, {{0.0, 1.0}});
    const Outcome one = outcomes_of(round, {1}, traffic, Objective::throughput).front();
    // Tokens/s: 4·1.6/11.8 and 20·1.6/15, against 0.4 and 2.
    const double drafting = 0.75 * 6.4 / 11.8 + 0.25 * 32 / 15.0, plain = 0.75 * 0.4 + 0.25 * 2;
    CHECK(one.means.tokens_per_second_device == Approx(drafting));
    CHECK(one.gain == Approx(drafting / plain));
    const double mean_time = (0.75 * 6.4 / 11.8 * 11.8 / 1.6 + 0.25 * 32 / 15.0 * 15 / 1.6) / drafting;
    CHECK(one.means.time_per_token.value() == Approx(mean_time));
    CHECK(one.speedup == Approx(10 / mean_time));
    CHECK(one.means.worst_time_per_token.value() == Approx(15 / 1.6));
    CHECK(one.means.in_service == Approx(0.75 * 4 + 0.25 * 20));
    CHECK(one.means.queued == 0.0);
    CHECK(one.waiting == 0.0);
    CHECK(one.first_token_growth == 1.0);
    CHECK_FALSE(one.gain_of_capacity);
    // Eight do not fit beside twelve others.
    const Outcome small = outcomes_of(lines(12.0), {1}, traffic, Objective::throughput).front();
    CHECK(small.means.queued == Approx(0.25 * 8));
    CHECK(small.waiting == 0.0);  // in plain decoding they wait, too
    sim::CompiledRound without = lines(12.0);
    without.memory.plain_capacity = Bytes(20.0);
    CHECK(outcomes_of(without, {1}, traffic, Objective::throughput).front().waiting ==
          Approx(0.25 * 8 / (0.75 * 4 + 0.25 * 12 + 0.25 * 8)));
}

TEST_CASE("means over tokens, or over time") {
    Traffic traffic = traffic_from({{1.0, 1.0}, {2.0, 1.0}}, {{0.0, 1.0}});
    std::vector<sim::RoundEstimate> estimates(2);
    const double rate[] = {2.0, 6.0};
    for (std::size_t i = 0; i < 2; ++i) {
        const double x = static_cast<double>(i + 1);
        estimates[i].tokens_per_second_device = rate[i];
        estimates[i].time_per_token = Seconds(x);
        estimates[i].accept_length = 2.0 * x;
        estimates[i].round = estimates[i].time_per_token * estimates[i].accept_length;
        estimates[i].first_token = Seconds(10.0 * x);
        estimates[i].prompts = Seconds(0.5);
        estimates[i].decode_share = 0.25 * x;
        estimates[i].energy_per_token = Joules(3.0 * x);
        estimates[i].price_per_token = Dollars(5.0 * x);
        estimates[i].memory = Bytes(7.0 * x);
    }
    std::vector<SettledLoad> loads(2);
    loads[0].batch = 1.0;
    loads[1].batch = 2.0;
    loads[1].queued = 4.0;
    const TrafficMeans of_time = means_over(traffic, loads, estimates);  // 1 and 3 tokens
    CHECK(of_time.tokens_per_second_device == 4.0);
    CHECK(of_time.time_per_token == Seconds((1 + 3 * 2) / 4.0));
    CHECK(of_time.time_per_round.value() == Approx(7 / (1 / 2.0 + 3 / 4.0)));
    CHECK(of_time.first_token == Seconds((10 + 3 * 20) / 4.0));
    CHECK(of_time.decode_share_user == Approx(1 - (0.5 / 2 + 3 * 0.5 / 4) / 7));
    CHECK(of_time.decode_share_device == Approx(0.375));
    CHECK(of_time.in_service == 1.5);
    CHECK(of_time.queued == 2.0);
    CHECK(of_time.energy_per_token == Joules((3 + 3 * 6) / 4.0));
    CHECK(of_time.price_per_token == Dollars((5 + 3 * 10) / 4.0));
    CHECK(of_time.peak_memory == Bytes(14.0));
    CHECK(of_time.worst_time_per_token == Seconds(2.0));
    traffic.shares_of = ShareOf::tokens;  // half a token each, in 1/4 and 1/12 of the time
    const TrafficMeans of_tokens = means_over(traffic, loads, estimates);
    CHECK(of_tokens.tokens_per_second_device == Approx(3.0));
    CHECK(of_tokens.time_per_token == Seconds(1.5));
    CHECK(of_tokens.in_service == Approx(0.75 * 1 + 0.25 * 2));
    CHECK(of_tokens.decode_share_device == Approx(0.75 * 0.25 + 0.25 * 0.5));
}

TEST_CASE("a traffic's typical point, its largest load and its contexts at one batch") {
    const Traffic traffic = traffic_from({{8.0, 1.0}, {2.0, 1.0}, {4.0, 0.0}}, {{100.0, 1.0}, {50.0, 3.0}});
    CHECK(traffic.points.size() == 4);
    CHECK(typical_point(traffic).load == 2.0);
    CHECK(typical_point(traffic).context == 50.0);
    CHECK(largest_batch_of(traffic) == 8.0);
    CHECK(longest_context_of(traffic) == 100.0);
    const Traffic at = at_batch(traffic, 5.0);
    REQUIRE(at.points.size() == 2);
    CHECK(at.points[0].context == 50.0);
    CHECK(at.points[0].share == Approx(0.75));
    CHECK(at.points[0].load == 5.0);
    CHECK(traffic_from({{8.0, 1.0}}, {{100.0, 1.0}, {50.0, 0.0}}).points.size() == 1);
}

TEST_CASE("drafting is off at the loads at which it alone breaks the TPOT that is asked for") {
    // One draft: 11.8/1.6 = 7.4 s at 4, 17/1.6 = 10.6 s at 30; plain decoding takes 10 s.
    const Traffic traffic = traffic_from({{4.0, 1.0}, {30.0, 1.0}}, {{0.0, 1.0}});
    Limits limits;
    limits.time_per_token = Seconds(10.2);
    CHECK(plan_within(lines(), 1, traffic, limits).by_point == std::vector<int>{1, sim::drafting_off});
    limits.time_per_token = Seconds(10.7);
    CHECK(plan_within(lines(), 1, traffic, limits).by_point.empty());
    limits.time_per_token = Seconds(9.0);  // plain decoding breaks it, too, and no fewer wait
    CHECK(plan_within(lines(), 1, traffic, limits).by_point.empty());
    limits.time_per_token.reset();
    CHECK(plan_within(lines(), 1, traffic, limits).by_point.empty());
}

TEST_CASE("requests that wait in plain decoding, too, are not blamed on drafts") {
    // A step holds 20 tokens: 20 sequences, or 10 that verify one draft. Of 25, 5 wait (20 %), or 15 (60 %).
    sim::CompiledRound round = lines();
    round.step_tokens = 20.0;
    round.rows[1].logits = 2.0;
    const Traffic traffic = traffic_from({{4.0, 1.0}, {25.0, 1.0}}, {{0.0, 1.0}});
    Limits limits;
    limits.waiting = 0.41;
    CHECK(plan_within(round, 1, traffic, limits).by_point.empty());
    limits.waiting = 0.39;
    CHECK(plan_within(round, 1, traffic, limits).by_point == std::vector<int>{1, sim::drafting_off});
}

TEST_CASE("a platform is named by its device, and by how many there are where it has several") {
    sim::Platform platform;
    platform.device.name = "gpu";
    platform.stack.name = "engine";
    platform.mode = default_mode(platform);
    CHECK(label_of(platform) == "gpu, engine");
    platform.ranks = 2.0;
    CHECK(label_of(platform).starts_with("2 x gpu"));
}

TEST_CASE("a drafter is untried where nobody is known to have trained it and the input does not name it") {
    VariantLists lists;
    lists.targets.resize(1);
    lists.platforms.resize(1);
    lists.rollbacks = {sim::Rollback::truncate};
    for (const bool untrained : {false, true}) {
        for (const bool named : {false, true}) {
            lists.drafters.emplace_back();
            lists.drafters.back().drafter = sim::NgramDrafter{};
            lists.drafters.back().untrained = untrained;
            lists.drafters.back().named = named;
        }
    }
    std::vector<bool> untrained;
    for (const Variant& variant : all_variants(lists)) {
        untrained.push_back(variant.untrained);
    }
    CHECK(untrained == std::vector<bool>{false, false, true, false});
}

TEST_CASE("rates that nobody serves are compared by what full servers serve, point by point") {
    // Twelve fit: 12 tokens of plain decoding in 10 s, 19.2 in 13.4 s with one draft; at twice the rate as many.
    sim::CompiledRound round = lines(12.0);
    round.output_tokens = 8.0;
    for (const std::vector<WeightedValue>& loads : {std::vector<WeightedValue>{{50.0, 1.0}}, {{50.0, 1.0}, {100.0, 3.0}}}) {
        Traffic traffic = traffic_from(loads, {{0.0, 1.0}});
        traffic.kind = LoadKind::arrival_rate;
        const Outcome one = outcomes_of(round, {1}, traffic, Objective::latency).front();
        CHECK(one.gain_of_capacity);
        CHECK_FALSE(one.problem.empty());
        CHECK(one.gain == Approx(12 * 1.6 / 13.4 / 1.2));
    }
    // Not even one fits: one after the other, 1.6 tokens in 11.2 s.
    Traffic traffic = traffic_from({{50.0, 1.0}}, {{0.0, 1.0}});
    traffic.kind = LoadKind::arrival_rate;
    sim::CompiledRound tight = lines(1.0);
    tight.output_tokens = 8.0;
    CHECK(outcomes_of(tight, {1}, traffic, Objective::latency).front().gain == Approx(1.6 / 11.2 * 10.0));
}

}  // namespace choice_arithmetic_test
