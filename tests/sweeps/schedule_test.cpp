// Where do a schedule's ranges end, and where do drafts stop? What mutants of sweeps/schedule.cpp survived is looked at here.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/recommend.h"

namespace schedule_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

sim::RoundSetup setup_of(double acceptance) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.platform.device.memory = Bytes(1e15);  // so that gain alone decides
    setup.acceptance = sim::Acceptance::geometric(acceptance);
    setup.speculations = sim::chains_up_to(6);
    return setup;
}

/// The same with prompts of 1,000 tokens and answers of 100.
sim::RoundSetup served(double acceptance) {
    sim::RoundSetup setup = setup_of(acceptance);
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 100.0;
    return setup;
}

Workload workload_of(const sim::RoundSetup& setup, const std::vector<WeightedValue>& batches) {
    Workload workload;
    workload.speculations = setup.speculations;
    workload.traffic = traffic_from(batches, {{500.0, 1.0}});
    return workload;
}

/// The last batch at which a range drafts; 0 where none does.
int drafts_until(const Schedule& schedule) {
    int last = 0;
    for (const ScheduleEntry& entry : schedule.entries) {
        last = entry.speculation > 0 ? entry.batch_to : last;
    }
    return last;
}

}  // namespace

TEST_CASE("ranges end at the largest batch that is asked for, one included") {
    const sim::RoundSetup setup = setup_of(0.8);
    const sim::CompiledRound round = sim::compile_round(setup);
    for (const int largest : {1, 2, 7, 40}) {
        const Workload workload = workload_of(setup, {{1.0, 0.5}, {static_cast<double>(largest), 0.5}});
        CHECK(largest_batch_asked(round, 0, workload.traffic) == largest);
        CHECK(schedule_for(round, runnable(round), workload, 1024).entries.back().batch_to == largest);
    }
}

TEST_CASE("drafting is switched off nowhere where it gains, however little") {
    int little = 0;
    for (double acceptance = 0.30; acceptance < 0.75; acceptance += 0.03) {
        const sim::RoundSetup setup = setup_of(acceptance);
        const sim::CompiledRound round = sim::compile_round(setup);
        const Schedule schedule = schedule_for(round, runnable(round), workload_of(setup, {{1.0, 0.5}, {200.0, 0.5}}), 200);
        for (const ScheduleEntry& entry : schedule.entries) {
            for (int batch = entry.batch_from; entry.speculation == 0 && batch <= entry.batch_to; ++batch) {
                INFO("acceptance " << acceptance << ", batch " << batch);
                CHECK(schedule.gains[static_cast<std::size_t>(batch) - 1] <= 1.0 + 1e-9);
            }
            little += entry.speculation > 0 && entry.least < 1.0 + schedule_tolerance ? 1 : 0;
        }
    }
    CHECK(little > 0);  // or nothing was tried
}

TEST_CASE("where there is nothing to draft, no limit is in the way") {
    const sim::RoundSetup setup = setup_of(0.8);
    const sim::CompiledRound round = sim::compile_round(setup);
    const Schedule schedule = schedule_for(round, {0}, workload_of(setup, {{4.0, 1.0}}), 64);
    CHECK(schedule.switch_off_batch == 1);
    CHECK_FALSE(schedule.switch_off_limit);
}

TEST_CASE("drafts stop where the ranges say so, one batch behind the last that drafts") {
    for (const double acceptance : {0.4, 0.5, 0.6, 0.7}) {
        const sim::RoundSetup setup = setup_of(acceptance);
        const sim::CompiledRound round = sim::compile_round(setup);
        for (const double asked : {64.0, 300.0, 1024.0}) {
            const Schedule schedule =
                schedule_for(round, runnable(round), workload_of(setup, {{1.0, 0.5}, {asked, 0.5}}), 1024);
            INFO("acceptance " << acceptance << ", batches up to " << asked);
            const int last = drafts_until(schedule), end = static_cast<int>(asked);
            if (last < end) {
                CHECK(schedule.switch_off_batch == last + 1);
            } else if (schedule.switch_off_batch) {
                CHECK(*schedule.switch_off_batch > end);
                CHECK(*schedule.switch_off_batch <= schedule.largest_batch);
            }
        }
    }
}

TEST_CASE("what drafts would gain is kept, whatever gain was asked for") {
    const sim::RoundSetup setup = setup_of(0.7);
    const sim::CompiledRound round = sim::compile_round(setup);
    Workload workload = workload_of(setup, {{1.0, 0.5}, {64.0, 0.5}});
    const Schedule free = schedule_for(round, runnable(round), workload, 64);
    REQUIRE(free.gains.front() > 1.3);
    workload.limits.minimum_gain = 50.0;
    const Schedule asked = schedule_for(round, runnable(round), workload, 64);
    CHECK(asked.gains == free.gains);
    CHECK(drafts_until(asked) == 0);
    CHECK(asked.switch_off_batch == 1);
    // A gain between one and two that is asked for counts at each batch.
    workload.limits.minimum_gain = 0.5 * (free.gains.front() + *std::min_element(free.gains.begin(), free.gains.end()));
    const Schedule between = schedule_for(round, runnable(round), workload, 64);
    const int last = drafts_until(between);
    REQUIRE(last > 0);
    REQUIRE(last < 64);
    CHECK(free.gains[static_cast<std::size_t>(last) - 1] >= workload.limits.minimum_gain);
    CHECK(free.gains[static_cast<std::size_t>(last)] < workload.limits.minimum_gain);
}

