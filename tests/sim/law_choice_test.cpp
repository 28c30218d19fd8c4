// Which law prices an operation: that of our own kernels, the engine's family, or the one that stands in.
#include <catch2/catch.hpp>

#include "sim/law_choice.h"

namespace law_choice_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

/// A law that is known by its startup.
CalibratedKernel law_of(KernelClass kernel, NumberFormat format, double startup, const char* family = "") {
    KernelLaw law;
    law.startup = Seconds(startup);
    return {kernel, format, law, family};
}

Platform platform_with(std::vector<CalibratedKernel> kernels) {
    Platform platform;
    platform.mode = CostMode::calibrated;
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp32)] = FlopsPerSecond(1.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::bf16)] = FlopsPerSecond(1.0);
    platform.device.calibration = Calibration{"device", "", "measured", std::move(kernels)};
    platform.stack.kernels.runs_treeline_kernels = false;
    return platform;
}

/// The startup of the law; 0 where there is none.
double startup_of(const Operation& operation, const Platform& platform,
                  const Precision& precision = uniform_precision(NumberFormat::bf16)) {
    const KernelLaw* law = law_that_prices(operation, precision, platform);
    return law == nullptr ? 0.0 : law->startup.value();
}

Operation of(OperationKind kind) {
    Operation operation;
    operation.name = "layer: x";
    operation.kind = kind;
    operation.math = NumberFormat::bf16;
    return operation;
}

}  // namespace

TEST_CASE("our own kernels have families: scans in chunks, of delta rules, by channels") {
    Operation scan = of(OperationKind::scan);
    scan.items.per_sequence = 4.0;
    CHECK(own_family(scan) == "treeline");
    scan.launches = 2.0;
    CHECK(own_family(scan) == "treeline, chunks");
    scan.launches = 1.0;
    scan.delta_rule = true;
    CHECK(own_family(scan) == "treeline, delta rule");
    scan.delta_rule = false;
    scan.items.per_sequence = 0.0;
    CHECK(own_family(scan) == "treeline, channels");
    CHECK(own_family(of(OperationKind::linear)) == "treeline");
}

TEST_CASE("our own law of a kernel is that of this kernel and our own family") {
    const Calibration calibration{"device",
                                  "",
                                  "measured",
                                  {law_of(KernelClass::gemm, NumberFormat::bf16, 1.0, "vllm"),
                                   law_of(KernelClass::attention, NumberFormat::bf16, 2.0, "treeline"),
                                   law_of(KernelClass::gemm, NumberFormat::bf16, 3.0, "treeline")}};
    CHECK(calibration.own_law(KernelClass::attention, NumberFormat::bf16) == &calibration.kernels[1].law);
    CHECK(calibration.own_law(KernelClass::gemm, NumberFormat::bf16) == &calibration.kernels[2].law);
    CHECK(calibration.own_law(KernelClass::scan, NumberFormat::fp32) == nullptr);
}

TEST_CASE("our own law prices where the platform runs our kernels, in this family first") {
    using enum KernelClass;
    Platform platform = platform_with({law_of(scan, NumberFormat::bf16, 1.0), law_of(scan, NumberFormat::bf16, 2.0, "treeline"),
                                       law_of(scan, NumberFormat::bf16, 3.0, "treeline, chunks")});
    Operation scan_in_chunks = of(OperationKind::scan);
    scan_in_chunks.launches = 5.0;
    CHECK(startup_of(scan_in_chunks, platform) == 1.0);
    platform.stack.kernels.runs_treeline_kernels = true;
    CHECK(startup_of(scan_in_chunks, platform) == 3.0);
    scan_in_chunks.launches = 1.0;
    scan_in_chunks.items.per_sequence = 4.0;
    CHECK(startup_of(scan_in_chunks, platform) == 2.0);
    scan_in_chunks.launches = 0.0;  // nothing runs
    CHECK(startup_of(scan_in_chunks, platform) == 0.0);
    scan_in_chunks.launches = 1.0;
    platform.mode = CostMode::roofline;
    CHECK(startup_of(scan_in_chunks, platform) == 0.0);
}

