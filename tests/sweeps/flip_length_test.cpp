// Between two choices with one drafter: the accept length at which the other one is as good, by hand.
#include <catch2/catch.hpp>

#include <cmath>

#include "recommend_workloads.h"
#include "sweeps/recommend.h"
#include "sweeps/recommend_inside.h"

namespace flip_length_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// A model drafts five tokens, or one where the engine lets it draft no more.
Workload five_or_one(LoadKind kind) {
    sim::RoundSetup five = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    five.output_tokens = kind == LoadKind::batch ? 0.0 : 300.0;
    five.prompt_tokens = 1000.0;
    sim::RoundSetup one = five;
    one.acceptance.most_draft_tokens = 1;
    Workload workload;
    workload.variants = {variant("model", five, "five"), variant("model", one, "one")};
    workload.speculations = {sim::chains_up_to(5)[0], sim::chains_up_to(5)[1], sim::chains_up_to(5)[5]};
    workload.traffic.points = {{kind == LoadKind::arrival_rate ? 1.0 : 4.0, 1000.0, 1.0}};
    workload.traffic.kind = kind;
    workload.objective = Objective::latency;
    workload.prompt_tokens = 1000.0;
    return workload;
}

struct Two {
    Recommendation found;
    Candidate five, one;
};

Two two_of(const Workload& workload) {
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    REQUIRE(found.runners_up.front().variant == 1);
    const Candidate five = found.candidates.front(), one = found.runners_up.front();
    REQUIRE(five.draft_tokens == 5);
    REQUIRE(one.draft_tokens == 1);
    REQUIRE(found.flip);
    REQUIRE(found.flip->variant == 1);
    return {found, five, one};
}

}  // namespace

TEST_CASE("shorter drafts of the same drafter win where what either accepts has shrunk by the same share") {
    // Five drafts take R5 and yield t, one takes R1 and yields 1 + s·(t - 1), s = 0.8/(0.8 + ... + 0.8^5); as good where
    // R5/t = R1/(1 + s·(t - 1)): t = R5·(1 - s)/(R1 - s·R5).
    const Workload workload = five_or_one(LoadKind::batch);
    const Two two = two_of(workload);
    const sim::CompiledRound round = sim::compile_round(two.found.variants.front().setup);
    const double of_five = sim::evaluate(round, {2, 4.0, 1000.0}).round.value(),
                 of_one = sim::evaluate(round, {1, 4.0, 1000.0}).round.value();
    const double s = 0.8 / (0.8 + 0.64 + 0.512 + 0.4096 + 0.32768);
    CHECK(two.found.flip->accept_length == Approx(of_five * (1.0 - s) / (of_one - s * of_five)).epsilon(1e-6));
}

TEST_CASE("the part of a TPOT that goes to prompts stays when drafts are accepted less") {
    const Two two = two_of(five_or_one(LoadKind::concurrency));
    REQUIRE(two.five.decode_share_user < 0.97);
    const double t = two.found.flip->accept_length;
    REQUIRE(t < two.five.accept_length);
    const auto figure = [](const Candidate& candidate, double length) {
        const double decoding = candidate.objective * candidate.decode_share_user;
        return candidate.objective - decoding + decoding * candidate.accept_length / length;
    };
    const double s = (two.one.accept_length - 1.0) / (two.five.accept_length - 1.0);
    CHECK(figure(two.five, t) == Approx(figure(two.one, 1.0 + s * (t - 1.0))).epsilon(1e-6));
}

TEST_CASE("under arrivals both settle elsewhere when drafts are accepted less") {
    const Workload workload = five_or_one(LoadKind::arrival_rate);
    const Two two = two_of(workload);
    const double t = two.found.flip->accept_length;
    REQUIRE(t < two.five.accept_length);
    const auto figure = [&](const Candidate& candidate, double length) {
        const sim::CompiledRound round = sim::compile_round(two.found.variants[candidate.variant].setup);
        return outcome_with_length(round, candidate.plan, workload.traffic, workload.objective, length).objective;
    };
    const double s = (two.one.accept_length - 1.0) / (two.five.accept_length - 1.0);
    CHECK(figure(two.five, t) == Approx(figure(two.one, 1.0 + s * (t - 1.0))).epsilon(2e-3));
    // With its break-even length it is as good as plain decoding.
    const double even = two.five.break_even_accept_length;
    REQUIRE(even < two.five.accept_length);
    CHECK(figure(two.five, even) == Approx(two.found.plain.objective).epsilon(2e-3));
}

