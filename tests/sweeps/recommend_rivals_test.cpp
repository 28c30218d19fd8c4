// Where another choice, plain decoding among them, wins over the one that is recommended, and who cannot serve a load at all.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace recommend_rivals_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

TEST_CASE("break-even and flip length of plain decoding are one number, in every objective") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    for (const Objective objective : {Objective::throughput, Objective::latency, Objective::energy}) {
        workload.objective = objective;
        const Recommendation answer = *recommend(workload, 1).recommendation;
        REQUIRE(answer.runners_up.size() == 1);  // plain decoding
        CHECK(answer.flip->accept_length == Approx(answer.candidates.front().break_even_accept_length).epsilon(1e-12));
        CHECK(answer.flip->variant == answer.runners_up.front().variant);
    }
}

namespace {

/// One drafter of a stated accept length on two devices, and nothing but four drafts or none.
Workload on_two_devices(double accept_length, const LoadKind kind) {
    Workload workload;
    for (const char* device : {"h100-sxm", "h200"}) {
        sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(device, "cuda-graph"));
        setup.drafter = sim::OneLayerDrafter{};
        setup.acceptance = sim::Acceptance::mean_length(accept_length, 4.0);
        setup.output_tokens = kind == LoadKind::batch ? 0.0 : 500.0;
        setup.prompt_tokens = 500.0;
        workload.variants.push_back(variant("one-layer", setup));
    }
    const sim::Speculation four = sim::chains_up_to(4).back();
    workload.speculations = {sim::chains_up_to(0).front(), four};
    for (Variant& each : workload.variants) {
        each.setup.speculations = workload.speculations;
        each.setup.platform.device.price = Dollars(each.labels.device == "h200" ? 3.3 : 2.5) / Seconds(3600.0);
    }
    workload.traffic = traffic_from({{kind == LoadKind::arrival_rate ? 2.0 : 8.0, 1.0}}, {{1024, 1.0}});
    workload.traffic.kind = kind;
    workload.prompt_tokens = 500;
    // What a rate of arrivals costs depends on the device alone.
    workload.objective = kind == LoadKind::arrival_rate ? Objective::latency : Objective::cost;
    return workload;
}

}  // namespace

TEST_CASE("a rival with the same drafter loses its accept length, too: another choice wins where it is said to") {
    for (const LoadKind kind : {LoadKind::batch, LoadKind::arrival_rate}) {
        const auto answer_at = [&](double accept_length) {
            return *recommend(on_two_devices(accept_length, kind), 1).recommendation;
        };
        const Recommendation answer = answer_at(2.62);
        const std::size_t best = answer.candidates.front().variant;
        INFO(static_cast<int>(kind));
        REQUIRE(answer.speculate);
        REQUIRE(answer.flip);
        const double flip = answer.flip->accept_length;
        CHECK(answer_at(1.02 * flip).candidates.front().variant == best);
        CHECK(answer_at(0.98 * flip).candidates.front().variant == answer.flip->variant);
    }
}

TEST_CASE("a drafter that makes a prompt's first token too late is left out where batches are stated, too") {
    Workload workload = llama_workload();
    workload.variants.resize(1);  // a model of 1B reads each prompt as well
    const auto round = sim::compile_round(workload.variants.front().setup);
    auto target_alone = round;
    target_alone.draft_prefill = {};
    const double growth = sim::time_to_first_token(round, 1024.0) / sim::time_to_first_token(target_alone, 1024.0);
    REQUIRE(growth > 1.05);
    workload.limits.first_token_growth = 1.01 * growth;
    CHECK(recommend(workload, 1).recommendation->speculate);
    workload.limits.first_token_growth = 0.99 * growth;
    const Recommendation answer = *recommend(workload, 1).recommendation;
    CHECK_FALSE(answer.speculate);
    CHECK(answer.excluded.front().reason.find("--ttft-growth allows") != std::string::npos);
}

TEST_CASE(
    "a load that nobody serves is told with the rate of all devices together; drafters that nobody trained are no trade-off") {
    Workload workload = on_two_devices(3.2, LoadKind::arrival_rate);
    workload.variants.resize(1);
    workload.variants.front().setup.platform.ranks = 2.0;
    workload.traffic.points = {{2.0, 1024.0, 0.5}, {1e4, 1024.0, 0.5}};
    const Recommendation answer = *recommend(workload, 1).recommendation;
    REQUIRE(answer.unserved.size() == 1);
    const sim::CompiledRound round = sim::compile_round(answer.variants.front().setup);
    const double batch = most_sequences(round, 1, 1024.0);
    const double served = sim::evaluate(round, {1, batch, 1024.0}).tokens_per_second_device * 2.0 / 500.0;
    const std::string& reason = answer.unserved.front().reason;
    REQUIRE(reason.starts_with("at most about "));
    CHECK(std::stod(reason.substr(14)) == Approx(served).epsilon(0.01));
    workload.traffic.points = {{1e4, 1024.0, 1.0}};
    const Recommendation full = *recommend(workload, 1).recommendation;
    REQUIRE(full.saturation);
    CHECK(full.saturation->best == Approx(full.candidates.front().tokens_per_second_device * 2.0 / 500.0));
    workload = llama_workload();
    workload.variants[1].untrained = true;
    const Recommendation untrained = *recommend(workload, 1).recommendation;
    for (const TradeoffPoint& point : untrained.tradeoffs) {
        CHECK(point.variant != 1);
    }
}

TEST_CASE("plain decoding that cannot serve the rate has no time to the first token, and no number that waits") {
    Workload workload = on_two_devices(3.2, LoadKind::arrival_rate);
    workload.variants.resize(1);
    // Between what plain decoding serves at most and what drafts do.
    workload.traffic.points.front().load = 1e6;
    const double plain = recommend(workload, 1).recommendation->saturation->plain;
    const double best = recommend(workload, 1).recommendation->saturation->best;
    REQUIRE(best > 1.1 * plain);
    workload.traffic.points.front().load = 0.5 * (plain + best);
    const Recommendation answer = *recommend(workload, 1).recommendation;
    REQUIRE(answer.speculate);
    CHECK_FALSE(answer.saturation);
    CHECK(waits_for_ever(answer, answer.plain));
    CHECK_FALSE(waits_for_ever(answer, answer.candidates.front()));
}

}  // namespace recommend_rivals_test
