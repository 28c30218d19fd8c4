// Kernels of attention that a user picks: a step takes no less than one block needs to walk along a cache, layer by layer.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "hardware/catalogue.h"
#include "setups.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace attention_kernels_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double layers = 32.0;  // of Llama-3-8B

AttentionKernels kernels_of(double decode_ns, double verify_ns) {
    AttentionKernels kernels;
    kernels.name = kernels.title = "mine";
    kernels.decode_walk = Seconds(1e-9 * decode_ns);
    kernels.verify_walk = Seconds(1e-9 * verify_ns);
    return kernels;
}

RoundSetup with(const AttentionKernels& kernels, CostMode mode = CostMode::roofline) {
    RoundSetup setup;
    setup.target = model("llama-3-8b");
    setup.platform = platform("h100-sxm", mode == CostMode::calibrated ? "sglang" : "ideal");
    setup.platform.mode = mode;
    setup.platform.stack.picked.attention_kernels = kernels;
    setup.drafter = NgramDrafter{};
    setup.speculations = chains_up_to(3);
    REQUIRE(problems_of(setup).empty());
    return setup;
}

double plain(const RoundSetup& setup, double batch, double context) {
    return evaluate(compile_round(setup), {0, batch, context}).autoregressive.value();
}
double verify(const RoundSetup& setup, double batch, double context) {
    return evaluate(compile_round(setup), {3, batch, context}).verify.value();
}

}  // namespace

TEST_CASE("attention takes no less than a walk along the cache, which no batch makes longer") {
    // 10 ns a token of one layer, and 60 where it verifies; a cache of 4 KB a token and layer is read in less than 2 ns.
    const RoundSetup walks = with(kernels_of(10.0, 60.0)), free = with({});
    const double context = 100'000.0, short_context = 1'000.0;
    const auto grows = [&](auto time, const RoundSetup& setup, double batch) {
        return time(setup, batch, context) - time(setup, batch, short_context);
    };
    for (const double batch : {1.0, 4.0}) {
        CHECK(grows(plain, walks, batch) == Approx(layers * 10e-9 * (context - short_context)).epsilon(1e-9));
        CHECK(grows(verify, walks, batch) == Approx(layers * 60e-9 * (context - short_context)).epsilon(1e-9));
    }
    // With many sequences reading their caches takes longer than any walk.
    CHECK(plain(walks, 64.0, context) == plain(free, 64.0, context));
    CHECK(plain(walks, 1.0, context) > 2.0 * plain(free, 1.0, context));
}

TEST_CASE("a walk holds in calibrated mode, too") {
    const RoundSetup walks = with(kernels_of(0.0, 500.0), CostMode::calibrated), free = with({}, CostMode::calibrated);
    CHECK(plain(walks, 4.0, 20'000.0) == plain(free, 4.0, 20'000.0));
    CHECK(verify(walks, 4.0, 20'000.0) > verify(free, 4.0, 20'000.0) + 0.9 * layers * 500e-9 * 20'000.0);
}

TEST_CASE("the catalogue's kernels of attention load, say where their numbers come from, and refuse nonsense") {
    const std::filesystem::path catalogue = source_folder() / "hardware";
    for (const std::string& name : hardware::attention_kernel_names(catalogue)) {
        INFO(name);
        const auto [kernels, provenance] = hardware::load_attention_kernels(catalogue, name);
        CHECK(kernels.name == name);
        CHECK(provenance.size() >= 2);
        CHECK(kernels.flags.contains("vllm"));
    }
    CHECK_THROWS_AS(hardware::load_attention_kernels(catalogue, "tritom"), text::InputError);
    CHECK(problems_of(kernels_of(10.0, 60.0)).empty());
    CHECK(problems_of(kernels_of(60.0, 10.0)) == std::vector<std::string>{"verify_walk must be at least decode_walk"});
    CHECK(problems_of(kernels_of(-1.0, 10.0)).size() == 1);
    CHECK(problems_of(kernels_of(1.0, 1e7)).size() == 1);
}

}  // namespace attention_kernels_test
