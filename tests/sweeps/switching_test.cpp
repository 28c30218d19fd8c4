// What a server may change between while it runs, and how close to its memory a configuration may come.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "origins.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace switching_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B with a head of one layer whose first choices are accepted in half of the cases, and second ones in `second`.
Workload one_head(std::vector<sim::Speculation> speculations, double second = 0.45) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = sim::OneLayerDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.5);
    setup.acceptance.siblings = sim::RankAcceptance({0.5, second});
    setup.speculations = speculations;
    const VariantLabels labels = {"llama-3-8b", "bf16", "h100-sxm", "cuda-graph", "roofline", "one-layer", "truncate", 1};
    Workload workload;
    workload.variants = {{labels, setup, origin_of(labels)}};
    workload.speculations = std::move(speculations);
    workload.traffic = traffic_from({{1.0, 0.5}, {256.0, 0.5}}, {{1024.0, 1.0}}, ShareOf::tokens);
    return workload;
}

/// What the schedule of a recommendation drafts at one batch or another.
std::set<int> scheduled(const Workload& workload) {
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    REQUIRE(result.recommendation->speculate);
    std::set<int> found;
    for (const ScheduleEntry& entry : result.recommendation->schedule.entries) {
        found.insert(entry.speculation);
    }
    found.insert({0, result.recommendation->candidates.front().speculation});
    return found;
}

}  // namespace

TEST_CASE("a server that can change nothing keeps the recommended length, or is off") {
    Workload workload = one_head(sim::chains_up_to(6));
    CHECK(scheduled(workload).size() > 2);
    workload.variants.front().switching = Switching::lengths;
    CHECK(scheduled(workload).size() > 2);
    workload.variants.front().switching = Switching::nothing;
    CHECK(scheduled(workload).size() == 2);
}

TEST_CASE("a server that can change the length of chains alone keeps a recommended tree, or is off") {
    // Two siblings serve few requests and many better than any chain does, but not as well as chains of several lengths would.
    const auto of = [](std::vector<sim::Speculation> speculations) {
        Workload workload = one_head(std::move(speculations), 0.15);
        workload.traffic = traffic_from({{1.0, 0.1}, {256.0, 0.9}}, {{1024.0, 1.0}}, ShareOf::tokens);
        workload.variants.front().switching = Switching::lengths;
        return workload;
    };
    std::vector<sim::Speculation> speculations = sim::chains_up_to(6);
    const RecommendationResult chains = recommend(of(speculations), 1);
    speculations.push_back({sim::WidthsShape{{2}}, sim::Verification::packed, "two siblings"});
    const RecommendationResult tree = recommend(of(speculations), 1);
    REQUIRE(chains.recommendation);
    REQUIRE(tree.recommendation);
    REQUIRE(tree.recommendation->candidates.front().speculation == 7);
    REQUIRE(chains.recommendation->schedule.gain > tree.recommendation->candidates.front().gain);
    CHECK(scheduled(of(speculations)) == std::set<int>{0, 7});
}

TEST_CASE("memory is stated with as many digits as tell what is needed from what is allowed, and six at most") {
    Workload workload = one_head(sim::chains_up_to(1));
    workload.traffic = traffic_from({{1.0, 1.0}}, {{1024.0, 1.0}}, ShareOf::tokens);
    const RecommendationResult anything = recommend(workload, 1);
    REQUIRE(anything.recommendation);
    REQUIRE(anything.recommendation->speculate);
    const Bytes needed = anything.recommendation->candidates.front().peak_memory;
    const auto digits = [&](Bytes allowed) {
        workload.limits.memory = allowed;
        const RecommendationResult result = recommend(workload, 1);
        REQUIRE(result.excluded.size() == 1);
        const std::string& reason = result.excluded.front().reason;
        INFO(reason);
        const std::size_t end = reason.find(" GB of memory per device");
        REQUIRE(end != std::string::npos);
        return end - reason.rfind('.', end) - 1;
    };
    CHECK(digits(needed - Bytes(0.2e9)) == 1);
    CHECK(digits(needed - Bytes(1.0)) == 6);  // a byte does not show
}

}  // namespace switching_test
