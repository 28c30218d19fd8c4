// Which runs are planned: what remains after them is compared with a Monte Carlo over the same linear model's inputs.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <set>
#include <variant>

#include "origins.h"
#include "setups.h"
#include "sweeps/measurement_plan.h"
#include "sweeps/uncertainty.h"

namespace measurement_plan_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Workload workload_of(const std::string& stack_name) {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", stack_name));
    const VariantLabels labels = {"llama-3-8b", "bf16", "h100-sxm", stack_name, "roofline", "draft", "truncate", 1};
    Workload workload;
    workload.variants = {{labels, setup, origin_of(labels)}};
    workload.speculations = sim::chains_up_to(5);
    workload.traffic.points = {{1, 1000, 0.5}, {32, 1000, 0.5}};
    return workload;
}

}  // namespace

TEST_CASE("each planned run narrows the interval, and no run is worth more than knowing everything") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    REQUIRE(found.recommendation->speculate);
    const MeasurementPlan plan = plan_measurements(*found.recommendation, workload, 3);
    REQUIRE(plan.runs.size() >= 2);
    double width = plan.high - plan.low, value = 0.0;
    for (const PlannedRun& run : plan.runs) {
        CHECK(run.high - run.low < width);
        CHECK(run.value <= plan.perfect + 1e-9);
        CHECK(run.value >= value - 0.002);  // a Monte Carlo of 4,000 worlds
        width = run.high - run.low;
        value = run.value;
    }
    CHECK(width < 0.9 * (plan.high - plan.low));
}

TEST_CASE("rounds are measured with the plain steps of their batch: what the model leaves of steps is no gain") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const MeasurementPlan plan = plan_measurements(*found.recommendation, workload, 3);
    std::map<double, int> rounds, steps;
    for (const PlannedRun& each : plan.runs) {
        if (!each.run.of_acceptance) {
            ++(each.run.draft_tokens > 0 ? rounds : steps)[each.run.batch];
        }
    }
    REQUIRE(!steps.empty());
    for (const auto& [batch, count] : steps) {
        CHECK(rounds[batch] == count);
    }
}

TEST_CASE("before any run the interval holds that of the inputs and what the model leaves of rounds") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const Candidate& best = found.recommendation->candidates.front();
    const GainInterval interval = gain_interval(found.recommendation->variants[best.variant].setup, best.speculation,
                                                workload.traffic, workload.objective);
    const MeasurementPlan plan = plan_measurements(*found.recommendation, workload, 1);
    CHECK(plan.gain == Approx(interval.value));
    // Left of rounds: 12 % of all, and 11 % at each of two batches with half of the traffic. The interval of the inputs adds
    // rises and falls apart; the plan halves the range of each.
    const double left = 2.0 * 1.2816 * plan.gain * std::sqrt(0.12 * 0.12 + 0.11 * 0.11 * 0.5);
    CHECK(plan.high - plan.low == Approx(std::hypot(interval.high - interval.low, left)).epsilon(0.1));
}

TEST_CASE("a run that is measured badly is worth less") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const MeasurementPlan good = plan_measurements(*found.recommendation, workload, 1, 0.01);
    const MeasurementPlan bad = plan_measurements(*found.recommendation, workload, 1, 0.10);
    REQUIRE(good.runs.size() == 1);
    REQUIRE(bad.runs.size() <= 1);
    if (!bad.runs.empty()) {
        CHECK(good.runs[0].high - good.runs[0].low <= bad.runs[0].high - bad.runs[0].low);
    }
}

TEST_CASE("where drafting loses, runs are planned for the best that drafts, and are worth little") {
    Workload workload = workload_of("cuda-graph");
    workload.limits.minimum_gain = 100.0;  // more than any drafter gains
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    REQUIRE(!found.recommendation->speculate);
    const std::optional<Recommendation> drafting = best_drafting(workload);
    REQUIRE(drafting);
    CHECK(!drafting->speculate);
    CHECK(drafting->candidates.front().speculation > 0);
    CHECK(!plan_measurements(*drafting, workload, 2).runs.empty());
}

