// From which batch is a pass compute-bound, states and caches included?
#include <cmath>

#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/critical_points.h"

namespace critical_points_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

sim::CompiledRound round_of(const char* target, sim::Rollback rollback) {
    sim::RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "ideal");
    setup.drafter = sim::NgramDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.7);
    setup.rollback = rollback;
    setup.speculations = sim::chains_up_to(4);
    return sim::compile_round(setup);
}

FlopsPerByte intensity_of(const char* target) { return device("h100-sxm").intensity_for(model(target).precision.math); }

/// FLOPs of the verification over what the device computes while it moves its bytes, from the operations that are explained,
/// as often as they run in a round.
double ratio_at(const sim::CompiledRound& round, double batch, double context, FlopsPerByte intensity) {
    Flops flops;
    Bytes bytes;
    for (const sim::ExplainedPass& pass : sim::explain(round, {4, batch, context})) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            if (pass.phase.starts_with("verify")) {
                flops += operation.flops * pass.runs;
                bytes += operation.bytes * pass.runs;
            }
        }
    }
    return flops / (bytes * intensity);
}

}  // namespace

TEST_CASE("at the critical batch the verification takes as much compute as memory") {
    const sim::CompiledRound round = round_of("llama-3.1-8b", sim::Rollback::truncate);
    const FlopsPerByte intensity = intensity_of("llama-3.1-8b");
    const std::optional<double> batch = critical_batch(round, 4, intensity, 512.0);
    REQUIRE(batch);
    CHECK(*batch > 60.0);  // 295 FLOPs a byte over five tokens: 59 if weights were all
    CHECK(ratio_at(round, *batch, 512.0, intensity) == Approx(1.0).epsilon(1e-6));
    const double context = critical_context(round, 4, intensity);
    REQUIRE(std::isfinite(context));
    CHECK_FALSE(critical_batch(round, 4, intensity, 1.01 * context));
    CHECK(critical_batch(round, 4, intensity, 0.99 * context));
}

TEST_CASE("a device of few FLOPs a byte is compute-bound from the first sequence on, or from between one and two") {
    const sim::CompiledRound round = round_of("llama-3.1-8b", sim::Rollback::truncate);
    // A sequence of plain decoding takes two FLOPs for each weight of two bytes.
    const auto critical = [&](double intensity) { return *critical_batch(round, 0, FlopsPerByte(intensity), 0.0); };
    CHECK(critical(0.5) == 1.0);
    CHECK(critical(1.4) == Approx(1.4).epsilon(0.05));
    CHECK(critical(1.8) == Approx(1.8).epsilon(0.05));
}

TEST_CASE("a verification that first repeats what the last one accepted counts each length as often as it occurs") {
    const FlopsPerByte intensity(20.0);
    sim::RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "ideal"));
    setup.rollback = sim::Rollback::joint;
    setup.speculations = sim::chains_up_to(4);
    const sim::CompiledRound round = sim::compile_round(setup);
    const std::optional<double> batch = critical_batch(round, 4, intensity, 0.0);
    REQUIRE(batch);
    REQUIRE(*batch > 1.0);
    CHECK(ratio_at(round, *batch, 0.0, intensity) == Approx(1.0).epsilon(1e-6));
}

TEST_CASE("states of every token that a snapshot writes keep a verification memory-bound at every batch") {
    const FlopsPerByte intensity = intensity_of("mamba2-2.7b");
    const sim::CompiledRound snapshot = round_of("mamba2-2.7b", sim::Rollback::snapshot);
    CHECK_FALSE(critical_batch(snapshot, 4, intensity, 2048.0));
    CHECK(critical_context(snapshot, 4, intensity) == 0.0);
    for (const double batch : {1.0, 64.0, 4096.0}) {
        CHECK(ratio_at(snapshot, batch, 2048.0, intensity) < 1.0);
    }
}

}  // namespace critical_points_test
