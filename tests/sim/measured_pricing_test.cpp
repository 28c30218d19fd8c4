// Where measured laws begin and end to price a kernel, and how figures of a stack bend them. The device has 100 B/s, 1000
// FLOP/s in bf16 and 100 in fp32.
#include <catch2/catch.hpp>

#include <cmath>

#include "operation_time.h"
#include "sim/kernel_pricing.h"
#include "sim/law_transfer.h"

namespace measured_pricing_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

Platform small_platform(CostMode mode) {
    Platform platform;
    platform.mode = mode;
    platform.device.name = "small";
    platform.device.bandwidth = BytesPerSecond(100.0);
    platform.device.cache = Bytes(10.0);
    platform.device.multiprocessors = 4.0;
    platform.device.peak.fill(FlopsPerSecond(0.0));
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp32)] = FlopsPerSecond(100.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::bf16)] = FlopsPerSecond(1000.0);
    platform.stack.kernels.runs_treeline_kernels = false;
    if (mode == CostMode::calibrated) {
        platform.device.calibration = Calibration{"small", "", "measured", {}};
    }
    return platform;
}

Operation of(OperationKind kind, double launches = 1.0) {
    Operation operation;
    operation.name = "layer: x";
    operation.kind = kind;
    operation.math = NumberFormat::bf16;
    operation.launches = launches;
    return operation;
}

/// 10 FLOPs a row, 30 bytes of weights.
Operation linear_layer() {
    Operation layer = of(OperationKind::linear);
    layer.flops.per_token = Flops(10.0);
    layer.bytes.fixed = Bytes(30.0);
    return layer;
}

const Precision& bf16() {
    static const Precision precision = uniform_precision(NumberFormat::bf16);
    return precision;
}

Rates rates_of(const Operation& operation, const Platform& platform, const Precision& precision = bf16()) {
    return price_kernel(operation, precision, platform).rates;
}

KernelLaw carried(const CalibratedKernel& kernel, Device measured, const Device& other) {
    measured.calibration = Calibration{"measured", "", "measured", {kernel}};
    const Calibration result = transferred_laws(measured, other);
    REQUIRE(result.kernels.size() == 1);
    return result.kernels.front().law;
}

}  // namespace

TEST_CASE("a stack reads weights of fp4 at a speed of their own") {
    Platform platform = small_platform(CostMode::roofline);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(4000.0);
    platform.stack.kernels.fp4_read_speed = 0.5;
    Operation layer = linear_layer();
    CHECK(rates_of(layer, platform).per_byte == SecondsPerByte(1.0 / 100));
    layer.math = NumberFormat::fp4;
    CHECK(rates_of(layer, platform).per_byte == SecondsPerByte(1.0 / 50));
    CHECK(rates_of(layer, platform).per_flop == SecondsPerFlop(1.0 / 4000));
}

TEST_CASE(
    "scans of two kernels or more hide nothing of each other, unless each step waits for the one before; others do hide") {
    Platform platform = small_platform(CostMode::roofline);
    platform.stack.kernels.unhidden = 0.5;
    platform.stack.kernels.scan_efficiency = 0.25;
    Operation scan = of(OperationKind::scan, 2.0);
    CHECK(rates_of(scan, platform).overlap == 1.0);
    CHECK(rates_of(scan, platform).per_flop == SecondsPerFlop(1.0 / 1000));
    scan.launches = 1.0;
    CHECK(rates_of(scan, platform).overlap == 0.5);
    CHECK(rates_of(scan, platform).per_flop == SecondsPerFlop(1.0 / 250));
    CHECK(rates_of(of(OperationKind::element_wise, 3.0), platform).overlap == 0.5);
}

