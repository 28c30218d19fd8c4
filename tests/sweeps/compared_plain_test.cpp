// The plain decoding that drafts are compared with, among variants judged by hand: whose it is, and what it makes of a gain.
#include <catch2/catch.hpp>

#include <limits>

#include "straight_rounds.h"
#include "sweeps/most_rate.h"

namespace compared_plain_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Candidate plain_of(std::size_t variant, double objective) {
    Candidate plain;
    plain.variant = variant;
    plain.objective = objective;
    return plain;
}

/// Of one server two cuts of its devices, platforms 0 and 1: plain decoding on each (variants 0 and 1) and a drafter on each
/// (2 and 3). A plain step takes 10 + b s on the first cut and 5 + b s on the second.
Judged two_cuts() {
    Judged all;
    for (const std::optional<std::size_t> drafter : {std::optional<std::size_t>(), std::optional<std::size_t>(0)}) {
        add_variant(all, 0, drafter, straight_round(10.0, 1.0));
        add_variant(all, 1, drafter, straight_round(5.0, 1.0));
    }
    for (std::size_t i = 0; i < 4; ++i) {
        sim::Platform& platform = all.variants[i].setup.platform;
        platform.device.name = "gpu";
        (i % 2 == 0 ? platform.ranks : platform.parallel.pipeline) = 2.0;
        all.variants[i].labels.stack = "engine";
    }
    all.plain[0] = plain_of(0, 3.0);
    all.plain[1] = plain_of(1, 2.0);
    return all;
}

Workload loads(LoadKind kind) {
    Workload workload;
    workload.traffic = traffic_from({{1.0, 1.0}, {5.0, 1.0}}, {{0.0, 1.0}});
    workload.traffic.kind = kind;
    return workload;
}

}  // namespace

TEST_CASE("what drafts is compared with plain decoding of the same model on the same server, however that is cut") {
    Judged all = two_cuts();
    all.plain[0].reset();
    REQUIRE(plain_beside(all, 2) == &*all.plain[1]);
    REQUIRE(plain_beside(all, 3) == &*all.plain[1]);
    const auto another = [&](auto change) {
        Judged other = all;
        change(other.variants[1]);
        return plain_beside(other, 2) == nullptr;
    };
    CHECK(another([](Variant& plain) { plain.origin.target = 1; }));
    CHECK(another([](Variant& plain) { plain.setup.platform.device.name = "another gpu"; }));
    CHECK(another([](Variant& plain) { plain.setup.platform.ranks = 2.0; }));  // four devices
    CHECK(another([](Variant& plain) { plain.labels.stack = "another engine"; }));
    CHECK(another([](Variant& plain) { plain.setup.platform.mode = sim::CostMode::hoi; }));
    CHECK(another([](Variant& plain) { plain.setup.platform.stack.serving.prefill = sim::PrefillPolicy::alternating; }));
    CHECK(another([](Variant& plain) { plain.setup.platform.stack.serving.step_tokens = 512.0; }));
    CHECK_FALSE(another([](Variant& plain) { plain.setup.platform.memory_utilisation = 0.5; }));
}

TEST_CASE(
    "of several cuts the best plain decoding within the limits counts, of none within them the best, and the first of equals") {
    Judged all = two_cuts();
    CHECK(plain_beside(all, 2) == &*all.plain[1]);
    all.outcomes[0].candidates.push_back(*all.plain[0]);  // that alone keeps the limits
    CHECK(plain_beside(all, 2) == &*all.plain[0]);
    all.outcomes[1].candidates.push_back(*all.plain[1]);
    CHECK(plain_beside(all, 2) == &*all.plain[1]);
    all.plain[1]->objective = 3.0;
    CHECK(plain_beside(all, 2) == &*all.plain[0]);
    CHECK(compared_plain(all, 3).beside == &*all.plain[0]);
    CHECK(compared_plain(all, 3).on_cut == &*all.plain[1]);
    CHECK(compared_plain(all, 2).on_cut == &*all.plain[0]);
    all.plain[0].reset();
    CHECK(compared_plain(all, 2).on_cut == nullptr);
}

