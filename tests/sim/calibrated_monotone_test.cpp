// By measured laws, is more hardware never slower, and more work never faster?
#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "setups.h"
#include "sim/law_transfer.h"
#include "sim/round.h"

namespace calibrated_monotone_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Plain decoding and prompts of a model on a measured device or a relative of one, in calibrated mode.
RoundSetup calibrated(const std::string& target, const std::string& device, double ranks, Parallelism parallel = {}) {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform(device, "vllm-0.14");
    setup.platform.mode = CostMode::calibrated;
    setup.platform.ranks = ranks;
    setup.platform.parallel = parallel;
    setup.rollback = rollbacks_for(setup.target, setup.platform.stack).front();
    setup.speculations = chains_up_to(0);
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 200.0;
    REQUIRE(problems_of(setup).empty());
    return setup;
}

/// Every class of law: linear layers, attention and windows, experts by both families, latents, scans, all-reduces, exchanges.
std::vector<RoundSetup> setups() {
    return {calibrated("llama-3.1-8b", "a100-sxm-80", 1.0),     calibrated("llama-3.1-70b", "l40s", 4.0),
            calibrated("gpt-oss-120b", "h100-sxm", 2.0),        calibrated("qwen3-30b-a3b", "l40s", 1.0),
            calibrated("deepseek-v3", "h200", 8.0, {1.0, 8.0}), calibrated("deepseek-v3", "b200", 1.0, {8.0, 8.0}),
            calibrated("qwen3.5-122b-a10b", "h100-sxm", 4.0)};
}

double step(const RoundSetup& setup, double batch, double context) {
    return evaluate(compile_round(setup), {0, batch, context}).round.value();
}

/// One of them, drawn.
template <class T>
const T& any_of(const std::vector<T>& values, std::mt19937& random) {
    return values[random() % values.size()];
}

/// A device with laws, whose relative's laws are carried over anew where its description names one: to it, or to one that
/// computes `factor` times as much.
Device with_laws(const Device& described, double factor) {
    Device device = described;
    for (FlopsPerSecond& peak : device.peak) {
        peak *= factor;
    }
    if (!device.laws_of.empty()) {
        device.calibration = transferred_laws(testing::device(device.laws_of), device);
    }
    return device;
}

/// A round on no device yet: dense, with experts or with recurrent states; heads, a model or an n-gram drafting; any rollback.
RoundSetup random_round(std::mt19937& random) {
    static const std::vector<Model> models = {model("llama-3.1-8b"), model("qwen3-30b-a3b"),
                                              model("llama3.1-mamba2-8b-distill-25"), model("mamba2-2.7b")};
    static const std::vector<Stack> stacks = {stack("vllm-0.14"), stack("sglang-0.5.6"), stack("tensorrt-llm-1.2"),
                                              stack("cuda-graph")};
    RoundSetup setup;
    setup.target = any_of(models, random);
    setup.precision = setup.target.precision;
    setup.platform.stack = any_of(stacks, random);
    setup.platform.mode = CostMode::calibrated;
    Model small = models.front();
    small.vocabulary = setup.target.vocabulary;
    small.vocabulary_size = setup.target.vocabulary_size;
    NgramDrafter lookup;
    lookup.hit_rate = 0.5;
    lookup.mean_draft = 3.0;
    setup.drafter = any_of<Drafter>({OneLayerDrafter::published_eagle3(), OneLayerDrafter::published_p_eagle(),
                                     IndependentDrafter{small, small.precision}, lookup},
                                    random);
    setup.rollback = any_of(rollbacks_for(setup.target), random);
    setup.speculations = chains_up_to(1 + static_cast<int>(random() % 8));
    setup.acceptance = Acceptance::geometric(0.6);
    return setup;
}

/// Calls check(setup, point) for `draws` random rounds that can be priced, on devices of the catalogue with laws.
template <class Check>
void for_random_rounds(unsigned seed, int draws, Check check) {
    std::mt19937 random(seed);
    static const std::vector<std::string> names = {"t4",       "rtx-3090", "rtx-4090",    "rtx-5090", "h20", "l4",
                                                   "h100-sxm", "h200",     "a100-sxm-80", "a10g",     "l40s"};
    static const std::vector<double> batches = {1.0, 2.0, 7.0, 16.0, 32.0, 48.0, 64.0, 128.0, 256.0};
    int priced = 0;
    for (int draw = 0; draw < 20 * draws && priced < draws; ++draw) {
        RoundSetup setup = random_round(random);
        const std::string& name = any_of(names, random);
        setup.platform.device = device(name);
        const DesignPoint point{static_cast<int>(setup.speculations.size()) - 1, any_of(batches, random), 1000.0};
        if (problems_of(setup).empty() && compile_round(setup).runs(point.speculation)) {
            CAPTURE(draw, setup.target.name, name, setup.platform.stack.name, name_of(setup.rollback), setup.drafter.index(),
                    point.speculation, point.batch);
            check(setup, point);
            ++priced;
        }
    }
    CHECK(priced == draws);
}

}  // namespace

