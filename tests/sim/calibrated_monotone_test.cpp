// By measured laws, is more hardware never slower, and more work never faster?
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "setups.h"
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

}  // namespace

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
