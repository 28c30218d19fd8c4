// MLX's products of few rows with quantised weights, beside what MLX's contributors measured.
#include <catch2/catch.hpp>

#include "operation_time.h"
#include "setups.h"
#include "sim/kernel_pricing.h"
#include "sim/precision.h"

namespace mlx_rows_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Seconds of a layer of 17,408 outputs and 5,120 inputs for so many rows, in 4 bits and groups of 64 if nothing else is said.
double layer_on(const std::string& device, double rows, const std::string& stack = "mlx",
                const Precision& precision = mlx_precision(4.0, 64.0, NumberFormat::bf16)) {
    Operation layer;
    layer.name = "layer: gate projection";
    layer.kind = OperationKind::linear;
    layer.math = NumberFormat::bf16;
    layer.inputs = 5120.0;
    layer.outputs = 17408.0;
    layer.flops.per_token = Flops(2.0 * layer.inputs * layer.outputs);
    layer.bytes.fixed = precision.weights.per_element() * (layer.inputs * layer.outputs);
    const Rates rates = price_kernel(layer, precision, platform(device, stack)).rates;
    REQUIRE(std::holds_alternative<RowCosts>(rates.rule));
    return testing::time_of(layer, rates, {rows}).value();
}

}  // namespace

TEST_CASE("rows of a quantised layer on an M3 Max, as MLX's pull request 3863 prints them") {
    CHECK(layer_on("m3-max", 1.0) == Approx(0.129e-3).epsilon(0.15));
    CHECK(layer_on("m3-max", 2.0) == Approx(0.129e-3).epsilon(0.15));
    CHECK(layer_on("m3-max", 4.0) == Approx(0.165e-3).epsilon(0.15));
    CHECK(layer_on("m3-max", 6.0) == Approx(0.263e-3).epsilon(0.15));
    CHECK(layer_on("m3-max", 8.0) == Approx(0.323e-3).epsilon(0.15));
}

TEST_CASE("an M2 reads quantised weights again for each of few rows, an M3 does not") {
    CHECK(layer_on("m2-max", 4.0) / layer_on("m2-max", 1.0) > 3.5);
    CHECK(layer_on("m3-max", 4.0) / layer_on("m3-max", 1.0) < 1.5);
}

TEST_CASE("MLX before 0.32.0 has no wide products of quantised weights, and before 0.32.1 none of 16-bit ones") {
    const Precision wide = uniform_precision(NumberFormat::bf16);
    const auto four_to_one = [](const std::string& stack, const Precision& precision) {
        return layer_on("m3-max", 4.0, stack, precision) / layer_on("m3-max", 1.0, stack, precision);
    };
    const Precision narrow = mlx_precision(4.0, 64.0, NumberFormat::bf16);
    CHECK(four_to_one("mlx-0.31", narrow) == Approx(1.89).epsilon(0.1));  // on M4 Pro: MLX issue 3839
    CHECK(four_to_one("mlx-0.32.0", narrow) < 1.5);
    CHECK(four_to_one("mlx-0.32.1", narrow) == four_to_one("mlx", narrow));
    CHECK(four_to_one("mlx-0.32.0", wide) > 1.05 * four_to_one("mlx-0.32.1", wide));
    CHECK(four_to_one("mlx-0.32.0", wide) == four_to_one("mlx-0.31", wide));
    // One row runs as ever.
    CHECK(layer_on("m3-max", 1.0, "mlx-0.31") == layer_on("m3-max", 1.0, "mlx"));
}

}  // namespace mlx_rows_test
