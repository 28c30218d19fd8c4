// Loads that no configuration serves within the limits: what is told of them, and what is answered instead.
#include <catch2/catch.hpp>

#include <numeric>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend_inside.h"

namespace unserved_loads_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B on an H100 with three drafts of one layer, or none; prompts of 1,000 tokens and answers of 250.
Workload three_drafts(LoadKind kind) {
    Workload workload;
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = sim::OneLayerDrafter{};
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 250.0;
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    setup.speculations = workload.speculations;
    workload.variants = {variant("model", setup)};
    workload.traffic.kind = kind;
    workload.prompt_tokens = 1000.0;
    workload.limits.first_token_growth = workload.limits.waiting = sim::unlimited;
    return workload;
}

Variant twin_of(const Variant& variant) {
    Variant twin = variant;
    twin.labels.drafter = "twin";
    twin.origin = origin_of(twin.labels);
    return twin;
}

}  // namespace

TEST_CASE("what is served of a traffic keeps its shares among itself") {
    Workload workload = three_drafts(LoadKind::batch);
    workload.traffic.points = {{1.0, 1000.0, 0.2}, {2.0, 1000.0, 0.3}, {4.0, 1e7, 0.1}, {8.0, 1000.0, 0.4}};
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.unserved.size() == 1);
    CHECK(found.unserved.front().point.load == 4.0);
    REQUIRE(found.traffic.points.size() == 3);
    CHECK(found.traffic.points[0].share == Approx(0.2 / 0.9));
    CHECK(found.traffic.points[1].share == Approx(0.3 / 0.9));
    CHECK(found.traffic.points[2].share == Approx(0.4 / 0.9));
}

TEST_CASE("of a load that nobody serves the nearest miss is told, of memory as of times") {
    Workload workload = three_drafts(LoadKind::batch);
    workload.traffic.points = {{1.0, 1000.0, 0.5}, {1.0, 100'000.0, 0.5}};
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const sim::RoundEstimate drafting = sim::evaluate(round, {1, 1.0, 1e5}), plain = sim::evaluate(round, {0, 1.0, 1e5});
    REQUIRE(plain.time_per_token > 1.2 * drafting.time_per_token);
    REQUIRE(plain.memory < drafting.memory / 1.001);
    workload.limits.time_per_token = 1.01 * drafting.time_per_token;  // that plain decoding misses by a fifth
    workload.limits.memory = drafting.memory / 1.001;                 // and drafts by a thousandth
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.unserved.size() == 1);
    CHECK_THAT(found.unserved.front().reason, Catch::StartsWith("model on h100-sxm: with 3 drafts it needs "));
    workload.limits.memory.reset();
    workload.limits.time_per_token = drafting.time_per_token / 1.001;
    const Recommendation slow = *recommend(workload, 1).recommendation;
    REQUIRE(slow.unserved.size() == 1);
    CHECK_THAT(slow.unserved.front().reason, Catch::StartsWith("model on h100-sxm: with 3 drafts it reaches a TPOT of "));
}

TEST_CASE("of variants that miss a limit alike the first tells why a load is left out") {
    // Between what plain decoding serves and what drafts serve, whose TPOT is too long.
    Workload workload = three_drafts(LoadKind::arrival_rate);
    workload.objective = Objective::latency;
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const double plain = most_arrivals(round, 0, 1100.0), drafting = most_arrivals(round, 1, 1100.0);
    REQUIRE(drafting > 1.05 * plain);
    workload.traffic =
        traffic_from({{0.1, 1.0}, {0.5 * (plain + drafting), 1.0}}, {{1100.0, 1.0}}, ShareOf::time, LoadKind::arrival_rate);
    workload.limits.time_per_token = 1.5 * sim::evaluate(round, {0, 1.0, 1100.0}).time_per_token;
    workload.limits.minimum_gain = 1e-3;
    workload.variants.push_back(twin_of(workload.variants.front()));
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.unserved.size() == 1);
    CHECK_THAT(found.unserved.front().reason, Catch::StartsWith("model on h100-sxm: with 3 drafts it reaches a TPOT of "));
    std::swap(workload.variants[0], workload.variants[1]);
    CHECK_THAT(recommend(workload, 1).recommendation->unserved.front().reason, Catch::StartsWith("twin on h100-sxm: "));
}

TEST_CASE("full servers answer arrivals that nobody keeps up with, however few requests they hold, and for what was asked") {
    for (const Objective objective : {Objective::latency, Objective::throughput}) {
        Workload workload = three_drafts(LoadKind::arrival_rate);
        workload.variants.push_back(twin_of(workload.variants.front()));  // two drafters on one platform
        workload.objective = objective;
        workload.traffic.points = {{1e5, 1100.0, 1.0}};
        workload.limits.time_to_first_token = Seconds(10.0);
        const Recommendation found = *recommend(workload, 1).recommendation;
        REQUIRE(found.saturation);
        CHECK(found.saturation->was_for_latency == (objective == Objective::latency));
        CHECK(found.saturation->first_token_limit == std::optional(Seconds(10.0)));
        const sim::CompiledRound round = sim::compile_round(plain_variant(workload.variants.front()).setup);
        CHECK(found.traffic.points.front().load == most_sequences(round, 0, 1100.0));
    }
    Workload one = three_drafts(LoadKind::arrival_rate);
    one.variants.front().setup.drafter = sim::NgramDrafter{};
    one.variants.front().setup.platform.device.memory = Bytes(40e9);
    one.traffic.points = {{1e5, 100'000.0, 1.0}};  // 13 GB beside 16 GB of weights
    REQUIRE(most_sequences(sim::compile_round(one.variants.front().setup), 0, 100'000.0) == 1.0);
    const Recommendation alone = *recommend(one, 1).recommendation;
    REQUIRE(alone.saturation);
    CHECK(alone.traffic.points.front().load == 1.0);
}

TEST_CASE("arrivals that a limit on the first token keeps out, at whatever rate, are not answered for full servers") {
    Workload workload = three_drafts(LoadKind::arrival_rate);
    workload.objective = Objective::latency;
    workload.traffic.points = {{0.1, 1100.0, 1.0}};
    workload.limits.time_to_first_token = Seconds(1e-6);
    CHECK_FALSE(recommend(workload, 1).recommendation);
    CHECK_FALSE(saturated(workload, 1));
    workload.limits.time_to_first_token.reset();
    CHECK_FALSE(saturated(workload, 1));  // it is served
    CHECK(recommend(workload, 1).recommendation);
    workload.traffic.kind = LoadKind::concurrency;
    CHECK_FALSE(saturated(workload, 1));
}

TEST_CASE("up to 4,096 loads are judged one by one") {
    Workload workload = three_drafts(LoadKind::batch);
    workload.variants = {plain_variant(workload.variants.front())};
    workload.speculations = sim::chains_up_to(0);
    workload.traffic.points.assign(4095, {1.0, 1000.0, 1.0 / 4096});
    workload.traffic.points.push_back({1.0, 1e7, 1.0 / 4096});  // fits in no memory
    const std::optional<RecommendationResult> found = without_unserved(workload, 1);
    REQUIRE(found);
    CHECK(found->recommendation->unserved.size() == 1);
    workload.traffic.points.push_back({1.0, 1000.0, 1.0 / 4096});
    CHECK_FALSE(without_unserved(workload, 1));
}

}  // namespace unserved_loads_test