TEST_CASE("products: fp8 in blocks by the engine's family or another one's, fp4 by the law of fp8") {
    using enum KernelClass;
    Platform platform = platform_with({law_of(gemm, NumberFormat::bf16, 1.0), law_of(gemm, NumberFormat::fp8, 2.0),
                                       law_of(gemm, NumberFormat::fp8, 3.0, "sglang, block-scaled"),
                                       law_of(gemm, NumberFormat::fp8, 4.0, "vllm, block-scaled")});
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(1.0);
    Operation layer = of(OperationKind::linear);
    CHECK(startup_of(layer, platform) == 1.0);
    layer.math = NumberFormat::fp8;
    CHECK(startup_of(layer, platform, checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16)) == 2.0);
    const Precision blocks = block_fp8_precision(NumberFormat::bf16);
    CHECK(startup_of(layer, platform, blocks) == 3.0);  // of another engine
    platform.stack.kernels.collectives = "vllm";
    CHECK(startup_of(layer, platform, blocks) == 4.0);
    platform.stack.kernels.collectives = "sglang";
    CHECK(startup_of(layer, platform, blocks) == 3.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(1.0);
    layer.math = NumberFormat::fp4;
    CHECK(startup_of(layer, platform, checkpoint_precision(NumberFormat::fp4, NumberFormat::bf16)) == 2.0);
}

TEST_CASE("experts: Marlin's where 4 bits are unpacked, else Triton's, TensorRT-LLM's or CUTLASS's in the stored format") {
    using enum KernelClass;
    const Precision int4 = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    Precision fp4 = checkpoint_precision(NumberFormat::fp4, NumberFormat::bf16);
    Platform platform =
        platform_with({law_of(gemm, NumberFormat::bf16, 1.0), law_of(KernelClass::experts, NumberFormat::bf16, 2.0, "cutlass"),
                       law_of(KernelClass::experts, NumberFormat::bf16, 3.0, "trtllm"),
                       law_of(KernelClass::experts, NumberFormat::int4, 4.0, "marlin")});
    const Operation routed = of(OperationKind::experts);
    CHECK(startup_of(routed, platform) == 3.0);
    CHECK(startup_of(routed, platform, int4) == 4.0);
    CHECK(startup_of(routed, platform, fp4) == 4.0);  // no units for fp4
    platform.device.calibration->kernels.push_back(law_of(KernelClass::experts, NumberFormat::fp4, 5.0, "marlin"));
    CHECK(startup_of(routed, platform, fp4) == 5.0);
    CHECK(startup_of(routed, platform, int4) == 4.0);
    platform.device.calibration->kernels.push_back(law_of(KernelClass::experts, NumberFormat::bf16, 6.0, "triton"));
    CHECK(startup_of(routed, platform) == 6.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(1.0);
    CHECK(startup_of(routed, platform, fp4) == 1.0);  // kernels for fp4 units were not measured
}

TEST_CASE("attention: prompts by the width of their heads, decoding by whether heads share a cache") {
    using enum KernelClass;
    const Platform platform = platform_with(
        {law_of(attention, NumberFormat::bf16, 1.0), law_of(attention_ungrouped, NumberFormat::bf16, 2.0),
         law_of(prompt_attention, NumberFormat::bf16, 3.0, "128"), law_of(prompt_attention, NumberFormat::bf16, 4.0, "64")});
    Operation operation = of(OperationKind::attention);
    CHECK(startup_of(operation, platform) == 1.0);
    operation.shares_cache = false;
    CHECK(startup_of(operation, platform) == 2.0);
    operation.kernel = prompt_attention;
    operation.head_dim = 64.0;
    CHECK(startup_of(operation, platform) == 4.0);
    operation.head_dim = 65.0;
    CHECK(startup_of(operation, platform) == 3.0);
}

}  // namespace law_choice_test