TEST_CASE("laws that are carried over to a device with more compute never make it slower") {
    for_random_rounds(1, 60, [](RoundSetup setup, const DesignPoint& point) {
        const Device described = setup.platform.device;
        double before = std::numeric_limits<double>::infinity();
        for (const double factor : {0.5, 0.9, 1.0, 1.05, 1.3, 2.0, 2.1, 8.0}) {
            setup.platform.device = with_laws(described, factor);
            const double round = evaluate(compile_round(setup), point).round.value();
            CAPTURE(factor);
            CHECK(round <= before * (1.0 + 1e-12));
            before = round;
        }
    });
}

// A drafter's first pass reads 1 token, or 2 after a round whose last draft was accepted: at 0.6, two in 0.6 of the rounds.
TEST_CASE("the time of a mean number of tokens is the mean of the times") {
    RoundSetup setup = pair_setup("llama-3.1-70b", "llama-3.1-8b", platform("rtx-4090", "cuda-graph"));
    setup.platform.mode = CostMode::calibrated;
    setup.platform.device.memory = Bytes(1e12);
    setup.speculations = chains_up_to(1);
    const auto drafting = [&](double acceptance) {
        setup.acceptance = Acceptance::geometric(acceptance);
        return evaluate(compile_round(setup), {1, 64.0, 1000.0}).draft.value();
    };
    CHECK(drafting(0.6) == Approx(0.4 * drafting(0.0) + 0.6 * drafting(1.0)).epsilon(1e-12));
}

TEST_CASE("by measured laws more acceptance never loses") {
    for_random_rounds(2, 60, [](RoundSetup setup, const DesignPoint& point) {
        double before = 0.0;
        for (int percent = 0; percent <= 100; percent += 4) {
            setup.acceptance = Acceptance::geometric(percent / 100.0);
            const double speedup = evaluate(compile_round(setup), point).throughput_multiplier;
            CAPTURE(percent);
            CHECK(speedup >= before * (1.0 - 1e-12));
            before = speedup;
        }
    });
}

TEST_CASE("by measured laws a better device is never slower") {
    for (const RoundSetup& base : setups()) {
        for (const double factor : {1.01, 1.5, 10.0}) {
            RoundSetup memory = base, compute = base, links = base;
            memory.platform.device.bandwidth *= factor;
            for (FlopsPerSecond& peak : compute.platform.device.peak) {
                peak *= factor;
            }
            for (Interconnect& link : links.platform.device.interconnects) {
                link.bandwidth *= factor;
            }
            for (const double batch : {1.0, 7.0, 64.0, 700.0}) {
                CAPTURE(base.target.name, base.platform.device.name, factor, batch);
                const double before = step(base, batch, 4096.0);
                CHECK(step(memory, batch, 4096.0) <= before);
                CHECK(step(compute, batch, 4096.0) <= before);
                CHECK(step(links, batch, 4096.0) <= before);
            }
        }
    }
}

TEST_CASE("by measured laws a step with more requests, or more that is cached, never takes less") {
    for (const RoundSetup& setup : setups()) {
        const CompiledRound round = compile_round(setup);
        double last = 0.0;
        for (double batch = 1.0; batch <= 1024.0; ++batch) {
            CAPTURE(setup.target.name, setup.platform.device.name, batch);
            const double time = evaluate(round, {0, batch, 1024.0}).round.value();
            CHECK(time >= last);
            last = time;
        }
        last = 0.0;
        for (double context = 0.0; context <= 65536.0; context += 512.0) {
            CAPTURE(setup.target.name, setup.platform.device.name, context);
            const double time = evaluate(round, {0, 16.0, context}).round.value();
            CHECK(time >= last);
            last = time;
        }
    }
}

}  // namespace calibrated_monotone_test
