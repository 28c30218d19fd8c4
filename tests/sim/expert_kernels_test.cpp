// Kernels of experts that a user picks: as fast as the engine's own for few rows, slower by a stated number of readings beyond.
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "hardware/catalogue.h"
#include "setups.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace expert_kernels_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double layers = 48.0, active = 8.0, experts = 128.0;  // of Qwen3-30B-A3B
constexpr double expert_parameters = 3.0 * 2048.0 * 768.0;

RoundSetup plain_with(const ExpertKernels& kernels, NumberFormat weights = NumberFormat::fp4) {
    RoundSetup setup;
    setup.target = model("qwen3-30b-a3b");
    setup.precision = uniform_precision(NumberFormat::bf16);
    setup.precision.experts = {weights, 16, 8.0};
    setup.platform = platform("rtx-pro-6000", "ideal");
    setup.platform.mode = CostMode::roofline;
    setup.platform.stack.picked.expert_kernels = kernels;
    setup.drafter = NgramDrafter{};
    setup.speculations = chains_up_to(0);
    return setup;
}

double step(const RoundSetup& setup, double batch) {
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {0, batch, 128.0}).time_per_token.value();
}

ExpertKernels kernels_of(double few_rows, double more_readings) {
    ExpertKernels kernels;
    kernels.name = kernels.title = "mine";
    kernels.few_rows = few_rows;
    kernels.more_readings = more_readings;
    return kernels;
}

}  // namespace

TEST_CASE("picked kernels cost nothing up to few rows, and further readings of what is touched beyond") {
    const ExpertKernels kernels = kernels_of(64.0, 2.0);
    const auto added = [&](double batch) { return step(plain_with(kernels), batch) - step(plain_with({}), batch); };
    CHECK(added(8.0) == 0.0);  // 8 tokens with 8 experts each: 64 rows
    // 4 bits a parameter and 8 for each 16 of them.
    const double touched = experts * (1.0 - std::pow(1.0 - active / experts, 9.0));
    CHECK(added(9.0) == Approx(2.0 * layers * touched * expert_parameters * (4.0 + 0.5) / 8.0 / 1792e9).epsilon(1e-9));
}

TEST_CASE("steps beyond few rows take longer in calibrated mode, too, and hide nothing of it") {
    RoundSetup with = plain_with(kernels_of(64.0, 1.0), NumberFormat::bf16);
    with.platform = platform("h100-sxm", "vllm");
    with.platform.mode = CostMode::calibrated;
    with.platform.stack.picked.expert_kernels = kernels_of(64.0, 1.0);
    with.platform.stack.picked.expert_kernels.weights = NumberFormat::bf16;
    with.precision.experts = {NumberFormat::bf16};
    RoundSetup without = with;
    without.platform.stack.picked.expert_kernels = {};
    CHECK(step(with, 8.0) == step(without, 8.0));
    const double touched = experts * (1.0 - std::pow(1.0 - active / experts, 16.0));
    CHECK(step(with, 16.0) - step(without, 16.0) == Approx(layers * touched * expert_parameters * 2.0 / 3350e9).epsilon(0.01));
}

TEST_CASE("one kernel for all that experts need starts up faster than those that were measured, but never before its time") {
    const auto with = [](double microseconds, CostMode mode) {
        RoundSetup setup = plain_with({}, NumberFormat::bf16);
        setup.platform = platform("h100-sxm", "vllm");
        setup.platform.mode = mode;
        setup.precision.experts = {NumberFormat::bf16};
        setup.platform.stack.kernels.fused_experts = Seconds(microseconds * 1e-6);
        return step(setup, 1.0);
    };
    const auto saved = [&](double microseconds, CostMode mode) { return with(0.0, mode) - with(microseconds, mode); };
    CHECK(saved(3.0, CostMode::calibrated) == Approx(layers * 3e-6).epsilon(1e-9));
    CHECK(saved(100.0, CostMode::calibrated) == Approx(saved(90.0, CostMode::calibrated)));  // no startup is that long
    CHECK(saved(3.0, CostMode::roofline) == 0.0);                                            // nothing was measured
}

TEST_CASE("kernels are refused for targets without such experts") {
    RoundSetup dense = plain_with(kernels_of(64.0, 1.0));
    dense.target = model("llama-3-8b");
    CHECK(problems_of(dense) == std::vector<std::string>{"the kernels 'mine' serve experts in fp4; llama-3-8b has no experts"});
    CHECK(problems_of(plain_with(kernels_of(64.0, 1.0), NumberFormat::int4)) ==
          std::vector<std::string>{"the kernels 'mine' serve experts in fp4; qwen3-30b-a3b stores them in int4"});
    CHECK(problems_of(plain_with(kernels_of(64.0, 1.0))).empty());
}

TEST_CASE("the catalogue's kernels of experts load, say where their numbers come from, and refuse nonsense") {
    const std::filesystem::path catalogue = source_folder() / "hardware";
    for (const std::string& name : hardware::expert_kernel_names(catalogue)) {
        INFO(name);
        const auto [kernels, provenance] = hardware::load_expert_kernels(catalogue, name);
        CHECK(kernels.name == name);
        CHECK(provenance.size() == 2);
        CHECK(kernels.flags.contains("sglang"));
    }
    try {
        hardware::load_expert_kernels(catalogue, "b12");
        FAIL("an unknown name loads");
    } catch (const text::InputError& error) {
        CHECK(std::string(error.what()).find("b12x") != std::string::npos);
    }
    CHECK(problems_of(kernels_of(0.0, 1.0)).size() == 1);
    CHECK(problems_of(kernels_of(1.0, std::numeric_limits<double>::quiet_NaN())).size() == 1);
}

}  // namespace expert_kernels_test