TEST_CASE("the first token on a cut beside that of the plain decoding compared with: of prompts alone, or load by load") {
    Judged all = two_cuts();
    all.prepared[0].time_to_first_token = Seconds(6.0);
    all.prepared[1].time_to_first_token = Seconds(4.0);
    const OwnPlain alone = own_plain_of(all, 2, loads(LoadKind::batch));
    CHECK(alone.alone == 1.5);
    CHECK(alone.mean == 1.0);
    CHECK(alone.at_points.empty());
    all.plain[0]->first_token = Seconds(9.0);
    all.plain[1]->first_token = Seconds(2.0);
    const OwnPlain loaded = own_plain_of(all, 2, loads(LoadKind::concurrency));
    CHECK(loaded.alone == 1.0);
    CHECK(loaded.mean == 4.5);
    CHECK(loaded.slower == 0.0);
    all.plain[0]->time_per_token = Seconds(0.5);
    all.plain[1]->time_per_token = Seconds(0.25);
    const double tokens = all.prepared[0].round.output_tokens;
    CHECK(own_plain_of(all, 2, loads(LoadKind::concurrency)).slower == Approx(0.25 * tokens / 2.0));
    // Prompts take no time to read, so that the first token comes with the first step: after 11 and 6 s, 15 and 10 s.
    REQUIRE(loaded.at_points.size() == 2);
    CHECK(loaded.at(0) == Approx(11.0 / 6.0));
    CHECK(loaded.at(1) == Approx(15.0 / 10.0));
    // On the cut of that plain decoding itself, and where either cannot be priced, nothing grows.
    const auto grows = [&](std::size_t variant) {
        const OwnPlain growth = own_plain_of(all, variant, loads(LoadKind::concurrency));
        return growth.alone != 1.0 || growth.mean != 1.0 || !growth.at_points.empty();
    };
    CHECK_FALSE(grows(3));
    all.plain[0].reset();
    CHECK_FALSE(grows(2));
    all.plain[1].reset();
    CHECK_FALSE(grows(2));
}

TEST_CASE("beside plain decoding that a rate of arrivals overruns no first token is late") {
    Judged all = two_cuts();
    all.plain[1]->overrun = true;
    Workload workload = loads(LoadKind::arrival_rate);
    workload.traffic = traffic_from({{0.01, 1.0}, {5.0, 1.0}}, {{0.0, 1.0}});  // a server answers 1/8 a second at most
    workload.traffic.kind = LoadKind::arrival_rate;
    for (const std::size_t variant : {2, 3}) {
        const OwnPlain growth = own_plain_of(all, variant, workload);
        CHECK(growth.mean == 0.0);
        CHECK((variant == 3 ? growth.at(0) == 1.0 : growth.at(0) > 1.5));  // of 11 and 6 s, and some wait
        CHECK(growth.at(1) == 0.0);
    }
}

TEST_CASE("a cut of the devices is judged beside the one on which fewest requests wait, for latency on any device") {
    Judged all = two_cuts();
    all.plain_waiting[0] = {0.5, 0.6, 0.55};
    all.plain_waiting[1] = {0.0, 0.2, 0.1};
    all.plain[0]->first_token = Seconds(9.0);
    all.plain[1]->first_token = Seconds(2.0);
    all.plain[0]->time_per_token = Seconds(0.5);
    all.plain[1]->time_per_token = Seconds(0.25);
    Workload workload = loads(LoadKind::concurrency);
    const auto check_longer = [&] {
        const OwnPlain longer = own_plain_of(all, 2, workload);
        CHECK(longer.waiting == Approx(0.45));
        CHECK(longer.waiting_at_point(0) == Approx(0.5));
        CHECK(longer.waiting_at_point(1) == Approx(0.4));
        CHECK(longer.first_token_there == 4.5);
        CHECK(longer.slower_there == Approx(0.25 * all.prepared[0].round.output_tokens / 2.0));
    };
    const auto check_alone = [&](std::size_t variant) {
        const OwnPlain alone = own_plain_of(all, variant, workload);
        CHECK(alone.waiting == 0.0);
        CHECK(alone.waiting_at_point(1) == 0.0);
        CHECK(alone.first_token_there == 1.0);
    };
    check_longer();
    check_alone(3);
    for (const std::size_t variant : {1, 3}) {
        all.variants[variant].setup.platform.device.name = "another gpu";
    }
    check_alone(2);
    check_alone(3);
    workload.objective = Objective::latency;
    check_longer();
    check_alone(3);
}

