// Do the costs of rows, outputs and whole items follow their definitions, and is more work never cheaper?
#include <catch2/catch.hpp>

#include "operation_time.h"
#include "sim/operations.h"
#include "sim/rates.h"

namespace rates_test {

using namespace treeline;
using namespace treeline::sim;
using testing::unit_rates;

namespace {

double time_of(const KernelLaw& law, const Operation& operation, const PassShape& shape) {
    const Rates rates = measured_rates(law, unit_rates(), operation);
    REQUIRE(std::holds_alternative<RowCosts>(rates.rule));
    return testing::time_of(operation, rates, shape).value();
}

/// 10 FLOPs a row, and 30 bytes of weights.
Operation linear_layer() {
    Operation layer;
    layer.flops.per_token = Flops(10.0);
    layer.bytes.fixed = Bytes(30.0);
    layer.inputs = 1024.0;
    layer.outputs = 5.0;
    return layer;
}

}  // namespace

TEST_CASE("rows cost what the knots say") {
    KernelLaw law;
    law.first_row = 4.0;
    law.knots[0] = {3.0, 0.5};
    law.knots[1] = {5.0, 2.0};
    const Operation layer = linear_layer();
    // In rows of full speed: 4, then 0.5 each up to row 3, 2 each up to row 5, 1 each beyond; 10 FLOPs a row.
    CHECK(time_of(law, layer, {1.0}) == Approx(40.0));
    CHECK(time_of(law, layer, {3.0}) == Approx(50.0));
    CHECK(time_of(law, layer, {4.0}) == Approx(70.0));
    CHECK(time_of(law, layer, {5.0}) == Approx(90.0));
    CHECK(time_of(law, layer, {7.0}) == Approx(110.0));
    CHECK(time_of(law, layer, {0.5}) == Approx(30.0));  // half of 40, but the weights take 30
    law.per_output = Seconds(2.0);
    CHECK(time_of(law, layer, {3.0}) == Approx(50.0 + 2.0 * 5.0 * 3.0));
}

TEST_CASE("a step counts for layers whose rows lie whole pages apart") {
    KernelLaw law;
    law.first_row = 2.0;
    law.step_rows = 12.0;
    law.step_share = 0.5;
    law.step_inputs = 1024.0;
    Operation layer = linear_layer();
    const double with_pages = time_of(law, layer, {13.0});
    CHECK(with_pages == Approx(140.0 + 0.5 * 30.0));  // 14 rows of full speed, half of the weights' 30
    CHECK(time_of(law, layer, {12.0}) == Approx(130.0));
    layer.inputs = 1536.0;
    CHECK(time_of(law, layer, {13.0}) == Approx(140.0));
}

TEST_CASE("linear layers compute whole tiles of rows, in whole waves of tiles") {
    const Operation layer = linear_layer();
    const auto time = [&](const KernelLaw& law, double rows) {
        const Rates rates = measured_rates(law, unit_rates(), layer);
        REQUIRE(std::holds_alternative<RowSteps>(rates.rule));
        return testing::time_of(layer, rates, {rows}).value();
    };
    KernelLaw law;
    law.row_tile = 8.0;
    CHECK(time(law, 5.0) == Approx(80.0));
    law.least_tile = 2.0;  // 10 FLOPs a row: three rows in a tile of 4, five in one of 8, nine in two of 8
    CHECK(time(law, 3.0) == Approx(40.0));
    law.padding = 3.0;
    CHECK(time(law, 3.0) == Approx(10.0 * (3.0 + 3.0 * 1.0)));
    CHECK(time(law, 5.0) == Approx(10.0 * (5.0 + 3.0 * 3.0)));
    CHECK(time(law, 8.0) == Approx(80.0));
    CHECK(time(law, 9.0) == Approx(10.0 * (9.0 + 3.0 * 7.0)));

    KernelLaw waves;
    waves.row_tile = 8.0;
    waves.tile_columns = 2.0;  // 5 outputs are 3 tiles, so 6 workers compute two tiles of rows and 6 outputs at a time
    waves.workers = 6.0;
    CHECK(time(waves, 8.0) == Approx(6.0 / 5.0 * 10.0 * 16.0));
    CHECK(time(waves, 16.0) == Approx(6.0 / 5.0 * 10.0 * 16.0));
    CHECK(time(waves, 17.0) == Approx(6.0 / 5.0 * 10.0 * 32.0));
    waves.workers = 1.0;  // 3 waves for each tile of rows, and nobody idles
    CHECK(time(waves, 8.0) == Approx(6.0 / 5.0 * 80.0));

    KernelLaw quantised;
    quantised.per_activation = Seconds(0.01);  // 1024 inputs
    CHECK(time(quantised, 4.0) == Approx(40.0 + 4.0 * 10.24));
}

TEST_CASE("heads wider than 128 elements have a bandwidth of their own, those of 128 have not") {
    KernelLaw law;
    law.wide_head_share = 0.5;
    Operation attention;
    for (const double dim : {64.0, 128.0, 129.0, 256.0}) {
        attention.head_dim = dim;
        CHECK(measured_rates(law, unit_rates(), attention).per_byte == SecondsPerByte(dim > 128.0 ? 2.0 : 1.0));
    }
}

TEST_CASE("the busiest worker has whole items") {
    KernelLaw law;
    law.workers = 2.0;
    Operation norm = linear_layer();
    norm.kind = OperationKind::element_wise;
    norm.bytes = {};
    norm.items.per_row = 1.0;
    CHECK(time_of(law, norm, {1.0}) == Approx(2.0 * 10.0));  // one of two workers idles
    CHECK(time_of(law, norm, {2.0}) == Approx(20.0));
    CHECK(time_of(law, norm, {5.0}) == Approx(3.0 / 2.5 * 50.0));
    norm.items = {};
    CHECK(time_of(law, norm, {5.0}) == Approx(50.0));
}

TEST_CASE("query rows on a head count together, and scores cost beside products") {
    KernelLaw law;
    law.first_row = 4.0;
    law.score_elements = 32.0;
    Operation attention;
    attention.kind = OperationKind::attention;
    attention.reads_context = true;
    attention.flops.per_visible = Flops(1.0);
    attention.head_dim = 64.0;
    attention.rows_per_token = 3.0;
    // 100 cached tokens and itself: 101 FLOPs, times 1 + 32/64; three rows cost 4 + 2 of full speed, over three.
    CHECK(time_of(law, attention, {1.0, 1.0, 100.0, 1.0}) == Approx(101.0 * 1.5 * 6.0 / 3.0));
}

TEST_CASE("classes of kernels that were not measured take the law of their relatives") {
    Calibration calibration;
    KernelLaw scan, element_wise, sampling;
    scan.bandwidth_share = 0.1;
    element_wise.bandwidth_share = 0.2;
    sampling.bandwidth_share = 0.3;
    calibration.kernels = {{KernelClass::scan, NumberFormat::fp32, scan},
                           {KernelClass::element_wise, NumberFormat::fp32, element_wise},
                           {KernelClass::sampling, NumberFormat::fp32, sampling}};
    const auto share = [&](KernelClass kernel) { return calibration.law(kernel, NumberFormat::fp32)->bandwidth_share; };
    CHECK(share(KernelClass::scan_unwritten) == 0.1);
    CHECK(share(KernelClass::scan_every) == 0.1);
    CHECK(share(KernelClass::norm) == 0.2);
    CHECK(share(KernelClass::gated_norm) == 0.2);
    CHECK(share(KernelClass::activation) == 0.2);
    CHECK(share(KernelClass::rotary) == 0.2);
    CHECK(share(KernelClass::rejection) == 0.3);
    CHECK(share(KernelClass::top_choices) == 0.3);
    KernelLaw unwritten;
    unwritten.bandwidth_share = 0.4;
    calibration.kernels.push_back({KernelClass::scan_unwritten, NumberFormat::fp32, unwritten});
    CHECK(share(KernelClass::scan_unwritten) == 0.4);
    CHECK(calibration.law(KernelClass::gemm, NumberFormat::fp32) == nullptr);
}

TEST_CASE("knots must ascend") {
    Calibration calibration;
    KernelLaw law;
    law.knots[0] = {8.0, 1.0};
    law.knots[1] = {4.0, 1.0};
    calibration.kernels = {{KernelClass::gemm, NumberFormat::fp32, law}};
    REQUIRE(problems_of(calibration).size() == 1);
    CHECK(problems_of(calibration).front().find("needs knots above one row") != std::string::npos);
    calibration.kernels[0].law.knots[1] = {};
    CHECK(problems_of(calibration).empty());
}

TEST_CASE("the largest tile is one that the least one grows into") {
    Calibration calibration;
    KernelLaw law;
    law.row_tile = 256.0;
    law.least_tile = 16.0;
    calibration.kernels = {{KernelClass::gemm, NumberFormat::fp8, law}};
    CHECK(problems_of(calibration).empty());
    for (const double least : {8.0, 48.0, 512.0}) {  // 8 would take five doublings
        calibration.kernels[0].law.least_tile = least;
        REQUIRE(problems_of(calibration).size() == 1);
        CHECK(problems_of(calibration).front().find("power of two up to 16") != std::string::npos);
    }
}

TEST_CASE("a cache whose pages fit costs attention no step, whatever its share") {
    KernelLaw law;
    law.first_row = 2.0;
    law.step_share = 0.5;
    Operation attention;
    attention.kind = OperationKind::attention;
    attention.reads_context = true;
    attention.bytes.per_context = Bytes(4.0);
    const auto costs = [&] { return std::get<RowCosts>(measured_rates(law, unit_rates(), attention).rule); };
    CHECK(costs().step == Seconds(0.0));
    law.step_rows = 100.0;  // half of 4 bytes for each token beyond
    CHECK(costs().step == Seconds(2.0));
    CHECK(costs().step_after == 100.0);
}

}  // namespace rates_test
