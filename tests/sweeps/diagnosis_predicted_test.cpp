// Causes that are part of the prediction itself, and what a diagnosis says of causes that nothing tells apart.
#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "faulty_rounds.h"
#include "setups.h"
#include "sweeps/diagnosis.h"

namespace diagnosis_predicted_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// A small target with its draft model on several ranks, with an all-reduce ten times as long as the device's.
sim::RoundSetup over_slow_links(double ranks) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph", ranks));
    for (sim::Interconnect& link : setup.platform.device.interconnects) {
        link.latency *= 10.0;
    }
    return setup;
}

bool names(const sim::RoundSetup& setup, const sim::DesignPoint& point, CauseKind kind, double factor = 1.0) {
    return cause_of(diagnose(as_predicted(setup, point, factor)), kind) != nullptr;
}

}  // namespace

TEST_CASE("host time of a drafter's passes is named where it counts, as predicted and as measured, and graphs could hold it") {
    const auto drafter_with = [](double host_per_pass, const char* stack_name) {
        sim::RoundSetup setup = small_pair();
        setup.platform.stack = stack(stack_name);
        setup.platform.stack.passes.host_per_draft_pass = Seconds(host_per_pass);
        return setup;
    };
    const sim::RoundSetup slow = drafter_with(2020e-6, "cuda-graph");
    constexpr CauseKind kind = CauseKind::drafter_not_captured;
    CHECK(names(slow, {5, 4.0, 1000.0}, kind));
    CHECK_FALSE(names(drafter_with(2020e-6, "llama.cpp"), {5, 4.0, 1000.0}, kind));  // which captures no sizes
    // Of a round that takes 30 times as long as predicted it is next to nothing.
    for (const Cause& cause : diagnose(as_predicted(slow, {5, 4.0, 1000.0}, 30.0)).causes) {
        CHECK((cause.kind != kind || cause.beyond_prediction));
    }
}

TEST_CASE("prompts of other requests are named beyond a tenth of the time") {
    for (const double round : {9.0, 8.99}) {  // seconds, where four tokens of 2.5 s each take 10
        DiagnosisInput input = as_predicted(small_pair(), {3, 8.0, 1000.0});
        runs::RunCell& cell = input.rounds.front().cell;
        cell.round = runs::MeasuredMean::of(round, 0.0, 1.0, 1.0);
        cell.tpot.add(2.5);
        cell.stated_length = 4.0;
        CHECK((cause_of(diagnose(input), CauseKind::prompts) != nullptr) == (round < 9.0));
    }
}

TEST_CASE("a drafter on two ranks waits for all-reduces between them") {
    const sim::RoundSetup two = over_slow_links(2.0);
    sim::RoundSetup alone = two;
    alone.platform.parallel.draft_tensor = 1.0;
    const auto round = [](const sim::RoundSetup& of) { return sim::evaluate(sim::compile_round(of), {5, 4.0, 1000.0}).round; };
    REQUIRE(round(alone) < round(two) * 0.9);
    const Diagnosis found = diagnose(as_predicted(two, {5, 4.0, 1000.0}));
    const Cause* const cause = cause_of(found, CauseKind::drafter_on_all_ranks);
    REQUIRE(cause != nullptr);
    CHECK(cause->share == Approx(1.0 - round(alone) / round(two)));
    CHECK_THAT(cause->evidence, Catch::Contains("over 2 ranks"));
}

TEST_CASE("a drafter that is spread over some of the ranks only waits for all-reduces, too") {
    sim::RoundSetup four = over_slow_links(4.0);
    const auto round_on = [&](double ranks) {
        four.platform.parallel.draft_tensor = ranks;
        return sim::evaluate(sim::compile_round(four), {5, 4.0, 1000.0}).round;
    };
    const Seconds one = round_on(1.0), two = round_on(2.0);
    REQUIRE(one < two * 0.9);
    const Diagnosis found = diagnose(as_predicted(four, {5, 4.0, 1000.0}));
    const Cause* const cause = cause_of(found, CauseKind::drafter_on_all_ranks);
    REQUIRE(cause != nullptr);
    CHECK(cause->share == Approx(1.0 - one / two));
    four.platform.parallel.draft_tensor = 1.0;
    CHECK_FALSE(names(four, {5, 4.0, 1000.0}, CauseKind::drafter_on_all_ranks));
}

TEST_CASE("a drafter may leave room for a few requests, or for a single one") {
    sim::RoundSetup tight = small_pair();
    const auto held = [&](int speculation) {
        const sim::CompiledRound round = sim::compile_round(tight);
        int batch = 0;
        while (sim::evaluate(round, {speculation, batch + 1.0, 8000.0}).fits) {
            ++batch;
        }
        return batch;
    };
    int with = 0;
    for (double memory = 18e9; with < 6; memory += 0.2e9) {
        tight.platform.device.memory = Bytes(memory);
        const int before = std::exchange(with, held(3));
        if (with == before) {
            continue;
        }
        const int without = held(0);
        REQUIRE(with < 0.97 * without);
        const Diagnosis found = diagnose(as_predicted(tight, {3, 2.0 * with, 8000.0}));
        const Cause* const cause = cause_of(found, CauseKind::cache_lost);
        REQUIRE(cause != nullptr);
        CHECK(cause->share == Approx(0.5));
        CHECK_THAT(cause->evidence,
                   Catch::Contains(fmt::format("memory holds {} sequences of 8000 tokens, without it {};", with, without)));
    }
}

TEST_CASE("at one batch nothing tells drafted tokens from passes of the drafter: both are named, tokens first") {
    const Diagnosis found =
        diagnose(faulty(small_pair(), {8}, {0, 1, 3, 5}, [](double, int length) { return 0.3 * length * small_step(); }));
    const Cause *const rows = cause_of(found, CauseKind::rows_cost_more), *const passes =
                                                                              cause_of(found, CauseKind::draft_passes);
    REQUIRE(rows != nullptr);
    REQUIRE(passes != nullptr);
    CHECK(rows->rank == passes->rank);
    CHECK(rows < passes);
    CHECK(std::is_sorted(found.causes.begin(), found.causes.end(),
                         [](const Cause& a, const Cause& b) { return a.rank > b.rank; }));
}

TEST_CASE("what to try is the remedy, and then what the draft length could do") {
    Cause cause;
    CHECK(cause.what_to_try().empty());
    cause.remedy = "a smaller drafter";
    CHECK(cause.what_to_try() == "a smaller drafter");
    cause.fewer_drafts = "fewer draft tokens";
    CHECK(cause.what_to_try() == "a smaller drafter; fewer draft tokens");
    cause.remedy.clear();
    CHECK(cause.what_to_try() == "fewer draft tokens");
}

}  // namespace diagnosis_predicted_test
