// Products of few rows with quantised weights on Metal, where each row reads the weights again.
#include <catch2/catch.hpp>

#include "setups.h"

namespace metal_kernels_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

double step(const char* device, const char* target, NumberFormat weights, double batch) {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = checkpoint_precision(weights, NumberFormat::bf16);
    setup.precision.embeddings = setup.precision.weights;  // as in GGUF files
    setup.platform = platform(device, "llama.cpp");
    setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}};
    return evaluate(compile_round(setup), {0, batch, 128.0}).autoregressive.value();
}

/// What `rows` rows cost over one.
double cost_of_rows(const char* device, const char* target, NumberFormat weights, double rows) {
    return step(device, target, weights, rows) / step(device, target, weights, 1.0);
}

}  // namespace

TEST_CASE("quantised weights are read for each of few rows on Metal", "[stack]") {
    // llama-batched-bench with Qwen3.8-27B in 3 to 4 bits: eight rows cost 6.54 times one on M4, 2.39 times on RTX 3090
    // (sudoingX/qwen38-mtp, sweeps/apple-silicon.md).
    CHECK(cost_of_rows("m4", "qwen3.5-27b", NumberFormat::int4, 8.0) == Approx(6.54).epsilon(0.06));
    CHECK(cost_of_rows("rtx-3090", "qwen3.5-27b", NumberFormat::int4, 8.0) == Approx(2.39).epsilon(0.25));
    CHECK(cost_of_rows("m3-ultra", "qwen3.5-27b", NumberFormat::int4, 4.0) > 2.9);
    // Beyond eight rows nothing, until matrix products take as long.
    CHECK(cost_of_rows("m4", "qwen3.5-27b", NumberFormat::int4, 10.0) <
          1.1 * cost_of_rows("m4", "qwen3.5-27b", NumberFormat::int4, 8.0));
    // Weights of 16 bits are read once: Qwen3-0.6B in BF16 decodes eight sequences at 4.99 times the rate of one there.
    CHECK(cost_of_rows("m4", "qwen3-0.6b", NumberFormat::bf16, 8.0) < 8.0 / 4.99 * 1.15);
}

TEST_CASE("Metal's share of the bandwidth holds on Metal alone", "[stack]") {
    const auto rate = [](const char* device, double share) {
        RoundSetup setup;
        setup.target = model("llama-3.1-8b");
        setup.precision = setup.target.precision;
        setup.platform = platform(device, "ideal");
        setup.platform.stack.metal_memory_efficiency = share;
        setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}};
        return evaluate(compile_round(setup), {0, 1.0, 0.0}).autoregressive.value();
    };
    CHECK(rate("m4-max", 0.5) == Approx(2.0 * rate("m4-max", 0.0)).epsilon(0.02));
    CHECK(rate("rtx-3090", 0.5) == rate("rtx-3090", 0.0));

    RoundSetup wrong;
    wrong.target = model("llama-3.1-8b");
    wrong.precision = wrong.target.precision;
    wrong.platform = platform("m4-max", "ideal");
    wrong.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}};
    wrong.platform.stack.metal_memory_efficiency = 1.5;
    wrong.platform.stack.row_curves = {{.few_rows = 2000.0, .few_rows_speed = 0.5, .reads_per_row = 2.0, .tile = 0.5}};
    CHECK(problems_of(wrong).size() == 4);
}

}  // namespace metal_kernels_test