TEST_CASE("a planned run predicts the time of what it runs: a step of plain decoding, or a round without prompts") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const Candidate& best = found.recommendation->candidates.front();
    const sim::CompiledRound round = sim::compile_round(found.recommendation->variants[best.variant].setup);
    int times = 0;
    for (const PlannedRun& planned : plan_measurements(*found.recommendation, workload, 4).runs) {
        const CandidateRun& run = planned.run;
        if (!run.of_acceptance) {
            const sim::RoundEstimate estimate = sim::evaluate(round, {run.draft_tokens, run.batch, run.context});
            CHECK(run.seconds_predicted ==
                  (run.draft_tokens > 0 ? estimate.round - estimate.prompts : estimate.autoregressive).value());
            ++times;
        }
    }
    CHECK(times > 1);
}

TEST_CASE("knowing everything is worth less than the width of what is unknown") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const MeasurementPlan plan = plan_measurements(*found.recommendation, workload, 1);
    CHECK(plan.perfect < (plan.high - plan.low) / plan.gain);
}

TEST_CASE("what is unknown of rounds at each batch counts by the share of the traffic there, batch 1 included") {
    // Both pairs are far from the device's ridge: the same share of the gain is unknown.
    const auto relative_width = [](double first, double second) {
        Workload workload = workload_of("cuda-graph");
        workload.traffic.points = {{first, 1000, 0.5}, {second, 1000, 0.5}};
        const MeasurementPlan plan = plan_measurements(*recommend(workload, 1).recommendation, workload, 1);
        return (plan.high - plan.low) / plan.gain;
    };
    CHECK(relative_width(1, 2) == Approx(relative_width(8, 16)).epsilon(0.01));
}

TEST_CASE("runs so bad that they narrow nothing are not planned") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    CHECK(plan_measurements(*found.recommendation, workload, 4, 10.0).runs.empty());
    CHECK(plan_measurements(*found.recommendation, workload, 4, 0.0).runs.size() == 4);
}

TEST_CASE("a round that is measured without the plain step of its batch leaves what the model leaves of that step") {
    const Workload workload = workload_of("cuda-graph");
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    const MeasurementPlan plan = plan_measurements(*found.recommendation, workload, 4, 0.0);
    for (const PlannedRun& run : plan.runs) {
        REQUIRE((run.run.of_acceptance || run.run.batch == 1.0 || run.run.draft_tokens > 0));  // no plain step at 32
    }
    // However well all else is known: the round at 32 shows 11 % of its own and 4 % of its step as one, so that of the 11 %,
    // with half of the traffic, 0.04/hypot(0.04, 0.11) stay unknown.
    const double left = 0.5 * 0.11 * 0.04 / std::hypot(0.04, 0.11);
    CHECK(plan.runs.back().high - plan.runs.back().low > 2.0 * 1.2816 * plan.gain * left);
}

TEST_CASE("knowing everything is worth what the better of two would gain on average, over the one chosen now") {
    // One chain and plain decoding: the gain is normal around g with the deviation s of its interval, and the better of it and
    // 1 gains g·P(d) + s·p(d) + 1 − P(d), d = (g − 1)/s.
    Workload workload = workload_of("cuda-graph");
    workload.speculations = {sim::chains_up_to(3)[0], sim::chains_up_to(3)[3]};
    workload.variants.front().setup.acceptance = sim::Acceptance::geometric(0.5);
    workload.variants.front().setup.speculations = workload.speculations;
    const std::optional<Recommendation> found = best_drafting(workload);
    REQUIRE(found);
    const MeasurementPlan plan = plan_measurements(*found, workload, 4, 0.01);
    const double deviation = (plan.high - plan.low) / 2.0 / 1.2816, far = (plan.gain - 1.0) / deviation;
    const double below = 0.5 * std::erfc(-far / std::sqrt(2.0)),
                 density = std::exp(-far * far / 2) / std::sqrt(2.0 * std::acos(-1.0));
    const double expected = plan.gain * below + deviation * density + 1.0 - below;
    REQUIRE(std::abs(far) < 2.0);
    CHECK(plan.perfect == Approx(expected / std::max(1.0, plan.gain) - 1.0).epsilon(0.06));
    REQUIRE(!plan.runs.empty());
    CHECK(plan.runs.back().value > 0.2 * plan.perfect);
    CHECK(plan.runs.back().value < plan.perfect);
}