TEST_CASE("a time to the first token that is none, or has no end, makes nothing grow") {
    constexpr double endless = std::numeric_limits<double>::infinity();
    struct Case {
        double own, beside, growth;
    };
    for (const auto& [own, beside, growth] : {Case{6.0, 4.0, 1.5}, Case{0.0, 4.0, 1.0}, Case{6.0, 0.0, 1.0},
                                              Case{0.0, 0.0, 1.0}, Case{endless, 4.0, 1.0}, Case{6.0, endless, 1.0}}) {
        CAPTURE(own, beside);
        Judged all = two_cuts();
        all.prepared[0].time_to_first_token = Seconds(own);
        all.prepared[1].time_to_first_token = Seconds(beside);
        CHECK(own_plain_of(all, 2, loads(LoadKind::batch)).alone == growth);
    }
}

TEST_CASE("a gain is over the plain decoding compared with, one of capacity as long as either cannot serve the load") {
    Candidate beside = plain_of(0, 3.0), on_cut = plain_of(1, 4.0);
    struct Case {
        bool plain_overrun, own_problem, of_capacity;
        double gain;
        bool still_of_capacity;
    };
    // Over plain decoding on its cut the gain is 5: of objectives 3/1.5 = 2 where both serve the load, 5·3/4 = 3.75 where not.
    for (const Case& each :
         {Case{false, false, false, 2.0, false}, Case{false, false, true, 2.0, false}, Case{true, false, false, 3.75, false},
          Case{true, false, true, 5.0, true}, Case{false, true, false, 3.75, false}, Case{false, true, true, 5.0, true},
          Case{true, true, true, 5.0, true}}) {
        CAPTURE(each.plain_overrun, each.own_problem, each.of_capacity);
        beside.overrun = each.plain_overrun;
        Outcome outcome;
        outcome.gain = 5.0;
        outcome.objective = 1.5;
        outcome.gain_of_capacity = each.of_capacity;
        outcome.problem = each.own_problem ? "too many" : "";
        beside.time_per_token = Seconds(6.0);
        outcome.means.time_per_token = Seconds(2.0);
        compare_with_plain({&beside, &on_cut}, outcome);
        CHECK(outcome.gain == Approx(each.gain));
        CHECK(outcome.gain_of_capacity == each.still_of_capacity);
        CHECK(outcome.speedup == 3.0);
    }
    for (const ComparedPlain& missing : {ComparedPlain{nullptr, &on_cut}, ComparedPlain{&beside, nullptr}, ComparedPlain{}}) {
        Outcome outcome;
        outcome.gain = 5.0;
        compare_with_plain(missing, outcome);
        CHECK(outcome.gain == 5.0);
    }
}

TEST_CASE("plain decoding is priced on each platform that has no problem, at the workload's loads") {
    Judged all = two_cuts();
    all.prepared[1].problem = "too small";
    const std::vector<std::optional<Candidate>> plain = plain_candidates(all, loads(LoadKind::batch));
    REQUIRE(plain.size() == 4);
    REQUIRE(plain[0]);
    // Half of the time a batch of 1 in 11 s, half a batch of 5 in 15 s.
    CHECK(plain[0]->tokens_per_second_device == Approx(0.5 / 11.0 + 0.5 * 5.0 / 15.0));
    CHECK(plain[0]->objective == Approx(1.0 / plain[0]->tokens_per_second_device));
    CHECK_FALSE(plain[1]);
    CHECK_FALSE(plain[2]);
    CHECK_FALSE(plain[3]);
}

TEST_CASE("beside the largest rates plain decoding is at its own, or, where it serves none, at the best that anybody serves") {
    Judged all = two_cuts();
    Workload workload = loads(LoadKind::arrival_rate);
    workload.most_arrivals = true;
    const auto serves = [&](std::size_t variant, double rate) {
        Candidate candidate = plain_of(variant, 7.0);
        candidate.requests_per_second = rate;
        all.outcomes[variant].candidates.push_back(candidate);
    };
    serves(1, 0.02);
    serves(2, 0.03);
    serves(2, 0.01);
    const std::vector<std::optional<Candidate>> plain = plain_candidates(all, workload);
    REQUIRE(plain[1]);
    CHECK(plain[1]->requests_per_second == 0.02);
    CHECK(plain[1]->objective == 7.0);
    REQUIRE(plain[0]);
    CHECK(plain[0]->tokens_per_second_device == Approx(0.03 * 8.0));  // answers of 8 tokens
    CHECK(plain[0]->objective == sim::unlimited);
    CHECK(plain[0]->requests_per_second == 0.0);
    CHECK_FALSE(plain[2]);
}

}  // namespace compared_plain_test
