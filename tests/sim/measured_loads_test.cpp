// Does a stack predict its measured loads as they were measured, fade to its numbers away from them, and say so in all faces?
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "grid_points.h"
#include "setups.h"
#include "sim/constants.h"
#include "sim/measured_loads.h"
#include "sim/round_bounds.h"
#include "sim/round_grid.h"

namespace measured_loads_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

MeasuredLoad load(double batch, double context, double drafts, double ratio) {
    return {batch, context, drafts, Seconds(1.0), ratio};
}

LoadRatios of(const std::vector<MeasuredLoad>& loads, double reach = 1.0) {
    return LoadRatios(MeasuredLoads{"m", "bf16", "d", "roofline", 1.0, "", reach, loads});
}

/// Llama-3-8B with a 1B drafter on a stack with these loads.
RoundSetup with_loads(const std::vector<MeasuredLoad>& loads) {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.8"));
    setup.platform.stack.measured.measured_loads = {setup.target.name,
                                                    std::string(name_of(setup.precision.weights.format)),
                                                    setup.platform.device.name,
                                                    std::string(name_of(setup.platform.mode)),
                                                    1.0,
                                                    "model",
                                                    1.0,
                                                    loads};
    return setup;
}

const std::vector<MeasuredLoad> some_loads = {load(1, 1000, 0, 1.3),   load(8, 1000, 0, 1.1), load(64, 1000, 0, 0.8),
                                              load(8, 30'000, 0, 1.4), load(8, 1000, 3, 1.7), load(64, 1000, 3, 0.9)};

}  // namespace

TEST_CASE("a measured load has its own ratio, and far away there is none") {
    const LoadRatios ratios = of(some_loads);
    for (const MeasuredLoad& measured : some_loads) {
        CHECK(ratios.at(measured.batch, measured.context, measured.draft_tokens).round == Approx(measured.ratio));
    }
    CHECK(ratios.at(1e9, 1000, 0).plain == Approx(1.0).margin(0.02));
    CHECK(LoadRatios().at(8, 1000, 3).round == 1.0);
    // Without those that draft, a draft has what plain steps say of it.
    const LoadRatios plain = of({some_loads.begin(), some_loads.begin() + 4});
    CHECK(plain.at(8, 1000, 0).plain == Approx(1.1));
    CHECK(plain.at(8, 1000, 3).round > 1.0);
    CHECK(plain.at(8, 1000, 3).round <= 1.1);
}

TEST_CASE("between two loads the ratio goes from one to the other, and fades beyond them") {
    const LoadRatios ratios = of({load(4, 1000, 0, 1.2), load(16, 1000, 0, 1.5)});
    const double middle = ratios.at(8, 1000, 0).plain;
    // On the chord sinh(D - x)/sinh(D) of two neighbours, a few percent below the geometric mean 1.342.
    CHECK(middle < std::sqrt(1.2 * 1.5));
    CHECK(middle > 0.95 * std::sqrt(1.2 * 1.5));
    double before = 1.2;
    for (double batch = 4.0; batch <= 16.0; batch *= 1.1) {
        CHECK(ratios.at(batch, 1000, 0).plain >= before - 1e-12);
        before = ratios.at(batch, 1000, 0).plain;
    }
    before = 1.5;
    for (double batch = 16.0; batch <= 1e5; batch *= 2.0) {
        CHECK(ratios.at(batch, 1000, 0).plain <= before + 1e-12);
        before = ratios.at(batch, 1000, 0).plain;
    }
    CHECK(before < 1.05);
    // One load alone speaks for itself.
    const LoadRatios one = of({load(8, 1000, 0, 1.5)}, reach_of_one_load);
    CHECK(one.at(8, 1000, 0).plain == Approx(1.5));
    CHECK(one.at(16, 1000, 0).plain < 1.05);
    // But not for other lengths of drafts there: half a dozen of them miss much as five do.
    const LoadRatios of_drafts = of({load(8, 1000, 0, 1.0), load(8, 1000, 3, 1.5)}, reach_of_one_load);
    CHECK(of_drafts.at(8, 1000, 3).round == Approx(1.5));
    CHECK(of_drafts.at(8, 1000, 4).round > 1.4);
    CHECK(of_drafts.at(8, 1000, 4).round < 1.5);
    CHECK(of_drafts.at(16, 1000, 4).round < 1.05);
    // A third load beyond its neighbour says nothing.
    const LoadRatios three = of({load(4, 1000, 0, 1.2), load(16, 1000, 0, 1.5), load(64, 1000, 0, 0.2)});
    CHECK(three.at(8, 1000, 0).plain == Approx(middle));
}

TEST_CASE("the ratio scales what a step and a round take, of the deployment that was measured alone") {
    const RoundSetup measured = with_loads(some_loads);
    RoundSetup numbers = measured;
    numbers.platform.stack.measured.measured_loads = {};
    const auto at = [](const RoundSetup& setup, const DesignPoint& point) { return evaluate(compile_round(setup), point); };
    const RoundEstimate with = at(measured, {3, 8.0, 1000.0}), without = at(numbers, {3, 8.0, 1000.0});
    CHECK(with.round / without.round == Approx(1.7));
    CHECK(with.autoregressive / without.autoregressive == Approx(1.1));
    CHECK(with.verify / without.verify == Approx(1.7));
    CHECK(with.throughput_multiplier / without.throughput_multiplier == Approx(1.1 / 1.7));
    CHECK(with.memory == without.memory);
    CHECK(at(measured, {0, 64.0, 1000.0}).round / at(numbers, {0, 64.0, 1000.0}).round == Approx(0.8));

    for (int other = 0; other < 5; ++other) {
        RoundSetup elsewhere = measured;
        MeasuredLoads& loads = elsewhere.platform.stack.measured.measured_loads;
        std::string* const names[] = {&loads.target, &loads.weights, &loads.device, &loads.mode};
        if (other < 4) {
            *names[other] = "another";
        } else {
            loads.devices = 2.0;
        }
        CHECK(at(elsewhere, {3, 8.0, 1000.0}).round == without.round);
    }
    RoundSetup drafter = measured;
    drafter.platform.stack.measured.measured_loads.drafter = "one-layer";
    CHECK(at(drafter, {3, 8.0, 1000.0}).round / without.round < 1.1);  // what plain steps say
    CHECK(at(drafter, {0, 8.0, 1000.0}).round == at(measured, {0, 8.0, 1000.0}).round);
}

TEST_CASE("the explanation of a measured load has the times that were measured") {
    const CompiledRound round = compile_round(with_loads(some_loads));
    const DesignPoint point{3, 8.0, 1000.0};
    const RoundEstimate e = evaluate(round, point);
    double plain = 0.0, drafting = 0.0;
    for (const ExplainedPass& pass : explain(round, point)) {
        (pass.phase == "plain decoding" ? plain : drafting) += pass.runs * pass.time.value();
    }
    CHECK(plain == Approx(e.autoregressive.value()).epsilon(1e-12));
    CHECK(drafting == Approx((e.draft + e.verify + e.rollback).value()).epsilon(1e-12));
}

TEST_CASE("prompts between rounds are part of what was measured") {
    RoundSetup setup = with_loads(some_loads);
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 100.0;
    RoundSetup numbers = setup;
    numbers.platform.stack.measured.measured_loads = {};
    const RoundEstimate with = evaluate(compile_round(setup), {3, 8.0, 1000.0});
    const RoundEstimate without = evaluate(compile_round(numbers), {3, 8.0, 1000.0});
    CHECK(without.prompts > Seconds(0.0));
    CHECK(with.round / without.round == Approx(1.7));
    CHECK(with.throughput_multiplier / without.throughput_multiplier == Approx(1.1 / 1.7));
}

TEST_CASE("points, columns, grids and bounds agree on measured loads") {
    const CompiledRound round = compile_round(with_loads(some_loads));
    const std::vector<int> shapes = {0, 1, 3, 7};
    const std::vector<double> batches = {1, 3, 8, 20, 64, 200}, contexts = {100, 1000, 9000, 40'000};
    at_each_point(round, shapes, batches, contexts, [&](const DesignPoint& at, const RoundEstimate& of_grid) {
        const RoundEstimate point = evaluate(round, at);
        CHECK(of_grid.round == point.round);
        CHECK(of_grid.autoregressive == point.autoregressive);
        RoundEstimate column;
        evaluate(round, PointColumns{{&at.speculation, 1}, {&at.batch, 1}, {&at.context, 1}}, {&column, 1});
        CHECK(column.round == point.round);
        const EstimateBounds exact = bounds_of(round, at.speculation, {at.batch, at.batch, at.context, at.context});
        CHECK(exact.least.round == point.round);
        CHECK(exact.most.throughput_multiplier == point.throughput_multiplier);
    });
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int i = 0; i < 200; ++i) {
        const double batch = std::exp(5.0 * uniform(random)), context = std::exp(10.0 * uniform(random));
        const PointBox box{batch, batch * std::exp(uniform(random)), context, context * std::exp(2.0 * uniform(random))};
        const EstimateBounds bounds = bounds_of(round, 3, box);
        for (int p = 0; p < 10; ++p) {
            const DesignPoint point{3, box.least_batch + (box.most_batch - box.least_batch) * uniform(random),
                                    box.least_context + (box.most_context - box.least_context) * uniform(random)};
            const RoundEstimate e = evaluate(round, point);
            CHECK((e.round >= bounds.least.round && e.round <= bounds.most.round));
            CHECK((e.throughput_multiplier >= bounds.least.throughput_multiplier &&
                   e.throughput_multiplier <= bounds.most.throughput_multiplier));
        }
    }
}

TEST_CASE("loads that are one are kept as one, and not too many") {
    const std::vector<MeasuredLoad> twice = distinct_loads({load(8, 1000, 3, 1.2), load(8, 1000, 3, 1.3)});
    REQUIRE(twice.size() == 1);
    CHECK(twice.front().ratio == Approx(std::sqrt(1.2 * 1.3)));
    CHECK(distinct_loads({load(8, 1000, 3, 1.2), load(8, 1000, 4, 1.3)}).size() == 2);
    std::vector<MeasuredLoad> many;
    for (int i = 1; i <= 1000; ++i) {
        many.push_back(load(i, 1000, i % 3, 1.0 + 0.0001 * i));
    }
    const std::vector<MeasuredLoad> kept = distinct_loads(many);
    CHECK(kept.size() <= most_measured_loads);
    CHECK(kept.size() > most_measured_loads / 4);
    CHECK(problems_of(MeasuredLoads{"m", "bf16", "d", "roofline", 1.0, "", 1.0, kept}).empty());
}

TEST_CASE("impossible loads are refused in words") {
    const auto problem = [](const std::vector<MeasuredLoad>& loads) {
        const std::vector<std::string> found = problems_of(MeasuredLoads{"m", "bf16", "d", "roofline", 1.0, "", 1.0, loads});
        return found.empty() ? std::string() : found.front();
    };
    CHECK(problem(some_loads).empty());
    CHECK(problem({load(0, 1000, 0, 1.0)}) == "batch of measured_loads must be at least 1");
    CHECK(problem({load(1, -1, 0, 1.0)}) == "context of measured_loads must be at least 0");
    CHECK(problem({load(1, 1, -1, 1.0)}) == "draft_tokens of measured_loads must be at least 0");
    CHECK(problem({load(1, 1, 0, std::nan(""))}) == "ratio of measured_loads must lie between 0.01 and 100");
    CHECK(problem({load(1, 1, 0, 1.0), load(1, 1, 0, 1.1)}) ==
          "measured_loads must not have the same batch, context and draft_tokens twice");
}

TEST_CASE("a load with e^2 times as many verified tokens of a sequence is as far off as one reach") {
    MeasuredLoad plain, drafting;
    drafting.draft_tokens = std::exp(2.0) - 1.0;
    CHECK(distance_of(plain, drafting) == Approx(1.0));
}

TEST_CASE("a box of more than one point leaves room for roundings in either direction, a point none") {
    const LoadRatios ratios = of({load(4, 1000, 0, 1.2), load(16, 1000, 0, 1.5)});
    const LoadFactors low = ratios.at(4, 1000, 0), high = ratios.at(16, 1000, 0);
    const LoadFactorBounds point = ratios.over(4, 4, 1000, 1000, 0);
    CHECK(point.least.plain == low.plain);
    CHECK(point.most.plain == low.plain);
    const LoadFactorBounds batches = ratios.over(4, 16, 1000, 1000, 0);
    CHECK(batches.least.plain < low.plain);
    CHECK(batches.most.plain > high.plain);
    CHECK(batches.most.plain == Approx(high.plain).epsilon(1e-9));
    // Of one load the ratio fades with the context: the largest is that at the load.
    const LoadRatios one = of({load(4, 1000, 0, 1.2)});
    const LoadFactorBounds contexts = one.over(4, 4, 1000, 2000, 0);
    CHECK(contexts.most.plain > one.at(4, 1000, 0).plain);
    CHECK(contexts.most.plain == Approx(1.2).epsilon(1e-9));
}

TEST_CASE("several runs of one load count alike, whatever their order") {
    const std::vector<MeasuredLoad> one =
        distinct_loads({load(8, 1000, 3, 1.0), load(8, 1000, 3, 2.0), load(8, 1000, 3, 4.0), load(8, 1000, 3, 16.0)});
    REQUIRE(one.size() == 1);
    CHECK(one.front().ratio == Approx(std::pow(128.0, 0.25)));
    std::vector<MeasuredLoad> timed = {load(8, 1000, 3, 1.0), load(8, 1000, 3, 1.0), load(8, 1000, 3, 1.0)};
    timed[1].measured = Seconds(2.0);
    timed[2].measured = Seconds(4.0);
    CHECK(distinct_loads(timed).front().measured.value() == Approx(2.0));
}

TEST_CASE("as many loads as are kept stay apart; of more, neighbours become one, no farther apart than need be") {
    const auto kept = [](int count, double distance) {
        std::vector<MeasuredLoad> loads;
        for (int i = 0; i < count; ++i) {
            loads.push_back(load(std::exp(i * distance * reach_of_batch.value), 1000, 0, 1.0));
        }
        return distinct_loads(loads).size();
    };
    CHECK(kept(64, 0.03) == 64);
    CHECK(kept(65, 0.03) == 33);   // pairs within 0.04
    CHECK(kept(65, 0.025) == 33);  // and no threes
    CHECK(kept(65, 0.05) == 33);   // within 0.08
    CHECK(kept(100, 0.015) == 50);
}

TEST_CASE("distances in batch, context and drafts add up, and a shorter reach lengthens those in batch and context") {
    MeasuredLoad from, to;
    from.context = 1000.0;
    to.batch = std::exp(3.0);
    to.context = 1500.0 * std::exp(2.0) - 500.0;
    to.draft_tokens = std::exp(2.0) - 1.0;
    CHECK(distance_of(from, to) == Approx(3.0));
    to.batch = 1.0;
    to.draft_tokens = 0.0;
    CHECK(distance_of(from, to) == Approx(1.0));
    for (const double reach : {1.0, 0.25, 2.0}) {
        const LoadRatios one = of({load(1, 1000, 0, 1.5)}, reach);
        CHECK(std::log(one.at(1, to.context, 0).plain) == Approx(std::log(1.5) * std::exp(-1.0 / reach)));
        CHECK(std::log(one.at(std::exp(3.0), 1000, 0).plain) == Approx(std::log(1.5) * std::exp(-1.0 / reach)));
    }
}

TEST_CASE("measured loads need as much memory as there is to four times of it") {
    const auto problems = [](double memory) {
        MeasuredLoads measured;
        measured.loads = {load(1, 1000, 0, 1.0)};
        measured.memory = memory;
        return problems_of(measured).size();
    };
    CHECK(problems(1.0) == 0);
    CHECK(problems(4.0) == 0);
    CHECK(problems(0.99) == 1);
    CHECK(problems(4.01) == 1);
    CHECK(problems(std::nan("")) == 1);
}

}  // namespace measured_loads_test