TEST_CASE("runs are made at the batches of the traffic, which may be one") {
    Workload workload = workload_of("cuda-graph");
    workload.traffic.points = {{1, 1000, 0.1}, {3, 1000, 0.7}, {5, 1000, 0.1}, {7, 1000, 0.1}};
    const MeasurementPlan plan = plan_measurements(*recommend(workload, 1).recommendation, workload, 4, 0.0);
    bool at_three = false;
    for (const PlannedRun& run : plan.runs) {
        at_three = at_three || (!run.run.of_acceptance && run.run.batch == 3.0);
    }
    CHECK(at_three);
}

TEST_CASE("of many batches runs are made at the first, two in the middle and the last, at the mean of the contexts") {
    Workload workload = workload_of("cuda-graph");
    workload.traffic.points.clear();
    for (const double batch : {2.0, 4.0, 6.0, 9.0, 13.0}) {  // and 1
        workload.traffic.points.push_back({batch, 100.0 * batch, batch == 2.0 ? 2.0 : 0.5});
    }
    const MeasurementPlan plan = plan_measurements(*recommend(workload, 1).recommendation, workload, 6, 0.0);
    std::set<double> at;
    for (const PlannedRun& run : plan.runs) {
        at.insert(run.run.batch);
        // Half of the time at 2, an eighth at each of the others: 100 · (2/2 + (4 + 6 + 9 + 13)/8).
        CHECK(run.run.context == Approx(500.0));
    }
    CHECK(at.size() >= 2);
    for (const double batch : at) {
        CHECK((batch == 1.0 || batch == 4.0 || batch == 9.0 || batch == 13.0));
    }
}

TEST_CASE("of the batches between the ends, runs are made at the third and the two thirds of them, where the traffic is") {
    // 1, 2, 4, 6, 9 and 13: the third of them is 4, and two thirds are 9.
    for (const double often : {4.0, 9.0, 13.0}) {
        Workload workload = workload_of("cuda-graph");
        workload.traffic.points.clear();
        for (const double batch : {2.0, 4.0, 6.0, 9.0, 13.0}) {
            workload.traffic.points.push_back({batch, 1000.0, batch == often ? 0.96 : 0.01});
        }
        std::set<double> at;
        for (const PlannedRun& run : plan_measurements(*recommend(workload, 1).recommendation, workload, 4, 0.0).runs) {
            at.insert(run.run.of_acceptance ? 0.0 : run.run.batch);
        }
        CAPTURE(often);
        CHECK(at.contains(often));
    }
}

TEST_CASE("a batch in the middle between two at which runs are made counts at the smaller one") {
    // Of 1, 2, 4, 8 and 16 runs are made at all but 4.
    Workload workload = workload_of("cuda-graph");
    workload.traffic.points.clear();
    for (const double batch : {2.0, 4.0, 8.0, 16.0}) {
        workload.traffic.points.push_back({batch, 1000.0, batch == 4.0 ? 0.94 : 0.02});
    }
    std::set<double> at;
    for (const PlannedRun& run : plan_measurements(*recommend(workload, 1).recommendation, workload, 3, 0.0).runs) {
        at.insert(run.run.of_acceptance ? 0.0 : run.run.batch);
    }
    CHECK(at.contains(2.0));
    CHECK_FALSE(at.contains(4.0));
    CHECK_FALSE(at.contains(8.0));
}

