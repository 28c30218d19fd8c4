// Where plain decoding is recommended, or is as likely to win: which drafts are named, with what they would gain, and why not.
#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend_answer.h"
#include "sweeps/recommend_inside.h"

namespace rejected_drafting_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B at one load with three drafts of each drafter, or none; prompts of 1,000 tokens and answers of 250.
Workload at_load(double load, LoadKind kind = LoadKind::batch) {
    Workload workload;
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    workload.traffic.points = {{load, 1100.0, 1.0}};
    workload.traffic.kind = kind;
    workload.objective = Objective::latency;
    workload.prompt_tokens = 1000.0;
    workload.limits.first_token_growth = workload.limits.waiting = sim::unlimited;
    return workload;
}

/// One that reads prompts, too (a model of 1B), or one that looks drafts up.
void add(Workload& workload, const std::string& name, bool model, double rate) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    if (!model) {
        setup.drafter = sim::NgramDrafter{};
    }
    setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(rate));
    setup.acceptance.spread = 0.0;
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 250.0;
    setup.speculations = workload.speculations;
    workload.variants.push_back(variant(name, setup));
}

double speed_up(const Workload& workload, std::size_t variant) {
    const TrafficPoint& point = workload.traffic.points.front();
    return sim::evaluate(sim::compile_round(workload.variants[variant].setup), {1, point.load, point.context})
        .throughput_multiplier;
}

/// Of a recommendation for plain decoding, since nothing gains as much as is asked for.
struct Rejected {
    Recommendation found;
    RejectedDrafting drafting;
};
Rejected rejected(Workload workload) {
    workload.limits.minimum_gain = 50.0;
    Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE_FALSE(found.speculate);
    RejectedDrafting drafting = *rejected_drafting(found, workload, {});
    return {std::move(found), std::move(drafting)};
}

/// TTFT of a prompt with the drafter of a variant.
Seconds first_token(const Workload& workload, std::size_t variant) {
    return sim::time_to_first_token(sim::compile_round(workload.variants[variant].setup), workload.prompt_tokens);
}

/// Errors of vLLM's gains at one request: so many of ten were a third of what was predicted, the others as predicted.
MeasuredErrors losses(int of_ten) {
    MeasuredErrors::OfMode of_mode;
    for (int i = 0; i < 10; ++i) {
        of_mode.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, 0}, std::to_string(i), i < of_ten ? 0.33 : 1.0});
    }
    of_mode.times = of_mode.speed_ups;
    return {{of_mode}, "a test"};
}

}  // namespace

TEST_CASE("the drafts that gain most within the limits are named, wherever they stand in the list") {
    Workload workload = at_load(1.0);
    add(workload, "slow", false, 0.2);
    add(workload, "quick", false, 0.5);
    add(workload, "slower", false, 0.1);
    const Rejected found = rejected(workload);
    CHECK(found.drafting.label == "quick with chain 3");
    CHECK(found.drafting.gain == Approx(speed_up(workload, 1)));
    CHECK(found.drafting.gain_everywhere == found.drafting.gain);
    CHECK_FALSE(found.drafting.limit);
    CHECK_FALSE(found.drafting.off_for);
}

TEST_CASE("what gains within the limits is named before what gains more beyond them, and that before what loses") {
    Workload workload = at_load(1.0);
    add(workload, "late", true, 0.8);
    add(workload, "lookup", false, 0.5);
    const Seconds late = first_token(workload, 0), early = first_token(workload, 1);
    REQUIRE(late > 1.05 * early);
    workload.limits.time_to_first_token = 0.5 * (late + early);
    workload.variants[1].setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.3));
    REQUIRE(speed_up(workload, 0) > speed_up(workload, 1));
    REQUIRE(speed_up(workload, 1) > 1.0);
    CHECK(rejected(workload).drafting.label == "lookup with chain 3");
    CHECK_FALSE(rejected(workload).drafting.limit);
    // The look-up loses now, and the other, whose gain is below 2, is worth knowing.
    workload.variants[1].setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.001));
    workload.variants[0].setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.6));
    REQUIRE(speed_up(workload, 1) < 1.0);
    REQUIRE(speed_up(workload, 0) > 1.0);
    REQUIRE(speed_up(workload, 0) < 2.0);
    const Rejected found = rejected(workload);
    CHECK(found.drafting.label == "late with chain 3");
    CHECK(found.drafting.limit == Limit::time_to_first_token);
    CHECK(found.drafting.first_token == late);
    // Where both lose, the one within the limits.
    workload.variants[0].setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.05));
    REQUIRE(speed_up(workload, 0) < 1.0);
    workload.variants[1].setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.0));
    CHECK(rejected(workload).drafting.label == "lookup with chain 3");
}

