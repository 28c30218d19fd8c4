// Is a sweep over requests in flight or arriving, point for point, what an estimate of that load says?
#include <catch2/catch.hpp>

#include <cmath>
#include <mutex>

#include "setups.h"
#include "sweeps/estimate.h"
#include "sweeps/sweep.h"

namespace settled_row_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr double prompt = 700.0, answer = 300.0;

DesignSpace space_of(LoadKind kind, std::vector<double> loads) {
    DesignSpace space;
    for (const char* device_name : {"h100-sxm", "l40s"}) {
        Variant variant;
        variant.labels = {"llama-3-8b", "bf16", device_name, "vllm", "roofline", "llama-3.2-1b", "truncate", 1};
        variant.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform(device_name, "vllm"));
        variant.setup.prompt_tokens = prompt;
        variant.setup.output_tokens = answer;
        space.variants.push_back(variant);
    }
    space.speculation = {0, 1, 5};
    space.kind = kind;
    space.batch = std::move(loads);
    space.context = {850.0, 6000.0};
    return space;
}

PointInput input_of(const DesignSpace& space, const SweepPoint& point) {
    const sim::RoundSetup& setup = space.variants[point.variant].setup;
    PointInput input;
    input.target = {setup.target, setup.precision, "llama-3-8b", "bf16"};
    input.platform = setup.platform;
    input.drafter = DrafterChoice{"llama-3.2-1b", setup.drafter, setup.acceptance, "", ""};
    input.rollback = setup.rollback;
    input.speculations = {space.speculations.front()};
    if (point.point.speculation > 0) {
        input.speculations.push_back(space.speculations[static_cast<std::size_t>(point.point.speculation)]);
    }
    input.load = {space.kind, point.load};
    input.context = point.point.context;
    input.prompt_tokens = prompt;
    input.output_tokens = answer;
    return input;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Points of a sweep, each with what estimate says of it.
void compare(const DesignSpace& space) {
    SweepOptions options;
    options.threads = 2;
    options.best_count = 1000;
    options.ignore_memory = true;
    options.best_by = find_sweep_column("tpot_ms");
    const SweepSummary summary = run_sweep(space, options);
    REQUIRE(summary.points == space.size());
    REQUIRE(summary.best.size() == space.size());
    std::size_t queued = 0, refused = 0;
    for (const SweepPoint& point : summary.best) {
        const PointInput input = input_of(space, point);
        INFO("variant " << point.variant << ", shape " << point.point.speculation << ", load " << point.load << ", context "
                        << point.point.context);
        REQUIRE(problems_of(input).empty());
        const PointEstimate estimate = estimate_point(input);
        const bool plain = point.point.speculation == 0;
        if (!(plain ? estimate.plain_load : estimate.load)
                 .problem.empty()) {  // cannot be served: on no list of points that fit
            CHECK_FALSE(point.estimate.fits);
            ++refused;
            continue;
        }
        const sim::RoundEstimate& e = plain ? estimate.plain : estimate.speculative;
        const SettledLoad& settled = plain ? estimate.plain_load : estimate.load;
        CHECK(same(point.point.batch, settled.batch));
        CHECK(same(point.queued, settled.queued));
        CHECK(same(point.estimate.round.value(), e.round.value()));
        CHECK(same(point.estimate.time_per_token.value(), e.time_per_token.value()));
        CHECK(same(point.estimate.tokens_per_second_device, e.tokens_per_second_device));
        if (!plain && space.kind == LoadKind::concurrency) {
            CHECK(point.gain == Approx(estimate.gain).epsilon(1e-12));
            CHECK(same(point.estimate.throughput_multiplier, e.throughput_multiplier));
        }
        CHECK(same(point.estimate.first_token.value(), e.first_token.value()));
        CHECK(same(point.estimate.energy_per_token.value(), e.energy_per_token.value()));
        CHECK(point.estimate.fits == e.fits);
        CHECK(same(point.estimate.memory.value(), e.memory.value()));
        queued += settled.queued > 0.0 ? 1 : 0;
    }
    if (space.kind == LoadKind::concurrency) {
        CHECK(queued > 0);  // the largest one exceeds what memory holds
    } else {
        CHECK(refused > 0);
    }
}

}  // namespace

TEST_CASE("a sweep over requests in flight equals estimates of them, waiting requests included") {
    compare(space_of(LoadKind::concurrency, {1.0, 2.0, 17.0, 64.0, 300.0, 4000.0}));
}

TEST_CASE("a sweep over arrivals equals estimates of them, loads that cannot be served included") {
    compare(space_of(LoadKind::arrival_rate, {0.01, 0.4, 1.5, 3.0, 9.0, 500.0}));
}

TEST_CASE("tiles and tasks do not change where loads settle") {
    DesignSpace space = space_of(LoadKind::concurrency, {});
    for (int requests = 1; requests <= 300; ++requests) {  // more than a tile holds
        space.batch.push_back(requests);
    }
    SweepOptions options;
    options.threads = 3;
    options.best_count = 0;
    std::mutex mutex;
    std::size_t points = 0, wrong = 0;
    options.visit = [&](const SweepChunk& chunk) {
        const std::scoped_lock lock(mutex);
        for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
            const SettledLoad settled =
                settle(chunk.round, chunk.speculation[i], {space.kind, chunk.load[i]}, chunk.context[i]);
            ++points;
            wrong += settled.batch == chunk.batch[i] && settled.queued == chunk.queued[i] ? 0 : 1;
        }
    };
    static_cast<void>(run_sweep(space, options));
    CHECK(points == space.size());
    CHECK(wrong == 0);
}

}  // namespace settled_row_test
