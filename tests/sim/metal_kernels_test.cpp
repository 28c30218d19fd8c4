// Products of few rows with quantised weights on Metal, where each row reads the weights again.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/ggml_types.h"

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

/// One step of Llama-2-7B with the cached tokens of llama-bench's tg128, in ms.
double llama_bench(const char* device, const char* type) {
    RoundSetup setup;
    setup.target = model("llama-2-7b");
    setup.precision = gguf_precision(type).value();
    setup.platform = platform(device, "llama.cpp");
    setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}};
    return 1e3 * evaluate(compile_round(setup), {0, 1.0, 64.0}).autoregressive.value();
}

}  // namespace

TEST_CASE("kernels of few cores unpack K types more slowly than memory yields them", "[stack]") {
    // llama.cpp, discussion 4167: 61.2 and 40.2 tokens/s of LLaMA 7B in Q4_0 and Q8_0 on M1 Max, 66.3 on M3 Max, 83.1 on M4
    // Max.
    CHECK(llama_bench("m1-max", "q4_0") == Approx(16.3).epsilon(0.10));
    CHECK(llama_bench("m1-max", "q8_0") == Approx(24.9).epsilon(0.10));
    CHECK(llama_bench("m3-max", "q4_0") == Approx(15.1).epsilon(0.10));
    CHECK(llama_bench("m4-max", "q4_0") == Approx(12.0).epsilon(0.15));
    // 28 operations of 10.6 TFLOP/s for each weight of an M1 Max; an M4 Pro reads as fast as in Q4_0.
    CHECK(llama_bench("m1-max", "q4_k_m") > 1.3 * llama_bench("m1-max", "q4_0"));
    CHECK(llama_bench("m1-max", "q4_k_m") > 1e3 * 28.0 * 6.6e9 / 10.6e12);
    CHECK(llama_bench("m4-pro", "q4_k_m") < 1.15 * llama_bench("m4-pro", "q4_0"));
}

TEST_CASE("a kernel waits for the one before it as long as its device takes", "[stack]") {
    RoundSetup setup;
    setup.target = model("qwen3-0.6b");
    setup.precision = setup.target.precision;
    setup.platform = platform("m4-max", "mlx");
    setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}};
    const auto step_with = [&](double gap) {
        setup.platform.device.kernel_gap = Seconds(gap);
        return evaluate(compile_round(setup), {0, 1.0, 64.0}).autoregressive.value();
    };
    const double shortest = step_with(0.0);
    CHECK(step_with(1e-6) == shortest);  // the stack's own gap is longer
    const double two = step_with(2e-6), three = step_with(3e-6), four = step_with(4e-6);
    CHECK(three - two == Approx(four - three));
    CHECK(three > two);
    CHECK(two > shortest);

    setup.platform.stack = platform("m4-max", "ideal").stack;
    CHECK(step_with(0.0) == step_with(4e-6));  // a stack without gaps is an ideal one
}

TEST_CASE("quantised weights are read for each of few rows on Metal", "[stack]") {
    // llama-batched-bench with Qwen3.8-27B in 3 to 4 bits: eight rows cost 6.54 times one on M4, 2.39 times on RTX 3090
    // (sudoingX/qwen38-mtp, sweeps/apple-silicon.md).
    CHECK(cost_of_rows("m4", "qwen3.5-27b", NumberFormat::int4, 8.0) == Approx(6.54).epsilon(0.06));
    CHECK(cost_of_rows("rtx-3090", "qwen3.5-27b", NumberFormat::int4, 8.0) == Approx(2.39).epsilon(0.25));
    CHECK(cost_of_rows("m3-ultra", "qwen3.5-27b", NumberFormat::int4, 4.0) > 2.7);
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
        setup.platform.stack.kernels.metal_memory_efficiency = share;
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
    wrong.platform.stack.kernels.metal_memory_efficiency = 1.5;
    wrong.platform.stack.kernels.row_curves = {
        {.least_unpacking = -1.0, .few_rows = 2000.0, .few_rows_speed = 0.5, .reads_per_row = 2.0, .tile = 0.5}};
    CHECK(problems_of(wrong).size() == 5);
}

}  // namespace metal_kernels_test