TEST_CASE("a gain is one over the plain decoding that is recommended as long as both serve the load, else one of capacity") {
    // Arrivals between what plain decoding serves on this cut of the devices and what drafts do.
    Workload workload = at_load(1.0, LoadKind::arrival_rate);
    add(workload, "lookup", false, 0.95);
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const double plain = most_arrivals(round, 0, 1100.0), drafting = most_arrivals(round, 1, 1100.0);
    REQUIRE(drafting > 1.1 * plain);
    workload.traffic.points.front().load = 0.5 * (plain + drafting);
    Recommendation found;
    found.variants = workload.variants;
    found.speculations = workload.speculations;
    found.traffic = workload.traffic;
    found.objective = Objective::latency;
    found.limits = workload.limits;
    const Outcome outcome = outcomes_of(round, {1}, workload.traffic, Objective::latency).front();
    REQUIRE(outcome.problem.empty());
    REQUIRE(outcome.gain_of_capacity);
    found.plain.objective = 1.25 * outcome.objective;  // on another cut, which serves the rate
    CHECK(rejected_drafting(found, workload, {})->gain == Approx(1.25));
    found.plain.overrun = true;
    CHECK(rejected_drafting(found, workload, {})->gain == Approx(outcome.gain));
    // Nobody serves twice as much.
    found.traffic.points.front().load = 2.0 * drafting;
    found.plain.overrun = false;
    const Outcome full = outcomes_of(round, {1}, found.traffic, Objective::latency).front();
    REQUIRE_FALSE(full.problem.empty());
    found.plain.objective = 3.0 * full.objective;
    CHECK(rejected_drafting(found, workload, {})->gain == Approx(full.gain));
    // Both serve the rate on this cut, and plain decoding on another serves it better, as it is compared.
    found.traffic.points.front().load = 0.5 * plain;
    const Outcome served = outcomes_of(round, {1}, found.traffic, Objective::latency).front();
    found.plain.objective = 0.9 * served.objective;
    CHECK(rejected_drafting(found, workload, {})->gain == Approx(0.9));
}

TEST_CASE("drafts that are off at some loads, so that they keep a limit, are named with what they would gain everywhere") {
    Workload workload = at_load(1.0);
    add(workload, "lookup", false, 0.5);
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    double batch = 2.0;  // at which drafts are slower than plain decoding
    while (sim::evaluate(round, {1, batch, 1100.0}).throughput_multiplier > 0.95 && batch < 400.0) {
        ++batch;
    }
    workload.traffic = traffic_from({{1.0, 0.5}, {batch, 0.5}}, {{1100.0, 1.0}}, ShareOf::tokens);
    const Seconds drafting = sim::evaluate(round, {1, batch, 1100.0}).time_per_token,
                  plain = sim::evaluate(round, {0, batch, 1100.0}).time_per_token;
    REQUIRE(drafting > 1.02 * plain);
    workload.limits.time_per_token = 0.5 * (drafting + plain);
    const Rejected found = rejected(workload);
    CHECK(found.drafting.off_for == Limit::time_per_token);
    CHECK_FALSE(found.drafting.limit);
    const double everywhere = outcomes_of(round, {1}, workload.traffic, workload.objective).front().gain;
    CHECK(found.drafting.gain_everywhere == Approx(everywhere));
    CHECK(found.drafting.gain > everywhere);
}

TEST_CASE("plain decoding is recommended where drafts are likelier to lose than to gain, not where they are as likely") {
    for (const int lost : {4, 5, 6}) {
        RecommendInput input;
        input.workload = at_load(1.0);
        add(input.workload, "lookup", false, 0.5);
        REQUIRE(speed_up(input.workload, 0) > 1.2);
        REQUIRE(speed_up(input.workload, 0) < 3.0);
        input.errors = losses(lost);
        const Answer found = answer(std::move(input), 1);
        CAPTURE(lost);
        REQUIRE(found.result.recommendation);
        CHECK(found.result.recommendation->speculate == (lost <= 5));
        CHECK(found.trust.has_value() == (lost <= 5));
        CHECK(found.plain_time.has_value() == (lost > 5));
        CHECK(found.rejected.has_value() == (lost > 5));
        CHECK(found.input.workload.limits.minimum_gain == 1.0);
    }
    RecommendInput none;
    none.workload = at_load(1.0);
    add(none.workload, "lookup", false, 0.5);
    none.workload.limits.time_per_token = Seconds(1e-6);
    none.errors = losses(0);
    const Answer nothing = answer(std::move(none), 1);
    CHECK_FALSE(nothing.result.recommendation);
    CHECK_FALSE(nothing.plain_time);
}

TEST_CASE("a server's memory is told with as many sequences as it holds, one at least") {
    Workload workload = at_load(1.0);
    add(workload, "lookup", false, 0.5);
    for (const double context : {1100.0, 100'000.0}) {
        workload.traffic.points.front().context = context;
        workload.variants.front().setup.platform.device.memory = Bytes(context > 1e4 ? 40e9 : 80e9);
        const Recommendation found = *recommend(workload, 1).recommendation;
        REQUIRE(found.speculate);
        const sim::CompiledRound round = sim::compile_round(found.variants.front().setup);
        CHECK(found.capacity.drafting == most_sequences(round, 1, context));
        REQUIRE((found.capacity.drafting == 1.0) == (context > 1e4));
        Bytes all;
        for (const sim::MemoryPart& part : found.capacity.parts) {
            all += part.bytes;
        }
        CHECK(all.value() == Approx(sim::evaluate(round, {1, found.capacity.drafting, context}).memory.value()).epsilon(1e-9));
        CHECK(all <= found.capacity.allowed);
    }
}

TEST_CASE("a variant is judged by its own growth of the first token, and by none where nothing is known of it") {
    Recommendation found;
    CHECK(limits_for(found, 0).own_plain.mean == 1.0);
    OwnPlain growth;
    growth.mean = 3.0;
    found.own_plain = {growth};
    CHECK(limits_for(found, 0).own_plain.mean == 3.0);
    CHECK(limits_for(found, 1).own_plain.mean == 1.0);
}

}  // namespace rejected_drafting_test