TEST_CASE("rows that all cost the same follow no curve, and a tile of fewer rows than few ones count changes nothing") {
    Platform platform = small_platform(CostMode::roofline);
    platform.stack.kernels.row_curves = {{.hides = true}};
    CHECK(std::holds_alternative<NoRows>(rates_of(linear_layer(), platform).rule));
    platform.stack.kernels.row_curves = {{.tile = 2.0, .hides = true}};
    CHECK(std::holds_alternative<RowCosts>(rates_of(linear_layer(), platform).rule));
    // Each of four rows counts as two of matrix units: eight in all, more than a tile of six.
    platform.stack.kernels.row_curves = {{.few_rows = 4.0, .few_rows_speed = 5.0, .tile = 6.0, .matrix_tile = 6.0}};
    const auto time = [&](double rows) {
        return testing::time_of(linear_layer(), rates_of(linear_layer(), platform), {rows}).value();
    };
    CHECK(time(4.0) == Approx(0.3 + 0.08));
    CHECK(time(5.0) == Approx(0.3 + 0.08));
    CHECK(time(8.0) == Approx(0.3 + 0.08));
    CHECK(time(9.0) == Approx(0.3 + 0.09));
}

TEST_CASE("only products that quantise activations start up like wide ones, and fit the tiles of an engine") {
    Platform platform = small_platform(CostMode::calibrated);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(2000.0);
    platform.stack.kernels.fused_quantisation = platform.stack.kernels.fits_quantised_tiles = true;
    KernelLaw narrow, wide;
    narrow.startup = Seconds(5.0);
    narrow.launch = Seconds(4.0);
    narrow.ramp_bytes = Bytes(10.0);
    narrow.row_tile = 256.0;
    narrow.padding = 3.0;
    wide.startup = Seconds(3.0);
    wide.launch = Seconds(2.0);
    const auto rates = [&](double per_activation) {
        narrow.per_activation = Seconds(per_activation);
        platform.device.calibration->kernels = {{KernelClass::gemm, NumberFormat::fp8, narrow},
                                                {KernelClass::gemm, NumberFormat::bf16, wide}};
        Operation layer = linear_layer();
        layer.math = NumberFormat::fp8;
        return rates_of(layer, platform, checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16));
    };
    CHECK(rates(0.0).startup == Seconds(4.0));
    CHECK(rates(0.0).ramp == Seconds(1.0));
    CHECK(std::get<RowSteps>(rates(0.0).rule).tile == 256.0);
    CHECK(std::get<RowSteps>(rates(0.0).rule).padding == 3.0);
    CHECK(rates(0.5).startup == Seconds(2.0));
    CHECK(rates(0.5).ramp == Seconds(1.0));
    CHECK(std::get<RowSteps>(rates(0.5).rule).tile == 128.0);
    CHECK(std::get<RowSteps>(rates(0.5).rule).padding == 1.0);
}

TEST_CASE("kernels that an engine picks walk along a cache as long as measured, in proportion to the width of heads") {
    Platform platform = small_platform(CostMode::calibrated);
    platform.device.calibration->attention_walk = {Seconds(0.0), Seconds(2.0), 1.0};
    VerificationRule rule;
    rule.kernels.name = "walks";
    rule.kernels.verify_walk = Seconds(7.0);
    platform.stack.picked.verification_rules = {rule};
    Operation attention = of(OperationKind::attention);
    attention.reads_context = true;
    attention.head_dim = 256.0;
    const auto walk = [&] { return rates_of(attention, platform).walk_of_several; };
    CHECK(walk() == Seconds(4.0));
    attention.head_dim = 64.0;
    CHECK(walk() == Seconds(1.0));
    platform.stack.picked.verification_rules.front().kernels.verify_walks = {{"small", Seconds(6.0)}};
    CHECK(walk() == Seconds(6.0));  // stated for the device
    platform.stack.picked.verification_rules.front().kernels.verify_walks = {{"other", Seconds(6.0)}};
    CHECK(walk() == Seconds(1.0));
    platform.stack.picked.attention_kernels = rule.kernels;  // picked by the user, as described
    CHECK(walk() == Seconds(7.0));
    platform.stack.picked.attention_kernels = {};
    platform.mode = CostMode::roofline;
    CHECK(walk() == Seconds(7.0));
    platform.mode = CostMode::calibrated;
    platform.device.calibration->attention_walk.reset();
    CHECK(walk() == Seconds(7.0));
}

