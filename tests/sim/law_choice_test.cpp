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
    Platform platform = platform_with({law_of(convolution, NumberFormat::bf16, 9.0, "treeline, chunks"),
                                       law_of(scan, NumberFormat::bf16, 1.0), law_of(scan, NumberFormat::bf16, 2.0, "treeline"),
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

TEST_CASE("a law stands in for formats that were not measured, the nearest first, and for kernels that resemble its own") {
    using enum KernelClass;
    const Calibration calibration{
        "device",
        "",
        "measured",
        {law_of(gemm, NumberFormat::fp8, 1.0, "treeline"), law_of(gemm, NumberFormat::bf16, 2.0, "treeline"),
         law_of(gemm, NumberFormat::fp16, 3.0), law_of(gemm, NumberFormat::fp8, 4.0),
         law_of(prompt_attention, NumberFormat::bf16, 5.0, "128"), law_of(prompt_attention, NumberFormat::bf16, 6.0, "64"),
         law_of(scan, NumberFormat::fp32, 7.0, "treeline"), law_of(element_wise, NumberFormat::bf16, 8.0),
         law_of(sampling, NumberFormat::fp32, 9.0), law_of(attention, NumberFormat::bf16, 10.0)}};
    const auto startup = [](const KernelLaw* law) { return law == nullptr ? 0.0 : law->startup.value(); };
    const auto own = [&](KernelClass kernel, NumberFormat format) { return startup(calibration.own_law(kernel, format)); };
    const auto law = [&](KernelClass kernel, NumberFormat format, const char* family = "") {
        return startup(calibration.law(kernel, format, family));
    };
    CHECK(own(gemm, NumberFormat::bf16) == 2.0);
    CHECK(own(gemm, NumberFormat::fp16) == 2.0);
    CHECK(own(gemm, NumberFormat::fp32) == 2.0);
    CHECK(own(gemm, NumberFormat::fp8) == 1.0);
    CHECK(own(gemm, NumberFormat::int4) == 1.0);
    CHECK(law(gemm, NumberFormat::bf16) == 3.0);
    CHECK(law(gemm, NumberFormat::int8) == 4.0);
    for (const KernelClass of_states : {scan_unwritten, scan_every, tree_scan, replay}) {
        CHECK(own(of_states, NumberFormat::fp32) == 7.0);
    }
    for (const KernelClass of_elements : {norm, gated_norm, activation, rotary}) {
        CHECK(law(of_elements, NumberFormat::bf16) == 8.0);
    }
    CHECK(law(rejection, NumberFormat::fp32) == 9.0);
    CHECK(law(top_choices, NumberFormat::fp32) == 9.0);
    CHECK(law(attention_ungrouped, NumberFormat::bf16) == 10.0);
    CHECK(law(prompt_window, NumberFormat::bf16, "64") == 6.0);
    CHECK(law(prompt_window, NumberFormat::bf16, "128") == 5.0);
    CHECK(law(convolution, NumberFormat::bf16) == 0.0);
    // Heads whose width is not stated are taken as wide ones.
    CHECK(prompt_family(0.0) == "128");
    CHECK(prompt_family(64.0) == "64");
}

TEST_CASE("collectives: the measured link alone, sums by the engine's family, rows to experts by how they are sent") {
    using enum KernelClass;
    Platform platform =
        platform_with({law_of(all_reduce, NumberFormat::bf16, 1.0, "vllm"), law_of(all_reduce, NumberFormat::bf16, 2.0, "nccl"),
                       law_of(expert_dispatch, NumberFormat::bf16, 3.0, "normal"),
                       law_of(expert_dispatch, NumberFormat::bf16, 4.0, "low-latency")});
    platform.device.interconnects = {{"fast", BytesPerSecond(2.0), {}, 8.0, ""}, {"slow", BytesPerSecond(1.0), {}, 0.0, ""}};
    platform.stack.kernels.collectives = "nccl";
    Operation sum = of(OperationKind::collective);
    sum.ranks = 8.0;
    CHECK(startup_of(sum, platform) == 2.0);
    platform.stack.kernels.collectives = "vllm";
    CHECK(startup_of(sum, platform) == 1.0);
    Operation dispatch = sum;
    dispatch.kernel = expert_dispatch;
    CHECK(startup_of(dispatch, platform) == 4.0);
    dispatch.exchanged_rows_are_merged = true;
    CHECK(startup_of(dispatch, platform) == 3.0);
    sum.ranks = 9.0;  // over the slow link
    CHECK(startup_of(sum, platform) == 0.0);
    sum.ranks = 1.0;  // between nobody
    CHECK(startup_of(sum, platform) == 0.0);
    Operation gather = sum;
    gather.ranks = 8.0;
    gather.kernel = all_gather;
    CHECK(startup_of(gather, platform) == 0.0);
}

TEST_CASE(
    "products in fp8 with scales of blocks are those of block-scaled laws of linear layers, the engine's own wherever it is") {
    using enum KernelClass;
    Platform platform =
        platform_with({law_of(KernelClass::experts, NumberFormat::fp8, 1.0, "vllm, block-scaled"),
                       law_of(gemm, NumberFormat::fp8, 2.0), law_of(gemm, NumberFormat::fp8, 3.0, "trtllm, block-scaled"),
                       law_of(gemm, NumberFormat::fp8, 4.0, "vllm, block-scaled"),
                       law_of(gemm, NumberFormat::fp8, 5.0, "sglang, block-scaled"), law_of(gemm, NumberFormat::bf16, 6.0)});
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(1.0);
    Operation layer = of(OperationKind::linear);
    layer.math = NumberFormat::fp8;
    const Precision blocks = block_fp8_precision(NumberFormat::bf16);
    for (const auto& [engine, startup] : {std::pair{"vllm", 4.0}, {"sglang", 5.0}, {"trtllm", 3.0}, {"none", 3.0}}) {
        platform.stack.kernels.collectives = engine;
        CHECK(startup_of(layer, platform, blocks) == startup);
    }
    // Groups of int8 weights are none, nor is a layer that is computed in 16 bits.
    Precision int8 = blocks;
    int8.weights.format = NumberFormat::int8;
    CHECK(startup_of(layer, platform, int8) == 2.0);
    layer.math = NumberFormat::bf16;
    CHECK(startup_of(layer, platform, blocks) == 6.0);
    // One scale for all of a tensor: no blocks.
    layer.math = NumberFormat::fp8;
    CHECK(startup_of(layer, platform, checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16)) == 2.0);
}

TEST_CASE(
    "experts of 8 bits: kernels for one scale a tensor are others than for scales of blocks; Marlin's are of the stored "
    "format") {
    using enum KernelClass;
    const Precision blocks = block_fp8_precision(NumberFormat::bf16),
                    tensor = checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16),
                    int4 = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    Platform platform = platform_with({law_of(KernelClass::experts, NumberFormat::fp8, 1.0, "cutlass"),
                                       law_of(KernelClass::experts, NumberFormat::fp8, 2.0, "cutlass, per tensor"),
                                       law_of(KernelClass::experts, NumberFormat::bf16, 3.0, "cutlass"),
                                       law_of(KernelClass::experts, NumberFormat::bf16, 4.0, "other"),
                                       law_of(gemm, NumberFormat::int4, 5.0, "marlin"), law_of(gemm, NumberFormat::fp8, 6.0),
                                       law_of(KernelClass::experts, NumberFormat::int8, 7.0, "marlin"),
                                       law_of(KernelClass::experts, NumberFormat::int4, 8.0, "marlin"),
                                       law_of(KernelClass::experts, NumberFormat::fp4, 9.0, "marlin"),
                                       law_of(KernelClass::experts, NumberFormat::int4, 10.0, "marlin")});
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(1.0);
    const Operation routed = of(OperationKind::experts);
    CHECK(startup_of(routed, platform, blocks) == 1.0);
    CHECK(startup_of(routed, platform, tensor) == 2.0);
    CHECK(startup_of(routed, platform) == 3.0);
    auto& kernels = platform.device.calibration->kernels;
    kernels.push_back(law_of(KernelClass::experts, NumberFormat::fp8, 11.0, "trtllm"));
    kernels.push_back(law_of(KernelClass::experts, NumberFormat::fp8, 12.0, "trtllm, per tensor"));
    CHECK(startup_of(routed, platform, blocks) == 11.0);
    CHECK(startup_of(routed, platform, tensor) == 12.0);
    Precision fp4 = int4;
    fp4.experts = Storage{NumberFormat::fp4};
    CHECK(startup_of(routed, platform, fp4) == 9.0);
    kernels.erase(kernels.begin() + 8);
    CHECK(startup_of(routed, platform, fp4) == 8.0);  // int4 stands in, the first of them
    // On units for fp4 the law of linear layers, of fp8 for what is computed in fp4.
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(1.0);
    Operation computed = routed;
    computed.math = NumberFormat::fp4;
    kernels.insert(kernels.begin(), law_of(gemm, NumberFormat::fp4, 13.0));
    CHECK(startup_of(computed, platform, fp4) == 6.0);
}

