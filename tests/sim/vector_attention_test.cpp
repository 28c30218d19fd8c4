// Attention of decoding and verification on vector units, that of prompts on matrix units.
#include <catch2/catch.hpp>

#include "setups.h"

namespace vector_attention_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup setup_with(double vector_attention) {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.precision = setup.target.precision;
    setup.platform = platform("m5-max", "ideal");
    setup.platform.stack.kernels.vector_attention = vector_attention;
    setup.drafter = NgramDrafter{Seconds(0.0)};
    setup.acceptance = Acceptance::geometric(0.5);
    setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"}, {ChainShape{15}, Verification::unrolled, "draft"}};
    return setup;
}

}  // namespace

TEST_CASE("each verified token walks the cache on vector units; prompts do not", "[stack]") {
    const CompiledRound on_matrix_units = compile_round(setup_with(0.0));
    const CompiledRound on_vector_units = compile_round(setup_with(0.1));
    const auto verify = [](const CompiledRound& round, double context) {
        return evaluate(round, {1, 1.0, context}).verify.value();
    };
    // 32 layers, 32 heads of 128, two products, a multiplication and an addition each; 16.2 TFLOP/s in fp32.
    const double of_cached_token = 32.0 * 32.0 * 128.0 * 4.0 * 16.0 / (0.1 * 16.2e12);
    CHECK(verify(on_vector_units, 6000.0) - verify(on_vector_units, 2000.0) == Approx(4000.0 * of_cached_token).epsilon(1e-6));
    CHECK(verify(on_matrix_units, 6000.0) - verify(on_matrix_units, 2000.0) < 0.3 * 4000.0 * of_cached_token);
    CHECK(time_to_first_token(on_vector_units, 4000.0) == time_to_first_token(on_matrix_units, 4000.0));

    RoundSetup wrong = setup_with(1.5);
    CHECK(problems_of(wrong).size() == 1);
}

}  // namespace vector_attention_test