TEST_CASE(
    "of several runners-up the one that is as good at the longest accept length counts, if it is as good at any above 1") {
    // At a length of t the best takes 3/t. With the same drafter, a rival that yields 1.4 of 3 tokens takes f·1.4/(1 + (t -
    // 1)/5): as long where t = 2.4/(1.4·f - 0.6).
    const auto flip = [](double same_drafter, double plain) {
        Workload workload;
        workload.objective = Objective::latency;
        Recommendation found;
        found.variants.resize(3);
        std::vector<Prepared> prepared(3);
        const auto candidate = [](std::size_t variant, int draft_tokens, double objective, double accept_length) {
            Candidate one;
            one.variant = variant;
            one.draft_tokens = draft_tokens;
            one.objective = objective;
            one.accept_length = accept_length;
            return one;
        };
        found.variants[0].origin.drafter = found.variants[1].origin.drafter = 0;
        found.candidates = {candidate(0, 5, 1.0, 3.0)};
        found.runners_up = {candidate(1, 1, same_drafter, 1.4), candidate(2, 0, plain, 1.0)};
        return flip_length_of(found, prepared, workload);
    };
    struct Case {
        double same_drafter, plain;
        std::size_t variant;
        double length;
    };
    for (const auto& [same_drafter, plain, variant, length] :
         {Case{2.2 / 1.4, 2.5, 1, 1.5}, Case{2.2 / 1.4, 1.2, 2, 2.5}, Case{1.4 / 1.4, 1.2, 1, 3.0},
          Case{1.8 / 1.4, 1.6, 1, 2.0}, Case{1.9 / 1.4, 1.6, 2, 1.875}, Case{3.1 / 1.4, 2.5, 2, 1.2}}) {
        CAPTURE(same_drafter, plain);
        const std::optional<FlipLength> found = flip(same_drafter, plain);
        REQUIRE(found);
        CHECK(found->variant == variant);
        CHECK(found->accept_length == Approx(length).epsilon(1e-6));
    }
    CHECK_FALSE(flip(3.1 / 1.4, 3.0));  // plain decoding is as good where nothing is accepted
    CHECK_FALSE(flip(3.1 / 1.4, 4.0));
}

TEST_CASE("a rival with another drafter keeps its figure when the best drafts are accepted less") {
    Workload workload;
    workload.objective = Objective::latency;
    Recommendation found;
    found.variants.resize(2);
    found.variants[0].origin.drafter = 0;
    found.variants[1].origin.drafter = 1;
    found.candidates.resize(1);
    found.candidates.front().draft_tokens = 5;
    found.candidates.front().accept_length = 3.0;
    found.candidates.front().objective = 1.0;
    found.runners_up = found.candidates;
    found.runners_up.front().variant = 1;
    found.runners_up.front().accept_length = 2.0;
    found.runners_up.front().objective = 1.25;
    const std::vector<Prepared> prepared(2);
    CHECK(flip_length_of(found, prepared, workload)->accept_length == Approx(3.0 / 1.25));
    found.variants[1].origin.drafter = 0;  // 3/t = 1.25·2/(1 + (t - 1)/2)
    CHECK(flip_length_of(found, prepared, workload)->accept_length == Approx(1.5).epsilon(1e-6));
}

TEST_CASE("drafts are wasted as far as they are not accepted") {
    const Recommendation found = *recommend(five_or_one(LoadKind::batch), 1).recommendation;
    for (const Candidate& candidate : found.candidates) {
        const double drafts = candidate.draft_tokens;
        CHECK(candidate.wasted_draft_share ==
              Approx(drafts > 0.0 ? 1.0 - (candidate.accept_length - 1.0) / drafts : 0.0).margin(1e-12));
    }
    CHECK(found.candidates.front().wasted_draft_share > 0.4);  // 2.69 of 5 are accepted
}

}  // namespace flip_length_test
