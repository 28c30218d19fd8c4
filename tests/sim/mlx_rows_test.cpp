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

/// Seconds of a layer of 17,408 outputs and 5,120 inputs in 4 bits, groups of 64, for so many rows.
double layer_on(const std::string& device, double rows) {
    Operation layer;
    layer.name = "layer: gate projection";
    layer.kind = OperationKind::linear;
    layer.math = NumberFormat::bf16;
    layer.inputs = 5120.0;
    layer.outputs = 17408.0;
    layer.flops.per_token = Flops(2.0 * layer.inputs * layer.outputs);
    const Precision precision = mlx_precision(4.0, 64.0, NumberFormat::bf16);
    layer.bytes.fixed = precision.weights.per_element() * (layer.inputs * layer.outputs);
    const Rates rates = price_kernel(layer, precision, platform(device, "mlx")).rates;
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

}  // namespace mlx_rows_test
