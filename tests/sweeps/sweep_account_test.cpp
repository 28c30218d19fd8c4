// Does a sweep count every point once, and does it know the place of what it shows and keeps?
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "setups.h"
#include "sweeps/sweep.h"
#include "sweeps/sweep_answer.h"
#include "sweeps/sweep_inside.h"

namespace sweep_account_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama 3 8B on devices of 80 and of 24 GB, which long contexts overfill.
DesignSpace two_devices(int batches, int contexts) {
    DesignSpace space;
    for (const char* device : {"h100-sxm", "rtx-4090"}) {
        Variant variant;
        variant.labels = {"llama-3-8b", "bf16", device, "cuda-graph", "roofline", "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(device, "cuda-graph"));
        space.variants.push_back(variant);
    }
    space.speculation = {0, 1, 3};
    for (int batch = 1; batch <= batches; ++batch) {
        space.batch.push_back(batch);
    }
    for (int context = 1; context <= contexts; ++context) {
        space.context.push_back(2000.0 * context);
    }
    return space;
}

/// One point after the other, in the order of the space.
std::vector<SweepPoint> all_points(const DesignSpace& space) {
    std::vector<SweepPoint> points;
    for (std::size_t variant = 0; variant < space.variants.size(); ++variant) {
        const sim::CompiledRound round = sim::compile_round(space.variants[variant].setup);
        for (const double context : space.context) {
            for (const double batch : space.batch) {
                for (const int choice : space.speculation) {
                    const sim::DesignPoint point{choice, batch, context};
                    points.push_back({variant, point, choice, points.size(), sim::evaluate(round, point)});
                }
            }
        }
    }
    return points;
}

struct Counts {
    std::uint64_t points = 0, dropped = 0, too_large = 0, beyond_limits = 0;

    bool operator==(const Counts&) const = default;
};

Counts counts_of(const SweepSummary& summary) {
    return {summary.points, summary.dropped, summary.too_large, summary.beyond_limits};
}

}  // namespace

TEST_CASE("points that are dropped, too large or beyond a limit are counted as one counts them") {
    DesignSpace space = two_devices(20, 12);
    space.conditions = {{{{"device", "h100-sxm"}}, "batch <= 15"}};
    SweepOptions options;
    options.threads = 2;
    options.limits = {{find_sweep_column("tpot_ms"), 0.0, 15.0}};
    for (const bool ignore_memory : {false, true}) {
        options.ignore_memory = ignore_memory;
        Counts expected;
        for (const SweepPoint& point : all_points(space)) {
            if (point.variant == 0 && point.point.batch > 15.0) {
                ++expected.dropped;
                continue;
            }
            ++expected.points;
            expected.too_large += point.estimate.fits ? 0 : 1;
            const bool counts = ignore_memory || point.estimate.fits;
            expected.beyond_limits += counts && point.estimate.time_per_token > Seconds(0.015) ? 1 : 0;
        }
        REQUIRE(expected.too_large > 0);
        REQUIRE(expected.beyond_limits > 0);
        CHECK(counts_of(run_sweep(space, options)) == expected);
        // The same in parts of which each hands its bytes on.
        SweepRun run(space, options);
        ReductionState joined = run.nothing();
        for (std::uint64_t task = 0; task < run.tasks(); ++task) {
            ReductionState part = run.nothing();
            run.run(task, task + 1, part);
            joined.merge(part.bytes());
        }
        CHECK(counts_of(run.summary(joined)) == expected);
        ReductionState twice = run.nothing();
        twice.merge(joined);
        CHECK(twice.bytes() == joined.bytes());
    }
}

TEST_CASE("chunks that are shown lie one after the other, each at the place of its first point") {
    for (const int batches : {5, 150}) {  // several contexts of a tile, and several tiles of a context
        const DesignSpace space = two_devices(batches, 40);
        std::uint64_t seen = 0;
        SweepOptions options;
        options.threads = 1;
        options.visit = [&](const SweepChunk& chunk) {
            CHECK(chunk.first == seen);
            seen += chunk.estimates.size();
        };
        run_sweep(space, options);
        CHECK(seen == space.size());
    }
}

