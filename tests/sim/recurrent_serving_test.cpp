// Targets with recurrent states in engines: batches that are split by sequence, and memory that is divided beforehand.
#include <catch2/catch.hpp>

#include <cmath>

#include "grid_points.h"
#include "setups.h"
#include "sim/round_bounds.h"
#include "sim/round_grid.h"
#include "source_folder.h"

namespace recurrent_serving_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup hybrid_on(const std::string& device, const std::string& stack) {
    RoundSetup setup;
    setup.target = model("qwen3.5-27b");
    setup.precision = setup.target.precision;
    setup.platform = platform(device, stack);
    setup.drafter = OneLayerDrafter{};
    setup.acceptance = Acceptance::geometric(0.6);
    setup.rollback = Rollback::snapshot;
    setup.speculations = chains_up_to(7);
    return setup;
}

RoundEstimate apart(RoundSetup setup, double exponent, double batch) {
    setup.platform.stack.states.recurrent_passes_apart = exponent;
    return evaluate(compile_round(setup), {3, batch, 500.0});
}

}  // namespace

TEST_CASE("an engine that splits a batch by sequence verifies b sequences in b times what one takes") {
    const RoundSetup setup = hybrid_on("strix-halo", "llama.cpp");
    const Seconds one = apart(setup, 0.0, 1.0).verify;
    const double host = setup.platform.stack.host[HostDriver::sequence].value();
    REQUIRE(host == 0.0);
    for (const double batch : {1.0, 2.0, 5.0, 16.0}) {
        const RoundEstimate together = apart(setup, 0.0, batch), split = apart(setup, 1.0, batch);
        CHECK(split.verify.value() == Approx(batch * one.value()));
        CHECK(split.verify >= together.verify);
        CHECK(split.draft == together.draft);
        CHECK(split.autoregressive == together.autoregressive);
    }
}

TEST_CASE("where the build decides, the price lies between both ways, near their geometric middle") {
    const RoundSetup setup = hybrid_on("strix-halo", "llama.cpp");
    CHECK(setup.platform.stack.states.recurrent_passes_apart == 0.5);
    // Measured with CUDA: together.
    const RoundSetup cuda = hybrid_on("rtx-5090", "llama.cpp");
    CHECK(evaluate(compile_round(cuda), {3, 8.0, 500.0}).verify == apart(cuda, 0.0, 8.0).verify);
    for (const double batch : {2.0, 4.0, 9.0}) {
        const double together = apart(setup, 0.0, batch).verify.value(), split = apart(setup, 1.0, batch).verify.value();
        const double middle = apart(setup, 0.5, batch).verify.value();
        CHECK(middle > together);
        CHECK(middle < split);
        CHECK(middle == Approx(std::sqrt(together * split)).epsilon(0.2));
    }
    // Transformers are not split.
    RoundSetup dense = setup;
    dense.target = model("qwen3-32b");
    dense.precision = dense.target.precision;
    dense.rollback = Rollback::truncate;
    CHECK(apart(dense, 1.0, 8.0).verify == apart(dense, 0.0, 8.0).verify);
}

TEST_CASE("split batches are the same in grids, in columns and at points, and within their bounds") {
    const CompiledRound round = compile_round(hybrid_on("strix-halo", "llama.cpp"));
    const std::vector<int> shapes = {0, 1, 3, 7};
    const std::vector<double> batches = {1.0, 2.0, 3.0, 7.0, 8.0, 30.0}, contexts = {100.0, 3'000.0};
    at_each_point(round, shapes, batches, contexts, [&](const DesignPoint& point, const RoundEstimate& of_grid) {
        const RoundEstimate at_point = evaluate(round, point);
        CHECK(of_grid.verify == at_point.verify);
        CHECK(of_grid.round == at_point.round);
        CHECK(of_grid.energy_per_token == at_point.energy_per_token);
        RoundEstimate column;
        evaluate(round, PointColumns{{&point.speculation, 1}, {&point.batch, 1}, {&point.context, 1}}, {&column, 1});
        CHECK(column.round == at_point.round);
        const EstimateBounds bounds = bounds_of(round, point.speculation, {1.0, 30.0, 100.0, 3'000.0});
        CHECK(bounds.least.round <= at_point.round);
        CHECK(bounds.most.round >= at_point.round);
    });
}

TEST_CASE("an engine that divides its memory beforehand holds as many sequences as their states have slots for") {
    // SGLang: of what weights leave, states get 0.9/1.9; a running request takes 3 states and one for each token of its draft.
    RoundSetup setup = hybrid_on("h100-sxm", "sglang");
    setup.drafter = NoDrafter{};
    CompiledRound round = compile_round(setup);
    CHECK(round.memory.state_slots == 3.0);
    const auto most = [&](int speculation) { return largest_that_fits(round, round.row(speculation), 500.0); };
    const double plain = most(0);
    const Bytes weights_and_rest = peak_memory(round.memory, round.row(0), 0.0, 0.0);
    const Bytes pools = round.memory.plain_capacity - weights_and_rest;
    CHECK(plain == Approx(0.474 * (pools / (3.0 * round.memory.target_state))).margin(1.5));

    setup = hybrid_on("h100-sxm", "sglang");
    round = compile_round(setup);
    const Bytes with_drafter = peak_memory(round.memory, round.row(3), 0.0, 0.0);
    const Bytes of_both = round.memory.capacity - with_drafter;
    CHECK(most(3) == Approx(0.474 * (of_both / ((3.0 + 4.0) * round.memory.target_state))).margin(1.5));
    CHECK(most(3) < plain);

    // What the division leaves to caches that nobody needs is a part of its own, and parts add up.
    Bytes sum, left;
    for (const MemoryPart& part : memory_parts(round, {3, 4.0, 500.0})) {
        sum += part.bytes;
        left += part.part.starts_with("left to caches") ? part.bytes : Bytes(0.0);
    }
    CHECK(left > Bytes(0.0));
    CHECK(sum.value() == Approx(evaluate(round, {3, 4.0, 500.0}).memory.value()));

    // Long contexts fill the caches' share first: then the division costs nothing.
    setup.platform.stack.states.state_pool_share = 0.0;
    const CompiledRound undivided = compile_round(setup);
    CHECK(evaluate(undivided, {3, 4.0, 500'000.0}).memory == evaluate(round, {3, 4.0, 500'000.0}).memory);
    CHECK(largest_that_fits(undivided, undivided.row(3), 500.0) > most(3));
}

}  // namespace recurrent_serving_test
