// Is every rollback and way of verifying compared, best first, and does one that cannot be used say why?
#include <catch2/catch.hpp>

#include "origins.h"
#include "setups.h"
#include "sweeps/policy_comparison.h"

namespace policy_comparison_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Mamba2-2.7B with every rollback policy, chains and one tree, packed and unrolled.
Workload mamba_workload(Limits limits = {}) {
    Workload workload;
    workload.limits = limits;
    workload.speculations = sim::chains_up_to(4);
    for (const sim::Verification verification : {sim::Verification::packed, sim::Verification::unrolled}) {
        workload.speculations.push_back({sim::BinaryShape{4}, verification, "binary 4"});
    }
    const sim::Platform where = platform("rtx-4090", "cuda-graph");
    for (const sim::Rollback rollback : sim::rollbacks_for(model("mamba2-2.7b"))) {
        Variant variant;
        variant.labels = {
            "mamba2-2.7b", "bf16", "rtx-4090", "cuda-graph", "roofline", "mamba2-130m", std::string(name_of(rollback)), 1};
        variant.origin = origin_of(variant.labels);
        variant.setup = pair_setup("mamba2-2.7b", "mamba2-130m", where);
        variant.setup.acceptance.siblings = sim::RankAcceptance({0.8, 0.1});
        variant.setup.rollback = rollback;
        variant.setup.speculations = workload.speculations;
        workload.variants.push_back(variant);
    }
    workload.traffic = traffic_from({{4, 1.0}}, {{1024, 1.0}});
    return workload;
}

}  // namespace

TEST_CASE("each rollback and way of verifying appears once, best first, the recommended one at the head") {
    const RecommendationResult result = recommend(mamba_workload(), 1);
    REQUIRE(result.recommendation);
    const Recommendation& found = *result.recommendation;
    const std::vector<PolicyOutcome> outcomes = compare_policies(found);
    // replay, ring and recompute follow packed and unrolled verification, joint and snapshot too where they can.
    REQUIRE(outcomes.size() >= 8);
    CHECK(outcomes.front().best == &found.candidates.front());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        REQUIRE(outcomes[i].best != nullptr);
        if (i > 0) {
            CHECK(outcomes[i].best->objective >= outcomes[i - 1].best->objective);
        }
        for (std::size_t j = 0; j < i; ++j) {
            CHECK_FALSE((outcomes[i].variant == outcomes[j].variant && outcomes[i].verification == outcomes[j].verification));
        }
        // No candidate of the same policy is better.
        for (const Candidate& candidate : found.candidates) {
            const sim::Speculation& speculation = found.speculations[static_cast<std::size_t>(candidate.speculation)];
            if (candidate.variant == outcomes[i].variant && speculation.verification == outcomes[i].verification) {
                CHECK(candidate.objective >= outcomes[i].best->objective);
            }
        }
    }
}

TEST_CASE("policies that keep no limit come last, with their reason") {
    const RecommendationResult free = recommend(mamba_workload(), 1);
    Bytes least, most;
    for (const PolicyOutcome& outcome : compare_policies(*free.recommendation)) {
        least = least > Bytes(0.0) ? std::min(least, outcome.best->peak_memory) : outcome.best->peak_memory;
        most = std::max(most, outcome.best->peak_memory);
    }
    Limits limits;
    limits.memory = least + (most - least) * 0.05;
    const RecommendationResult tight = recommend(mamba_workload(limits), 1);
    REQUIRE(tight.recommendation);
    const std::vector<PolicyOutcome> outcomes = compare_policies(*tight.recommendation);
    CHECK(outcomes.front().best != nullptr);
    REQUIRE(outcomes.back().best == nullptr);
    CHECK(outcomes.back().reason.find("at once") != std::string::npos);
}

TEST_CASE("plain decoding has no policies") {
    Workload workload = mamba_workload();
    workload.limits.minimum_gain = 1000.0;
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    CHECK_FALSE(result.recommendation->speculate);
    CHECK(compare_policies(*result.recommendation).empty());
}

TEST_CASE("each excluded policy has its own reason") {
    Recommendation found;
    found.variants.resize(3);
    found.speculations = sim::chains_up_to(1);
    found.speculate = true;
    found.candidates.resize(1);
    found.excluded.resize(2);
    found.excluded[0].variant = 1;
    found.excluded[0].reason = "the first";
    found.excluded[1].variant = 2;
    found.excluded[1].reason = "the second";
    const std::vector<PolicyOutcome> outcomes = compare_policies(found);
    REQUIRE(outcomes.size() == 3);
    CHECK(outcomes[1].variant == 1);
    CHECK(outcomes[1].reason == "the first");
    CHECK(outcomes[2].reason == "the second");
}

}  // namespace policy_comparison_test
