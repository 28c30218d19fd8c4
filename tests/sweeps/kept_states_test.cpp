// Does a server keep room for the recurrent states of its longest draft, whatever it drafts at the moment?
#include <cmath>

#include <catch2/catch.hpp>

#include "origins.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace kept_states_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr double context = 8000.0;
constexpr int longest = 5;

/// Drafts of one layer on an H100, with a state kept for each draft where the target has any.
sim::RoundSetup setup_of(const std::string& target) {
    sim::RoundSetup setup = pair_setup(target, "llama-3.2-1b", platform("h100-sxm", "vllm-0.25"));
    setup.drafter = sim::OneLayerDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.8);
    setup.rollback = sim::has_recurrent_state(setup.target) ? sim::Rollback::snapshot : sim::Rollback::truncate;
    setup.speculations = sim::chains_up_to(longest);
    return setup;
}

Workload workload_of(const sim::RoundSetup& setup, const std::vector<WeightedValue>& batches) {
    Workload workload;
    const VariantLabels labels = {setup.target.name, "bf16", "h100-sxm", "vllm-0.25", "roofline", "one-layer", "snapshot", 1};
    workload.variants = {{labels, setup, origin_of(labels)}};
    workload.speculations = setup.speculations;
    workload.traffic = traffic_from(batches, {{context, 1.0}});
    return workload;
}

}  // namespace

TEST_CASE("a server started for drafts holds no more sequences while it drafts less") {
    const sim::CompiledRound round = sim::compile_round(setup_of("qwen3.5-27b"));
    REQUIRE(keeps_states(round, longest));
    const StartedRound started(round, longest);
    const sim::CompiledRound& server = started.get();
    const double drafting = most_sequences(round, longest, context);
    CHECK(most_sequences(round, sim::drafting_off, context) > 1.5 * drafting);  // if states came and went with drafts
    CHECK(most_sequences(server, longest, context) == drafting);
    for (const int less : {sim::drafting_off, 1, 3}) {
        CHECK(most_sequences(server, less, context) == Approx(drafting).margin(1.0));  // but for caches and logits of drafts
    }
    CHECK(most_sequences(server, 0, context) == most_sequences(round, 0, context));  // without the drafter
    CHECK(sim::evaluate(server, {1, 4.0, context}).round == sim::evaluate(round, {1, 4.0, context}).round);
}

TEST_CASE("key-value caches need no room for drafts that are not made") {
    const sim::CompiledRound round = sim::compile_round(setup_of("llama-3-8b"));
    CHECK_FALSE(keeps_states(round, longest));
    const StartedRound started(round, longest);
    const sim::CompiledRound& server = started.get();
    CHECK(most_sequences(server, sim::drafting_off, context) == most_sequences(round, sim::drafting_off, context));
}

TEST_CASE("a schedule ends where the states of its longest draft fill the memory") {
    const sim::RoundSetup setup = setup_of("qwen3.5-27b");
    const sim::CompiledRound round = sim::compile_round(setup);
    const Workload workload = workload_of(setup, {{1, 1.0}, {64, 1.0}});
    const Schedule all = schedule_for(round, {0, 1, 2, 3, 4, 5}, workload, 1024);
    const Schedule short_ones = schedule_for(round, {0, 1}, workload, 1024);
    CHECK(all.largest_batch == Approx(std::floor(most_sequences(round, longest, context))).margin(1.0));
    CHECK(all.end_limit == Limit::memory);
    CHECK(short_ones.largest_batch > all.largest_batch);
}

TEST_CASE("of several batches, those that memory does not hold are capped, and the others answered") {
    const sim::RoundSetup setup = setup_of("qwen3.5-27b");
    const sim::CompiledRound round = sim::compile_round(setup);
    const double beyond = std::floor(most_sequences(round, 0, context)) - 1.0;  // plain decoding holds it
    const Workload workload = workload_of(setup, {{1, 1.0}, {8, 1.0}, {beyond, 1.0}});
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const Recommendation& found = *result.recommendation;
    REQUIRE(found.speculate);
    const Candidate& best = found.candidates.front();
    const double held = most_sequences(round, best.speculation, context);
    CHECK(held < beyond);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(best.plan.at(i) == best.speculation);
        CHECK(found.settled.points[i].load == std::min(workload.traffic.points[i].load, held));
    }
    CHECK(found.capacity.off == Approx(found.capacity.drafting).margin(1.0));
    CHECK(best.gain > 1.0);
    // A server that is as full as that at all times has no drafter.
    const RecommendationResult full = recommend(workload_of(setup, {{beyond, 1.0}}), 1);
    CHECK_FALSE(full.recommendation->speculate);
}

}  // namespace kept_states_test
