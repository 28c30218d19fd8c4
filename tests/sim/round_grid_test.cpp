// Does the grid face give the estimates of single points, bit for bit, whatever the model, mode, parallelism and shapes?
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/round_grid.h"

namespace round_grid_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Points of a grid that differ from single points.
std::size_t differences(const CompiledRound& round, const std::vector<int>& shapes, const std::vector<double>& batch,
                        const std::vector<double>& contexts, std::size_t most_points = tile_size) {
    const RoundGrid grid(round, shapes, batch, most_points);
    TileWork work;
    auto estimates = std::make_unique<EstimateColumns>();
    std::size_t wrong = 0, seen = 0;
    for (std::size_t c = 0; c < contexts.size(); c += grid.contexts_of_tile()) {
        const auto of_tile = std::span(contexts).subspan(c, std::min(grid.contexts_of_tile(), contexts.size() - c));
        for (std::size_t block = 0; block < grid.blocks(); ++block) {
            grid.begin(block, of_tile, work);
            for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
                grid.evaluate(shape, work, *estimates);
                for (std::size_t i = 0; i < estimates->size; ++i) {
                    const std::size_t at = grid.first_batch(block) + i % grid.block_size(block);
                    CHECK(grid.batch_of(block)[i] == batch[at]);
                    const DesignPoint point{shapes[shape], batch[at], of_tile[i / grid.block_size(block)]};
                    wrong += estimates->at(i) == evaluate(round, point) ? 0 : 1;
                    ++seen;
                }
            }
        }
    }
    CHECK(seen == shapes.size() * batch.size() * contexts.size());
    return wrong;
}

std::vector<double> range(double from, double to, double step) {
    std::vector<double> values;
    for (double value = from; value <= to; value += step) {
        values.push_back(value);
    }
    return values;
}

const std::vector<int> chains = {0, 1, 2, 5, 16};

}  // namespace

TEST_CASE("a grid equals points bit for bit in every mode, with and without a steady state") {
    for (const CostMode mode : {CostMode::roofline, CostMode::calibrated, CostMode::hoi}) {
        for (const double output_tokens : {0.0, 300.0}) {
            RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14"));
            setup.platform.mode = mode;
            setup.prompt_tokens = output_tokens > 0.0 ? 1000.0 : 0.0;
            setup.shared_prefix = 0.8 * setup.prompt_tokens;
            setup.output_tokens = output_tokens;
            setup.platform.device.price = DollarsPerSecond(2.0 / 3600.0);
            const CompiledRound round = compile_round(setup);
            INFO(name_of(mode) << ", answers of " << output_tokens);
            CHECK(differences(round, chains, range(1, 300, 1), range(0, 40'000, 5'003)) == 0);
            CHECK(differences(round, chains, {1, 8, 9}, range(0, 40'000, 611)) == 0);
            CHECK(differences(round, {3}, {7}, {100.0}) == 0);
            CHECK(differences(round, chains, range(1, 50, 1), range(0, 9'000, 1'009), 20) == 0);
        }
    }
}

TEST_CASE("a grid equals points for mixtures of experts, windows and parallelism of every kind") {
    for (const double stages : {1.0, 2.0}) {
        for (const double groups : {1.0, 4.0}) {
            RoundSetup setup = pair_setup("mixtral-8x7b", "llama-3.2-1b", platform("h100-sxm", "vllm", 2.0));
            setup.drafter = NgramDrafter{};
            setup.platform.parallel.data = groups;
            setup.platform.parallel.pipeline = stages;
            setup.platform.mode = CostMode::calibrated;
            const CompiledRound round = compile_round(setup);
            INFO(stages << " stages, " << groups << " groups");
            CHECK(differences(round, chains, range(1, 140, 3), range(0, 30'000, 7'001)) == 0);
        }
    }
}

TEST_CASE("a grid equals points for recurrent models, trees and every way to verify them") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "cuda-graph"));
    setup.acceptance.siblings = RankAcceptance::known_or_assumed(setup.acceptance.siblings);
    setup.speculations = chains_up_to(4);
    std::vector<int> shapes = {0, 4};
    for (const Verification verification : {Verification::packed, Verification::unrolled}) {
        shapes.push_back(static_cast<int>(setup.speculations.size()));
        setup.speculations.push_back({OptimalShape{16, 4, 0}, verification, "optimal"});
    }
    for (const Rollback rollback : rollbacks_for(setup.target)) {
        setup.rollback = rollback;
        const CompiledRound round = compile_round(setup);
        std::vector<int> run;
        std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(run), [&](int shape) { return round.runs(shape); });
        REQUIRE_FALSE(run.empty());
        INFO(name_of(rollback));
        CHECK(differences(round, run, range(1, 200, 7), range(0, 20'000, 4'999)) == 0);
    }
}

TEST_CASE("what fills a device to the last byte fits") {
    const auto columns = std::make_unique<EstimateColumns>();
    columns->capacity = 8.0;
    columns->memory[0] = 8.0;
    columns->memory[1] = 9.0;
    CHECK(columns->at(0).fits);
    CHECK_FALSE(columns->at(1).fits);
}

}  // namespace round_grid_test