TEST_CASE("a schedule that is followed yields what its lengths yield at the loads") {
    const sim::RoundSetup setup = setup_of(0.7);
    const sim::CompiledRound round = sim::compile_round(setup);
    const Workload workload = workload_of(setup, {{1.0, 0.4}, {20.0, 0.35}, {200.0, 0.25}});
    const Schedule schedule = schedule_for(round, runnable(round), workload, 1024);
    DraftPlan plan = sim::drafting_off;
    for (const TrafficPoint& point : workload.traffic.points) {
        const auto range = std::find_if(schedule.entries.begin(), schedule.entries.end(),
                                        [&](const ScheduleEntry& entry) { return point.load <= entry.batch_to; });
        REQUIRE(range != schedule.entries.end());
        plan.by_point.push_back(range->speculation == 0 ? sim::drafting_off : range->speculation);
    }
    const Outcome by_hand = outcomes_of(round, {&plan, 1}, workload.traffic, workload.objective).front();
    CHECK(schedule.gain == by_hand.gain);
    CHECK(schedule.speedup == by_hand.speedup);
    CHECK_FALSE(schedule.broken);
}

TEST_CASE("a schedule keeps the limits on the first token that its loads have, where drafts of some length or none do") {
    const sim::RoundSetup setup = served(0.8);
    const sim::CompiledRound round = sim::compile_round(setup);
    Workload workload = workload_of(setup, {{1.0, 0.5}, {32.0, 0.5}});
    workload.traffic.kind = LoadKind::concurrency;
    const auto followed = [&](const Schedule& schedule) {
        const auto drafts_at = [&](double batch) {
            for (const ScheduleEntry& entry : schedule.entries) {
                if (batch <= entry.batch_to) {
                    return entry.speculation == 0 ? sim::drafting_off : entry.speculation;
                }
            }
            return sim::drafting_off;
        };
        DraftPlan plan = drafts_at(1.0);
        plan.by_point = {drafts_at(1.0), drafts_at(32.0)};
        return outcomes_of(round, {&plan, 1}, workload.traffic, workload.objective).front();
    };
    workload.limits.first_token_growth = sim::unlimited;
    const Schedule free = schedule_for(round, runnable(round), workload, 32);
    REQUIRE_FALSE(free.broken);
    const double growth = followed(free).first_token_growth;
    DraftPlan never = sim::drafting_off;
    const double least = outcomes_of(round, {&never, 1}, workload.traffic, workload.objective).front().first_token_growth;
    REQUIRE(growth > 1.05 * least);

    workload.limits.first_token_growth = 0.5 * (growth + least);
    const Schedule kept = schedule_for(round, runnable(round), workload, 32);
    CHECK_FALSE(kept.broken);
    CHECK(followed(kept).first_token_growth <= workload.limits.first_token_growth);
    CHECK(kept.entries.front().speculation > 0);  // one request alone may still draft
    CHECK(kept.gain < free.gain);
    CHECK(kept.gain > 1.0);

    workload.limits.first_token_growth = sim::unlimited;
    workload.limits.time_to_first_token = 0.5 * (followed(free).means.first_token + followed(kept).means.first_token);
    const Schedule in_time = schedule_for(round, runnable(round), workload, 32);
    CHECK_FALSE(in_time.broken);
    CHECK(followed(in_time).means.first_token <= *workload.limits.time_to_first_token);
}

TEST_CASE("what a load leaves counts at the batches that are nearest to it") {
    const sim::RoundSetup setup = served(0.8);
    const sim::CompiledRound round = sim::compile_round(setup);
    Workload workload = workload_of(setup, {{1.0, 0.5}, {256.0, 0.5}});
    workload.limits.time_per_token = Seconds(1e-9);                                            // which nothing keeps
    CHECK_FALSE(LoadChoices(round, {3}, workload.traffic, workload.limits).broken(3, 256.0));  // batches have no loads
    workload.traffic.kind = LoadKind::concurrency;
    CHECK(LoadChoices(round, {3}, workload.traffic, workload.limits).broken(3, 1.0) == Limit::time_per_token);
    CHECK_FALSE(LoadChoices(round, {3}, workload.traffic, workload.limits).broken(2, 1.0));  // nobody asked about it
    const Seconds alone = sim::evaluate(round, {3, 1.0, 500.0}).time_per_token;
    workload.limits.time_per_token = 2.0 * alone;
    const LoadChoices loads(round, {3, sim::drafting_off}, workload.traffic, workload.limits);
    CHECK_FALSE(loads.broken(3, 1.0));
    CHECK_FALSE(loads.broken(3, 15.0));  // 16 is as far from 1 as from 256
    CHECK(loads.broken(3, 17.0) == Limit::time_per_token);
    CHECK(loads.broken(3, 256.0) == Limit::time_per_token);
    CHECK_FALSE(loads.broken(sim::drafting_off, 256.0));
}

}  // namespace schedule_test