TEST_CASE("chunk laws price scans of several kernels by a delta rule alone, on one multiprocessor at least") {
    Platform platform = small_platform(CostMode::calibrated);
    platform.stack.engine = "vllm";
    ChunkScanLaw law;
    law.family = "vllm";
    law.startup = Seconds(1.0);
    law.per_head = Seconds(8.0);
    platform.device.calibration->chunk_scans = {law};
    const auto priced = [&](double launches, bool delta_rule) {
        Operation scan = of(OperationKind::scan, launches);
        scan.delta_rule = delta_rule;
        scan.items.per_sequence = 2.0;
        return price_kernel(scan, bf16(), platform);
    };
    CHECK_FALSE(priced(1.0, true).measured);
    CHECK(priced(2.0, true).measured);
    CHECK_FALSE(priced(2.0, false).measured);
    CHECK(std::get<ChunkChain>(priced(2.0, true).rates.rule).per_token == Seconds(4.0));
    for (const double multiprocessors : {0.0, 1.0}) {
        platform.device.multiprocessors = multiprocessors;
        CHECK(std::get<ChunkChain>(priced(2.0, true).rates.rule).per_token == Seconds(16.0));
    }
}

TEST_CASE("padded rows of linear layers are those of one generation; other laws keep what they were measured to cost") {
    Device measured = small_platform(CostMode::roofline).device, other = measured;
    measured.compute_capability = 9.0;
    other.compute_capability = 10.0;
    CalibratedKernel gemm{KernelClass::gemm, NumberFormat::bf16, KernelLaw{}};
    gemm.law.padding = 3.0;
    gemm.law.row_tile = 128.0;
    CHECK(carried(gemm, measured, other).padding == 1.0);
    other.compute_capability = 9.1;
    CHECK(carried(gemm, measured, other).padding == 3.0);
    CalibratedKernel experts = gemm;
    experts.kernel = KernelClass::experts;
    other.compute_capability = 10.0;
    CHECK(carried(experts, measured, other).padding == 3.0);
    CHECK(carried(experts, measured, other).row_tile == 128.0);
    gemm.law.per_head = Seconds(8.0);
    measured.multiprocessors = 0.0;  // not known
    CHECK(carried(gemm, measured, other).per_head == Seconds(8.0));
}

TEST_CASE("a law is left out beside a wider format of its own kernel that streams and computes more, and the source says so") {
    Device measured = small_platform(CostMode::calibrated).device;
    Device other = measured;
    measured.name = "one";
    measured.calibration->source = "tables";
    measured.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(2000.0);
    const auto shares = [](double of_both) {
        KernelLaw law;
        law.bandwidth_share = law.peak_share = of_both;
        return law;
    };
    const auto carried_from = [&](std::vector<CalibratedKernel> kernels) {
        measured.calibration->kernels = std::move(kernels);
        return transferred_laws(measured, other);
    };
    // Two families of one format, and two kernels, however slow one of them is.
    CHECK(carried_from({{KernelClass::gemm, NumberFormat::bf16, shares(0.9), "a"},
                        {KernelClass::gemm, NumberFormat::bf16, shares(0.1), "b"},
                        {KernelClass::scan, NumberFormat::fp32, shares(1.0)}})
              .kernels.size() == 3);
    const Calibration left = carried_from({{KernelClass::gemm, NumberFormat::fp8, shares(0.1)},
                                           {KernelClass::gemm, NumberFormat::bf16, shares(0.9)},
                                           {KernelClass::experts, NumberFormat::fp8, shares(0.1), "triton"},
                                           {KernelClass::experts, NumberFormat::bf16, shares(0.9), "triton"}});
    CHECK(left.kernels.size() == 2);
    CHECK_THAT(left.source,
               Catch::StartsWith("as on one, as shares of the data sheet (tables); left out, as slower than in a wider format: "
                                 "gemm in fp8, experts in fp8 (triton). Carried over so"));
    CHECK_THAT(carried_from({}).source, Catch::StartsWith("as on one, as shares of the data sheet (tables). Carried over so"));
}

TEST_CASE(
    "laws of verification are carried over as they are, those of chunk kernels not between devices of unknown generations") {
    Device measured = small_platform(CostMode::calibrated).device, other = measured;
    measured.calibration->chunk_scans.resize(1);
    measured.calibration->recurrent_verification.resize(2);
    CHECK(transferred_laws(measured, other).recurrent_verification.size() == 2);
    CHECK(transferred_laws(measured, other).chunk_scans.empty());
    measured.compute_capability = other.compute_capability = 8.9;
    CHECK(transferred_laws(measured, other).chunk_scans.size() == 1);
}

}  // namespace measured_pricing_test
