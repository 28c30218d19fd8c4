// Does the law of prompts of delta rules follow its definition, does it price them, and where does it carry over to?
#include <catch2/catch.hpp>

#include <cmath>

#include "operation_time.h"
#include "setups.h"
#include "sim/chunk_scan.h"
#include "sim/kernel_pricing.h"
#include "sim/law_transfer.h"

namespace chunk_scan_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

ChunkScanLaw example(double overlap = 0.0) {
    ChunkScanLaw law;
    law.family = "vllm";
    law.startup = Seconds(10.0);
    law.per_token = Seconds(3.0);
    law.per_head = Seconds(2.0);
    law.traffic = 0.5;
    law.overlap = overlap;
    return law;
}

const ChunkScanDevice small_one{BytesPerSecond(1.0), 4.0, Bytes(100.0)};

double seconds(const ChunkScanLaw& law, double sequences, double tokens, double heads, double bytes) {
    return time_of(law, {sequences, tokens, heads, Bytes(bytes)}, small_one).value();
}

/// The prompt scan of a layer with two value heads of 4 x 4, on a device with this law.
Operation prompt_scan(bool by_channel) {
    GatedDelta layer;
    layer.key_heads = layer.value_heads = 2;
    layer.key_dim = layer.value_dim = 4;
    layer.decay_rank = by_channel ? 4 : 0;
    LayerContext context;
    context.pass = PassKind::prefill;
    std::vector<Operation> operations;
    append(layer, context, operations);
    return *std::find_if(operations.begin(), operations.end(),
                         [](const Operation& operation) { return operation.kind == OperationKind::scan; });
}

Platform small_platform() {
    Platform platform;
    platform.mode = CostMode::calibrated;
    platform.device.bandwidth = BytesPerSecond(1.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp32)] = FlopsPerSecond(100.0);
    platform.device.multiprocessors = 4.0;
    platform.device.cache = Bytes(100.0);
    platform.device.calibration.emplace();
    platform.device.calibration->chunk_scans = {example(0.5)};
    platform.stack.engine = "vllm@0.24";
    platform.stack.kernels.runs_treeline_kernels = false;
    return platform;
}

}  // namespace

TEST_CASE("a prompt of a delta rule takes the steps of its chunks or the work of its heads") {
    // Steps 3·8 = 24; work 2·8·heads/4.
    CHECK(seconds(example(), 1.0, 8.0, 2.0, 0.0) == Approx(10.0 + 24.0));
    CHECK(seconds(example(), 1.0, 8.0, 8.0, 0.0) == Approx(10.0 + 32.0));
    CHECK(seconds(example(), 4.0, 8.0, 2.0, 0.0) == Approx(10.0 + 32.0));
    // 140 B, of which 100 are found in the cache, at half a second each: 20 beside the work of 32; half of the steps shows.
    CHECK(seconds(example(), 1.0, 8.0, 8.0, 140.0) == Approx(10.0 + 52.0));
    CHECK(seconds(example(0.5), 1.0, 8.0, 8.0, 140.0) == Approx(10.0 + 52.0 + 12.0));
}

TEST_CASE("chunk kernels of delta rules are priced by the engine's law for the rule") {
    Platform platform = small_platform();
    const Operation scan = prompt_scan(false);
    const auto priced = [&](const Operation& operation) {
        return price_kernel(operation, uniform_precision(NumberFormat::bf16), platform);
    };
    const PricedKernel by_law = priced(scan);
    CHECK(by_law.measured);
    for (const PassShape& shape : {PassShape{1.0, 64.0, 0.0, 1.0}, PassShape{3.0, 16.0, 0.0, 1.0}}) {
        const Bytes moved = bytes_of<false, false>(scan, terms_of(shape));
        const ChunkScan same{shape.sequences, shape.tokens, 2.0, moved};
        const ChunkScanDevice device{platform.device.bandwidth, platform.device.multiprocessors, platform.device.cache};
        REQUIRE(moved > device.cache);
        CHECK(testing::time_of(scan, by_law.rates, shape).value() == Approx(time_of(example(0.5), same, device).value()));
    }
    CHECK(!priced(prompt_scan(true)).measured);  // the law is of decays for each head
    platform.device.calibration->chunk_scans.front().by_channel = true;
    CHECK(priced(prompt_scan(true)).measured);
    CHECK(!priced(scan).measured);
    platform.device.calibration->chunk_scans = {example()};
    platform.stack.engine = "sglang";
    CHECK(!priced(scan).measured);
    platform.stack.engine = "vllm";
    platform.mode = CostMode::roofline;
    CHECK(!priced(scan).measured);
}

TEST_CASE("laws of chunk kernels carry over where engines run the same ones") {
    Device measured = small_platform().device;
    measured.compute_capability = 9.0;
    Device other;
    for (const auto& [capability, carries] : {std::pair{9.0, true}, {10.0, true}, {8.9, false}, {12.0, false}, {0.0, false}}) {
        other.compute_capability = capability;
        CHECK(transferred_laws(measured, other).chunk_scans.empty() != carries);
    }
    CHECK(device("h200").calibration->chunk_scan_law("vllm", false) != nullptr);
    CHECK(device("a30").calibration->chunk_scan_law("vllm", false) == nullptr);
}

TEST_CASE("what is not stated of a scan is one sequence of one head on one multiprocessor") {
    ChunkScan shape;
    shape.tokens = 100.0;
    ChunkScanDevice device;
    device.bandwidth = BytesPerSecond(1.0);
    // 10 + 2·100 by heads, which are longer than no chain.
    ChunkScanLaw law;
    law.startup = Seconds(10.0);
    law.per_head = Seconds(2.0);
    CHECK(time_of(law, shape, device).value() == 210.0);
    device.multiprocessors = 0.0;  // unknown: as one
    CHECK(time_of(law, shape, device).value() == 210.0);
}

TEST_CASE("laws of chunk kernels overlap from not at all to wholly, and are given once for an engine and a rule") {
    const auto problems = [](auto change) {
        Calibration calibration;
        calibration.kernels = {{KernelClass::gemm, NumberFormat::bf16, KernelLaw{}}};
        calibration.chunk_scans = {example(), example()};
        calibration.chunk_scans.back().family = "sglang";
        change(calibration.chunk_scans.front());
        return problems_of(calibration).size();
    };
    for (const auto& [overlap, wrong] : {std::pair{0.0, 0}, {1.0, 0}, {1.01, 1}, {-0.01, 1}, {std::nan(""), 1}}) {
        CHECK(problems([&](ChunkScanLaw& law) { law.overlap = overlap; }) == static_cast<std::size_t>(wrong));
    }
    CHECK(problems([](ChunkScanLaw& law) { law.family = "sglang"; }) == 2);
    CHECK(problems([](ChunkScanLaw& law) {
              law.family = "sglang";
              law.by_channel = true;
          }) == 0);
}

}  // namespace chunk_scan_test