TEST_CASE("progress and tasks count the points that went by") {
    for (const int batches : {5, 150}) {
        const DesignSpace space = two_devices(batches, 90);
        std::uint64_t shown = 0, last = 0;
        SweepOptions options;
        options.threads = 1;
        options.visit = [&](const SweepChunk& chunk) { shown += chunk.estimates.size(); };
        options.progress = [&](std::uint64_t done, std::uint64_t all) {
            CHECK(done == shown);
            CHECK(all == space.size());
            last = done;
        };
        run_sweep(space, options);
        CHECK(last == space.size());
    }
    // Tasks of 65,536 points at the most, each run by itself.
    const DesignSpace space = two_devices(150, 300);
    SweepOptions options;
    options.threads = 1;
    std::uint64_t last = 0;
    options.progress = [&](std::uint64_t done, std::uint64_t) { last = done; };
    SweepRun run(space, options);
    REQUIRE(run.tasks() == 2 * 4);
    CHECK(run.points() == space.size());
    std::uint64_t all = 0;
    for (std::uint64_t task = run.tasks(); task-- > 0;) {
        ReductionState state = run.nothing();
        run.run(task, task + 1, state);
        all += state.seen;
        CHECK(last == all);
        CHECK(state.seen > 0);
        CHECK(state.seen <= 65'536);
    }
    CHECK(all == space.size());
}

TEST_CASE("how a space is cut into tiles and tasks") {
    DesignSpace space = two_devices(1, 1);
    space.speculation = {0, 1, 2, 3};
    const auto plan = [&](std::size_t batches, std::size_t contexts, bool shows_points = false) {
        space.batch.assign(batches, 1.0);
        space.context.assign(contexts, 0.0);
        return SweepTaskPlan(space, shows_points);
    };
    // A block has 128 batches at the most, a tile several contexts where all batches are one block.
    CHECK(plan(127, 9).blocks == 1);
    CHECK(plan(128, 9).blocks == 1);
    CHECK(plan(129, 9).blocks == 2);
    CHECK(plan(129, 9).contexts == 1);
    CHECK(plan(129, 9).tiles == 18);
    CHECK(plan(40, 10).contexts == 3);
    CHECK(plan(40, 10).tiles == 4);
    CHECK(plan(40, 9).tiles == 3);
    // 2^16 points of a task are 128 tiles of four shapes, and 136 of 3·40 points.
    CHECK(plan(128, 1000).tiles_of_task == 128);
    CHECK(plan(128, 1000).tasks == 8);
    CHECK(plan(40, 1000).tiles_of_task == 136);
    CHECK(plan(150, 1000).tiles_of_task == 128);
    // 2^19 points of a grid are 1,024 blocks.
    CHECK(plan(128 * 1024, 1).blocks_of_grid == 1024);
    CHECK(plan(128 * 1500, 1).blocks_of_grid == 1024);
    CHECK(plan(128 * 1000, 1).blocks_of_grid == 1000);
    // Points are shown tile by tile, 2^13 at the most.
    space.speculation.assign(200, 0);
    CHECK(plan(100, 10, true).tile_points == 40);
    CHECK(plan(100, 10, true).tiles_of_task == 1);
    CHECK(plan(100, 10, true).tasks == 30);
    space.speculation.assign(4000, 0);
    CHECK(plan(100, 10, true).tile_points == 8);
    space.speculation.assign(20, 0);
    CHECK(plan(100, 10, true).tile_points == 128);
}

TEST_CASE("a sweep goes on from anywhere in its part, its ends included, and from nowhere else") {
    const DesignSpace space = two_devices(150, 40);
    SweepOptions options;
    options.threads = 1;
    options.visit = [](const SweepChunk&) {};  // a tile is a task
    const SweepRun whole(space, options);
    REQUIRE(whole.tasks() == 160);
    const auto points_from = [&](std::uint64_t next, SweepPart part) {
        options.part = part;
        options.resume = SweepState{next, whole.nothing().bytes()};
        return run_sweep(space, options).points;
    };
    CHECK(points_from(0, {}) == space.size());
    CHECK(points_from(160, {}) == 0);
    CHECK(points_from(80, {}) == space.size() / 2);
    CHECK(points_from(80, {1, 2}) == space.size() / 2);
    CHECK(points_from(80, {0, 2}) == 0);
    for (const auto& [next, part] : {std::pair{161, SweepPart{}}, {79, SweepPart{1, 2}}, {81, SweepPart{0, 2}}}) {
        CHECK_THROWS_WITH(points_from(static_cast<std::uint64_t>(next), part), Catch::Contains("another number of tasks"));
    }
}

TEST_CASE("devices whose description lacks what a column needs are named once each") {
    SweepInput input;
    input.space = two_devices(1, 1);
    input.space.variants.push_back(input.space.variants.front());
    input.space.variants[1].setup.platform.device.price = DollarsPerSecond(1e-3);
    input.space.variants[0].setup.platform.device.price = input.space.variants[2].setup.platform.device.price = {};
    CHECK(devices_without(*find_sweep_column("usd_per_million_tokens"), input) == std::vector<std::string>{"h100-sxm"});
    for (const char* always : {"tpot_ms", "ttft_ms", "load", "gain"}) {
        CHECK(devices_without(*find_sweep_column(always), input).empty());
    }
    input.space.variants[1].setup.platform.device.price = {};
    CHECK(devices_without(*find_sweep_column("usd_per_million_tokens"), input) ==
          std::vector<std::string>{"h100-sxm", "rtx-4090"});
}

TEST_CASE("time inside the cost model is a part of a sweep's time") {
    const DesignSpace space = two_devices(150, 40);
    SweepOptions options;
    options.threads = 1;
    const SweepSummary summary = run_sweep(space, options);
    CHECK(summary.evaluation_seconds > 0.0);
    CHECK(summary.evaluation_seconds <= summary.wall_seconds);
}

TEST_CASE("the best of each device is found in whichever context of a tile it lies, whatever else is kept") {
    DesignSpace space = two_devices(4, 64);
    std::reverse(space.context.begin(), space.context.end());  // the shortest, which are the best, last
    const std::vector<SweepPoint> points = all_points(space);
    SweepOptions options;
    for (const SweepColumn& column : sweep_columns) {
        options.pareto_of = {find_sweep_column("tokens_per_s_user"), &column};
        options.groups = {{{"device"}, find_sweep_column("tokens_per_s_device")}, {{"device"}, find_sweep_column("tpot_ms")}};
        const SweepSummary summary = run_sweep(space, options);
        for (std::size_t i = 0; i < 2; ++i) {
            REQUIRE(summary.groups[i].entries.size() == 2);
            for (const GroupList::Entry& entry : summary.groups[i].entries) {
                const double found = rank_of(*options.groups[i].by, entry.point.figures(space));
                for (const SweepPoint& point : points) {
                    if (point.estimate.fits && point.variant == entry.point.variant) {
                        CHECK(found <= rank_of(*options.groups[i].by, point.figures(space)));
                    }
                }
            }
        }
    }
}

TEST_CASE("best points that must differ in their device are one of each device, best first, as many as asked for") {
    const DesignSpace space = two_devices(4, 10);
    SweepOptions options;
    options.groups = {{{"batch"}, find_sweep_column("tpot_ms")}, {{"device"}, find_sweep_column("tpot_ms")}};
    options.best_by = find_sweep_column("tpot_ms");
    options.distinct = 1;
    const SweepSummary both = run_sweep(space, options);
    REQUIRE(both.best.size() == 2);
    CHECK(both.best[0].variant == 0);  // the faster memory
    CHECK(both.best[1].variant == 1);
    CHECK(both.best[0].estimate.time_per_token < both.best[1].estimate.time_per_token);
    options.best_count = 1;
    const SweepSummary one = run_sweep(space, options);
    REQUIRE(one.best.size() == 1);
    CHECK(one.best[0].order == both.best[0].order);
}

TEST_CASE("a million points on a Pareto front are kept, and one more is too many") {
    DesignSpace space = two_devices(1, 1);
    Reductions what;
    what.best_count = 0;
    what.pareto_of = {find_sweep_column("batch"), find_sweep_column("context")};
    const std::vector<Groups> no_groups;
    ReductionState state(space, what, no_groups);
    const auto estimates = std::make_unique<sim::EstimateColumns>();
    const auto penalty = std::make_unique<TileColumn>(), batch = std::make_unique<TileColumn>(),
               context = std::make_unique<TileColumn>();
    estimates->capacity = 1.0;
    const auto offer = [&](std::size_t first, std::size_t count) {
        estimates->size = count;
        for (std::size_t i = 0; i < count; ++i) {
            estimates->memory[i] = 0.0;
            penalty->values[i] = 0.0;
            batch->values[i] = 2e6 - static_cast<double>(first + i);  // the fewer, the longer
            context->values[i] = static_cast<double>(first + i);
        }
        state.offer({space.variants[0], 0.0, batch->values, context->values, *estimates}, {}, *penalty);
    };
    for (std::size_t first = 0; first < 1'000'000; first += 100) {
        offer(first, 100);
    }
    CHECK(state.front().size() == 1'000'000);
    CHECK_THROWS_WITH(offer(1'000'000, 1), Catch::Contains("more than 1000000 points are on the Pareto front"));
}

}  // namespace sweep_account_test