TEST_CASE(
    "an operation has a law by its kind, of the format that it moves; without a calibration or measured prices none has") {
    using enum KernelClass;
    Platform platform = platform_with(
        {law_of(scan, NumberFormat::fp32, 1.0), law_of(scan, NumberFormat::bf16, 2.0),
         law_of(convolution, NumberFormat::bf16, 3.0), law_of(element_wise, NumberFormat::bf16, 4.0),
         law_of(norm, NumberFormat::bf16, 5.0), law_of(sampling, NumberFormat::fp32, 6.0),
         law_of(attention, NumberFormat::fp8, 7.0), law_of(attention, NumberFormat::bf16, 8.0),
         law_of(latent_prompt, NumberFormat::bf16, 9.0, "64"), law_of(latent_prompt, NumberFormat::bf16, 10.0, "128")});
    Precision precision = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    const auto startup = [&](const Operation& operation) { return startup_of(operation, platform, precision); };
    CHECK(startup(of(OperationKind::scan)) == 1.0);
    precision.state = Storage{NumberFormat::bf16};
    CHECK(startup(of(OperationKind::scan)) == 2.0);
    CHECK(startup(of(OperationKind::convolution)) == 3.0);
    CHECK(startup(of(OperationKind::element_wise)) == 4.0);
    Operation of_norm = of(OperationKind::element_wise);
    of_norm.kernel = norm;
    CHECK(startup(of_norm) == 5.0);
    CHECK(startup(of(OperationKind::logits)) == 6.0);
    Operation scores = of(OperationKind::attention);
    CHECK(startup(scores) == 8.0);
    precision.kv_cache = Storage{NumberFormat::fp8};
    CHECK(startup(scores) == 7.0);
    scores.kernel = latent_prompt;
    scores.head_dim = 192.0;
    CHECK(startup(scores) == 10.0);
    scores.absorbed = true;
    CHECK(startup(scores) == 0.0);
    platform.mode = CostMode::roofline;
    CHECK(startup(of(OperationKind::scan)) == 0.0);
    platform.mode = CostMode::calibrated;
    platform.device.calibration.reset();
    CHECK(startup(of(OperationKind::scan)) == 0.0);
}

}  // namespace law_choice_test