TEST_CASE("where drafting gains in any case, no run is worth anything") {
    Workload workload = workload_of("cuda-graph");
    sim::RoundSetup& setup = workload.variants.front().setup;
    workload.speculations = {sim::chains_up_to(12)[0], sim::chains_up_to(12)[12]};
    setup.speculations = workload.speculations;
    setup.drafter = sim::NgramDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.98);
    workload.traffic.points = {{1, 1000, 1.0}};
    const MeasurementPlan plan = plan_measurements(*recommend(workload, 1).recommendation, workload, 2);
    REQUIRE(plan.gain > 5.0);
    CHECK(plan.perfect == Approx(0.0).margin(1e-9));
    REQUIRE(!plan.runs.empty());
    CHECK(plan.runs.front().value == Approx(0.0).margin(1e-9));
}

TEST_CASE("where plain decoding is best, runs are planned for the best that drafts all the same") {
    Workload workload = workload_of("cuda-graph");
    workload.variants.front().setup.acceptance = sim::Acceptance::geometric(0.1);
    const RecommendationResult found = recommend(workload, 1);
    REQUIRE(found.recommendation);
    REQUIRE(!found.recommendation->speculate);
    const std::optional<Recommendation> drafting = best_drafting(workload);
    REQUIRE(drafting);
    CHECK(drafting->candidates.front().speculation == 1);
    CHECK(plan_measurements(*drafting, workload, 2).gain < 1.0);
}

TEST_CASE("chains that a drafter cannot draft are no rivals") {
    // Four heads draft four tokens.
    const auto perfect = [](int longest) {
        Workload workload = workload_of("cuda-graph");
        workload.variants.front().setup.drafter = sim::MedusaDrafter{};
        workload.speculations = workload.variants.front().setup.speculations = sim::chains_up_to(longest);
        return plan_measurements(*recommend(workload, 1).recommendation, workload, 2).perfect;
    };
    CHECK(perfect(6) == perfect(4));
    CHECK(perfect(3) != perfect(4));
}

TEST_CASE("a run of a tree says which, and one of a chain has none") {
    Workload workload = workload_of("cuda-graph");
    workload.speculations.push_back({sim::BranchingShape{{3, 1, 1, 1, 1}}, sim::Verification::packed, "wide"});
    workload.variants.front().setup.speculations = workload.speculations;
    workload.variants.front().setup.acceptance.siblings = sim::RankAcceptance({0.8, 0.12, 0.05});
    workload.traffic.points = {{1, 1000, 1.0}};
    const auto trees_of = [&](const Recommendation& recommendation) {
        std::size_t trees = 0;
        for (const PlannedRun& each : plan_measurements(recommendation, workload, 4, 0.0).runs) {
            const std::optional<sim::TreeShape>& tree = each.run.tree;
            REQUIRE((!tree || std::holds_alternative<sim::BranchingShape>(*tree)));
            CHECK((!tree || each.run.draft_tokens == 15));
            trees += tree ? 1 : 0;
        }
        return trees;
    };
    const RecommendationResult all = recommend(workload, 1);
    REQUIRE(all.recommendation->candidates.front().speculation == 6);
    CHECK(trees_of(*all.recommendation) > 0);
    CHECK(trees_of(*best_drafting(workload)) == 0);
}

TEST_CASE("runs are planned for the best chain, not for a tree that is better or for plain decoding") {
    Workload workload = workload_of("cuda-graph");
    workload.speculations.push_back({sim::BranchingShape{{3, 1, 1, 1, 1}}, sim::Verification::packed, "wide"});
    workload.variants.front().setup.speculations = workload.speculations;
    workload.variants.front().setup.acceptance.siblings = sim::RankAcceptance({0.8, 0.12, 0.05});
    workload.traffic.points = {{1, 1000, 1.0}};
    const RecommendationResult all = recommend(workload, 1);
    REQUIRE(all.recommendation->candidates.front().speculation == 6);
    const std::optional<Recommendation> found = best_drafting(workload);
    REQUIRE(found);
    CHECK(found->candidates.front().speculation >= 1);
    CHECK(found->candidates.front().speculation <= 5);
}

}  // namespace measurement_plan_test
