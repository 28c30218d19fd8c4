// Is a kernel priced as docs/cost-model.md, section 2, says? The device has 100 B/s, 1000 FLOP/s in bf16 and 100 in fp32.
#include <catch2/catch.hpp>

#include "operation_time.h"
#include "sim/kernel_pricing.h"

namespace kernel_pricing_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

Platform small_platform() {
    Platform platform;
    platform.device.name = "small";
    platform.device.bandwidth = BytesPerSecond(100.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp32)] = FlopsPerSecond(100.0);
    platform.device.peak[static_cast<std::size_t>(NumberFormat::bf16)] = FlopsPerSecond(1000.0);
    return platform;
}

Operation of(OperationKind kind) {
    Operation operation;
    operation.name = "layer: x";
    operation.kind = kind;
    operation.math = NumberFormat::bf16;
    return operation;
}

/// 10 FLOPs a row, 30 bytes of weights.
Operation linear_layer() {
    Operation layer = of(OperationKind::linear);
    layer.flops.per_token = Flops(10.0);
    layer.bytes.fixed = Bytes(30.0);
    return layer;
}

const Precision bf16 = uniform_precision(NumberFormat::bf16);

Rates rates_of(const Operation& operation, const Platform& platform, const Precision& precision = bf16) {
    return price_kernel(operation, precision, platform).rates;
}

/// Of a linear layer or of experts, in rows.
double time_of(const Operation& operation, const Platform& platform, double rows, const Precision& precision) {
    const Rates rates = rates_of(operation, platform, precision);
    const bool by_rows = std::holds_alternative<RowCosts>(rates.rule);
    REQUIRE((by_rows || (operation.expert_count == 0.0 && std::holds_alternative<NoRows>(rates.rule))));
    return testing::time_of(operation, rates, {rows}).value();
}

}  // namespace

TEST_CASE("shares of the data sheet that a stack's kernels reach") {
    Platform platform = small_platform();
    Stack& stack = platform.stack;
    stack.kernels.memory_efficiency = 0.5;
    stack.kernels.compute_efficiency = 0.25;
    stack.kernels.scan_efficiency = 0.125;
    stack.kernels.attention_efficiency = 0.5;
    stack.kernels.unhidden = 0.5;
    stack.kernels.kernel_startup = Seconds(3.0);
    const Rates linear = rates_of(linear_layer(), platform);
    CHECK(linear.per_byte == SecondsPerByte(1.0 / 50));
    CHECK(linear.per_flop == SecondsPerFlop(1.0 / 250));
    CHECK(linear.overlap == 0.5);
    CHECK(linear.startup == Seconds(3 / 1.5));
    CHECK_FALSE(price_kernel(linear_layer(), bf16, platform).measured);
    Operation scan = of(OperationKind::scan);
    scan.math = NumberFormat::fp32;
    CHECK(rates_of(scan, platform).per_flop == SecondsPerFlop(1.0 / 12.5));
    scan.sequential = true;
    CHECK(rates_of(scan, platform).overlap == 1.0);
    CHECK(rates_of(scan, platform).startup == Seconds(1.5));
    scan.sequential = false;
    scan.launches = 5.0;  // kernels one after the other
    CHECK(rates_of(scan, platform).overlap == 1.0);
    CHECK(rates_of(scan, platform).startup == Seconds(7.5));
    CHECK(rates_of(scan, platform).per_flop == SecondsPerFlop(1.0 / 100));
    Operation norm = of(OperationKind::element_wise);
    norm.math = NumberFormat::fp32;
    CHECK(rates_of(norm, platform).per_flop == SecondsPerFlop(1.0 / 100));
    Operation attention = of(OperationKind::attention);
    CHECK(rates_of(attention, platform).per_flop == SecondsPerFlop(1.0 / 125));
    stack.kernels.vector_attention = 0.5;
    CHECK(rates_of(attention, platform).per_flop == SecondsPerFlop(1.0 / 50));
    attention.kernel = KernelClass::prompt_attention;
    CHECK(rates_of(attention, platform).per_flop == SecondsPerFlop(1.0 / 125));
    attention.kernel = KernelClass::prompt_window;
    CHECK(rates_of(attention, platform).per_flop == SecondsPerFlop(1.0 / 125));
    attention.kernel = KernelClass::latent_prompt;
    CHECK(rates_of(attention, platform).per_flop == SecondsPerFlop(1.0 / 125));
    stack.kernels.metal_memory_efficiency = 0.25;
    CHECK(rates_of(norm, platform).per_byte == SecondsPerByte(1.0 / 50));
    platform.device.metal = true;
    CHECK(rates_of(norm, platform).per_byte == SecondsPerByte(1.0 / 25));
}

TEST_CASE("how fast an engine runs its linear layers and experts") {
    Platform platform = small_platform();
    platform.stack.kernels.linear_speed[static_cast<std::size_t>(NumberFormat::bf16)] = {0.5, 2.0};
    platform.stack.kernels.expert_speed = 4.0;
    CHECK(rates_of(linear_layer(), platform).per_byte == SecondsPerByte(1.0 / 50));
    CHECK(rates_of(linear_layer(), platform).per_flop == SecondsPerFlop(1.0 / 2000));
    CHECK(rates_of(of(OperationKind::experts), platform).per_byte == SecondsPerByte(1.0 / 400));
    CHECK(rates_of(of(OperationKind::experts), platform).per_flop == SecondsPerFlop(1.0 / 4000));
    CHECK(rates_of(of(OperationKind::attention), platform).per_byte == SecondsPerByte(1.0 / 100));
}

TEST_CASE("collectives over a link: its latency and bandwidth, a half of both for a gathering") {
    Platform platform = small_platform();
    platform.device.interconnects = {{"fast", BytesPerSecond(10.0), Seconds(4.0), 8.0, ""},
                                     {"slow", BytesPerSecond(2.0), Seconds(6.0), 0.0, ""}};
    Operation sum = of(OperationKind::collective);
    sum.ranks = 4.0;
    CHECK(rates_of(sum, platform).startup == Seconds(4.0));
    CHECK(rates_of(sum, platform).per_byte == SecondsPerByte(0.1));
    CHECK(std::holds_alternative<NoRows>(rates_of(sum, platform).rule));
    Operation gather = sum;
    gather.kernel = KernelClass::all_gather;
    CHECK(rates_of(gather, platform).startup == Seconds(2.0));
    // Of rows that 16 ranks exchange, half stay within the eight that the fast link joins.
    Operation exchange = sum;
    exchange.kernel = KernelClass::expert_dispatch;
    exchange.ranks = 16.0;
    CHECK(rates_of(exchange, platform).per_byte == SecondsPerByte(0.5 * 0.5));
    exchange.kernel = KernelClass::expert_combine;
    CHECK(rates_of(exchange, platform).per_byte == SecondsPerByte(0.5 * 0.5));
    exchange.ranks = 8.0;
    CHECK(rates_of(exchange, platform).per_byte == SecondsPerByte(0.1));
    sum.ranks = 16.0;
    CHECK(rates_of(sum, platform).per_byte == SecondsPerByte(0.5));
    platform.device.interconnects.front().domain = 0.0;
    platform.interconnect = "slow";
    exchange.ranks = 16.0;
    CHECK(rates_of(exchange, platform).per_byte == SecondsPerByte(0.5));  // the fast one may join any number
}

TEST_CASE("all-reduces as a library was measured, and an engine's own up to their limit") {
    Platform platform = small_platform();
    Interconnect link{"link", BytesPerSecond(10.0), Seconds(4.0), 0.0, ""};
    link.all_reduce = {Seconds(1.0), Seconds(9.0), BytesPerSecond(5.0), BytesPerSecond(20.0)};
    link.gather = {Seconds(2.0), Seconds(8.0), BytesPerSecond(4.0), BytesPerSecond(10.0)};
    platform.device.interconnects = {link};
    Operation sum = of(OperationKind::collective);
    sum.ranks = 4.0;
    const auto time = [&](const Operation& operation, double bytes) {
        const Rates rates = rates_of(operation, platform);
        REQUIRE(std::holds_alternative<CollectiveLines>(rates.rule));
        return time_of_lines(std::get<CollectiveLines>(rates.rule), Bytes(bytes)).value();
    };
    CHECK(time(sum, 10.0) == Approx(1 + 2.0));
    CHECK(time(sum, 100.0) == Approx(9 + 5.0));
    Operation gather = sum;
    gather.kernel = KernelClass::all_gather;
    CHECK(time(gather, 4.0) == Approx(2 + 1.0));
    CHECK(time(gather, 100.0) == Approx(8 + 10.0));
    OwnAllReduce& own = platform.device.interconnects.front().own;
    own.latency = Seconds(0.5);
    own.bandwidth = BytesPerSecond(20.0);
    own.limit = Bytes(40.0);
    // 40 bytes are a ring's 60; one step moves (t − 1)/(2(t − 1)/t) = 2 times a ring's bytes.
    CHECK(time(sum, 60.0) == Approx(0.5 + 2 * 60.0 / 20));
    CHECK(time(sum, 61.0) == Approx(9 + 61.0 / 20));
    CHECK(time(gather, 4.0) == Approx(2 + 1.0));  // not of a gathering
    own.two_step_latency = Seconds(3.0);
    own.two_step_bandwidth = BytesPerSecond(40.0);
    CHECK(time(sum, 60.0) == Approx(6.5));
    CHECK(time(sum, 80.0) == Approx(3 + 2.0));
    Operation scattered = sum;
    scattered.launches = 2.0;
    CHECK(std::holds_alternative<NoRows>(rates_of(scattered, platform).rule));
    platform.device.interconnects.front().all_reduce = {};
    own.two_step_bandwidth = BytesPerSecond(0.0);
    CHECK(time(sum, 61.0) == Approx(4 + 6.1));  // the link's own latency and bandwidth
    own.limit = Bytes(0.0);
    CHECK(std::holds_alternative<NoRows>(rates_of(sum, platform).rule));
}

TEST_CASE("experts that are read once for each row, up to so many") {
    Platform platform = small_platform();
    platform.stack.kernels.row_curves = {{.of = CurveProducts::experts, .few_rows = 4.0, .reads_per_row = 1.0, .hides = true}};
    platform.stack.kernels.kernel_startup = Seconds(2.0);
    Operation experts = of(OperationKind::experts);
    experts.expert_count = experts.expert_rows = 1.0;
    experts.log_miss = experts.log_miss_hot = -1e3;  // a single one
    experts.bytes.per_expert = Bytes(50.0);
    experts.flops.per_token = Flops(100.0);
    // Reading takes 0.5 s, a row 0.1: a row costs five, and from four on further ones nothing until 20.
    CHECK(time_of(experts, platform, 1.0, bf16) == Approx(2 + 0.5));
    CHECK(time_of(experts, platform, 3.0, bf16) == Approx(2 + 1.5));
    CHECK(time_of(experts, platform, 4.0, bf16) == Approx(2 + 2.0));
    CHECK(time_of(experts, platform, 20.0, bf16) == Approx(2 + 2.0));
    CHECK(time_of(experts, platform, 25.0, bf16) == Approx(2 + 2.5));
}

TEST_CASE("quantised weights on Metal are read for each of few rows") {
    Platform platform = small_platform();
    platform.device.metal = true;
    platform.stack.kernels.row_curves = {{.weights = CurveWeights::narrow,
                                          .devices = CurveDevices::metal,
                                          .few_rows = 4.0,
                                          .reads_per_row = 0.5,
                                          .hides = true}};
    platform.stack.kernels.kernel_startup = Seconds(2.0);
    const Precision int8 = checkpoint_precision(NumberFormat::int8, NumberFormat::bf16);
    const Operation layer = linear_layer();
    // Reading takes 0.3 s, a row 0.01: a row costs half a reading, 15.
    CHECK(time_of(layer, platform, 2.0, int8) == Approx(2 + 0.3));
    CHECK(time_of(layer, platform, 4.0, int8) == Approx(2 + 0.6));
    CHECK(time_of(layer, platform, 60.0, int8) == Approx(2 + 0.6));
    CHECK(time_of(layer, platform, 80.0, int8) == Approx(2 + 0.8));
    CHECK(time_of(layer, platform, 4.0, bf16) == Approx(2 + 0.3));  // wide ones once
    platform.device.metal = false;
    CHECK(time_of(layer, platform, 4.0, int8) == Approx(2 + 0.3));
}

TEST_CASE("weights that are unpacked: single rows, then whole tiles, at the speed of vector units") {
    Platform platform = small_platform();
    platform.stack.kernels.row_curves = {
        {.weights = CurveWeights::unpacked, .few_rows = 2.0, .tile = 8.0, .speed = 2.0, .hides = true}};  // 200 FLOP/s
    platform.stack.kernels.kernel_startup = Seconds(1.0);
    const Precision int4 = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    const Operation layer = linear_layer();
    CHECK(time_of(layer, platform, 2.0, int4) == Approx(1 + 0.3));  // 0.1 of computing behind 0.3 of reading
    CHECK(time_of(layer, platform, 3.0, int4) == Approx(1 + 0.4));  // eight rows
    CHECK(time_of(layer, platform, 8.0, int4) == Approx(1 + 0.4));
    CHECK(time_of(layer, platform, 16.0, int4) == Approx(1 + 0.8));
    CHECK(time_of(layer, platform, 16.0, bf16) == Approx(1 + 0.3));
    platform.stack.kernels.row_curves.front().speed = 100.0;  // no faster than matrix units
    CHECK(time_of(layer, platform, 80.0, int4) == Approx(1 + 0.8));
}

TEST_CASE("few rows on vector units, and whole tiles on matrix units") {
    Platform platform = small_platform();
    platform.stack.kernels.row_curves = {{.weights = CurveWeights::narrow, .few_rows = 3.0, .few_rows_speed = 0.5}};
    platform.stack.kernels.kernel_startup = Seconds(2.0);
    const Precision int8 = checkpoint_precision(NumberFormat::int8, NumberFormat::bf16);
    const Operation layer = linear_layer();
    // 50 FLOP/s of vector units: a row takes 0.2 s, 20 of matrix units; reading, 0.3 s, comes beside it.
    CHECK(time_of(layer, platform, 1.0, int8) == Approx(2 + 0.3 + 0.2));
    CHECK(time_of(layer, platform, 3.0, int8) == Approx(2 + 0.3 + 0.6));
    CHECK(time_of(layer, platform, 60.0, int8) == Approx(2 + 0.3 + 0.6));
    CHECK(time_of(layer, platform, 70.0, int8) == Approx(2 + 0.3 + 0.7));
    CHECK(time_of(layer, platform, 70.0, bf16) == Approx(2 + 0.7));  // wide weights: no kernels of their own
    platform.stack.kernels.row_curves = {{.tile = 64.0, .matrix_tile = 16.0}};
    CHECK(time_of(layer, platform, 1.0, bf16) == Approx(2 + 0.3 + 0.01));
    CHECK(time_of(layer, platform, 2.0, bf16) == Approx(2 + 0.3 + 0.16));
    CHECK(time_of(layer, platform, 20.0, bf16) == Approx(2 + 0.3 + 0.2));
    // A tile of just as many rows as are few pads nothing: a row more is one more.
    platform.stack.kernels.row_curves = {{.few_rows = 4.0, .tile = 4.0, .matrix_tile = 4.0}};
    CHECK(time_of(layer, platform, 4.0, bf16) == Approx(2 + 0.3 + 0.04));
    CHECK(time_of(layer, platform, 5.0, bf16) == Approx(2 + 0.3 + 0.05));
    platform.stack.kernels.row_curves = {{.tile = 64.0, .matrix_tile = 16.0}};
    platform.device.peak[static_cast<std::size_t>(NumberFormat::bf16)] = FlopsPerSecond(100.0);  // no matrix units
    CHECK(time_of(layer, platform, 2.0, bf16) == Approx(2 + 0.3 + 6.4));
}

TEST_CASE("a curve of newer GPUs leaves older ones to the next") {
    Platform platform = small_platform();
    platform.device.metal = true;
    platform.stack.kernels.row_curves = {
        {.weights = CurveWeights::narrow, .least_generation = 15.0, .few_rows = 9.0, .few_rows_speed = 0.5, .hides = true},
        {.weights = CurveWeights::narrow, .few_rows = 9.0, .reads_per_row = 1.0, .hides = true}};
    platform.stack.kernels.kernel_startup = Seconds(2.0);
    const Precision int8 = checkpoint_precision(NumberFormat::int8, NumberFormat::bf16);
    const Operation layer = linear_layer();
    platform.device.gpu_generation = 15.0;
    CHECK(time_of(layer, platform, 1.0, int8) == Approx(2 + 0.3));  // 0.2 of computing behind 0.3 of reading
    CHECK(time_of(layer, platform, 4.0, int8) == Approx(2 + 0.8));
    platform.device.gpu_generation = 14.0;
    CHECK(time_of(layer, platform, 1.0, int8) == Approx(2 + 0.3));
    CHECK(time_of(layer, platform, 4.0, int8) == Approx(2 + 1.2));
    platform.device.gpu_generation = 0.0;  // not stated
    CHECK(time_of(layer, platform, 4.0, int8) == Approx(2 + 1.2));
}

TEST_CASE("weights of code books take vector units beside their reading") {
    Precision looked_up = uniform_precision(NumberFormat::int8);
    looked_up.weights.unpacking = 2.0;
    CHECK(rates_of(linear_layer(), small_platform(), looked_up).per_byte == SecondsPerByte(1.0 / 100 + 2.0 / 100));
    CHECK(rates_of(of(OperationKind::experts), small_platform(), looked_up).per_byte == SecondsPerByte(1.0 / 100));
    CHECK(rates_of(of(OperationKind::attention), small_platform(), looked_up).per_byte == SecondsPerByte(1.0 / 100));
}

TEST_CASE("kernels of experts that a user picked lose beyond few rows, of their format alone") {
    Platform platform = small_platform();
    platform.stack.picked.expert_kernels.name = "mine";
    platform.stack.picked.expert_kernels.few_rows = 8.0;
    platform.stack.picked.expert_kernels.more_readings = 3.0;
    Precision fp4 = bf16;
    fp4.experts = Storage{NumberFormat::fp4};
    CHECK(rates_of(of(OperationKind::experts), platform, fp4).few_expert_rows == 8.0);
    CHECK(rates_of(of(OperationKind::experts), platform, fp4).beyond_few_rows == SecondsPerByte(0.03));
    CHECK(rates_of(of(OperationKind::experts), platform).few_expert_rows == 0.0);
    CHECK(rates_of(linear_layer(), platform, fp4).few_expert_rows == 0.0);
    platform.stack.picked.expert_kernels.name.clear();
    CHECK(rates_of(of(OperationKind::experts), platform, fp4).few_expert_rows == 0.0);
}

TEST_CASE("attention that walks along a cache, as picked by the user or by the engine") {
    Platform platform = small_platform();
    platform.device.multiprocessors = 16.0;
    Operation attention = of(OperationKind::attention);
    attention.reads_context = true;
    attention.cache_heads = 2.0;
    attention.rows_per_token = 4.0;
    attention.head_dim = 256.0;
    AttentionKernels kernels;
    kernels.name = "walks";
    kernels.decode_walk = Seconds(0.5);
    kernels.verify_walk = Seconds(0.75);
    kernels.walk_width = 128.0;
    kernels.row_tile = 64.0;
    platform.stack.picked.attention_kernels = kernels;
    Rates rates = rates_of(attention, platform);
    CHECK(rates.per_context == Seconds(0.5));
    CHECK(rates.walk_of_several == Seconds(1.5));
    CHECK(rates.walking_blocks == 0.5);
    CHECK(rates.per_walk_rows == 1.0 / 64);
    platform.stack.picked.attention_kernels.verify_walk = Seconds(0.1);
    CHECK(rates_of(attention, platform).walk_of_several == Seconds(0.5));  // no shorter than that of one token
    platform.device.multiprocessors = 0.0;
    CHECK(rates_of(attention, platform).walking_blocks == 0.0);
    platform.stack.picked.attention_kernels = {};
    CHECK(rates_of(attention, platform).per_context == Seconds(0.0));
    VerificationRule rule;
    rule.kernels = kernels;
    platform.stack.picked.verification_rules = {rule};
    CHECK(rates_of(attention, platform).per_context == Seconds(0.5));
    attention.reads_per_token = 1.0;  // a sparse one has kernels of its own
    CHECK(rates_of(attention, platform).per_context == Seconds(0.0));
    attention.reads_per_token = 0.0;
    attention.reads_context = false;
    CHECK(rates_of(attention, platform).per_context == Seconds(0.0));
}

TEST_CASE("chains over recurrent states by the law of the engine") {
    Platform platform = small_platform();
    platform.mode = CostMode::calibrated;
    platform.device.multiprocessors = 4.0;
    platform.device.calibration.emplace();
    platform.stack.kernels.runs_treeline_kernels = false;
    platform.stack.engine = "vllm@0.24";
    RecurrentVerificationLaw law;
    law.family = "vllm";
    law.startup = Seconds(1.0);
    law.per_token = Seconds(2.0);
    law.bandwidth_share = 0.5;
    law.overlap = 0.25;
    law.per_head = Seconds(8.0);
    platform.device.recurrent_verification = {law};
    Operation scan = of(OperationKind::scan);
    scan.kernel = KernelClass::scan_every;
    scan.items.per_sequence = 2.0;
    const PricedKernel priced = price_kernel(scan, bf16, platform);
    CHECK(priced.measured);
    REQUIRE(std::holds_alternative<TokenChain>(priced.rates.rule));
    const auto least_of_sequence = [&] { return std::get<TokenChain>(rates_of(scan, platform).rule).least_of_sequence; };
    CHECK(priced.rates.startup == Seconds(1.0));
    CHECK(priced.rates.per_byte == SecondsPerByte(1.0 / 50));
    CHECK(std::get<TokenChain>(priced.rates.rule).per_new_token == Seconds(2.0));
    CHECK(priced.rates.overlap == 0.25);
    CHECK(least_of_sequence() == Seconds(4.0));
    platform.device.multiprocessors = 0.0;
    CHECK(least_of_sequence() == Seconds(16.0));
    platform.stack.picked.delta_rule_kernels = "other";
    scan.delta_rule = true;
    CHECK(std::holds_alternative<NoRows>(rates_of(scan, platform).rule));  // no law of that family
    platform.device.recurrent_verification.front().family = "other";
    CHECK(std::holds_alternative<TokenChain>(rates_of(scan, platform).rule));
    platform.device.recurrent_verification.front().convolves = true;
    CHECK(std::holds_alternative<NoRows>(rates_of(scan, platform).rule));
    platform.device.recurrent_verification.front().convolves = false;
    platform.stack.kernels.runs_treeline_kernels = true;
    CHECK(std::holds_alternative<NoRows>(rates_of(scan, platform).rule));
    platform.stack.kernels.runs_treeline_kernels = false;
    platform.mode = CostMode::roofline;
    CHECK(std::holds_alternative<NoRows>(rates_of(scan, platform).rule));
    platform.mode = CostMode::calibrated;
    scan.kernel = KernelClass::scan_unwritten;
    CHECK(std::holds_alternative<NoRows>(rates_of(scan, platform).rule));
}

TEST_CASE(
    "measured products of 8 bits start up like wide ones where their quantisation is fused; unpacked ones keep small tiles") {
    Platform platform = small_platform();
    platform.mode = CostMode::calibrated;
    platform.device.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(2000.0);
    KernelLaw narrow, wide;
    narrow.startup = Seconds(5.0);
    narrow.per_activation = Seconds(0.5);
    narrow.per_input = Seconds(0.25);
    narrow.row_tile = 256.0;
    wide.startup = Seconds(3.0);
    wide.row_tile = 128.0;
    platform.device.calibration =
        Calibration{"small",
                    "",
                    "measured",
                    {{KernelClass::gemm, NumberFormat::fp8, narrow}, {KernelClass::gemm, NumberFormat::bf16, wide}}};
    const Precision fp8 = checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16);
    Operation layer = linear_layer();
    layer.math = NumberFormat::fp8;
    layer.inputs = 4.0;
    const auto steps = [&](const Precision& precision) {
        return std::get<RowSteps>(rates_of(layer, platform, precision).rule);
    };
    CHECK(rates_of(layer, platform, fp8).startup == Seconds(6.0));
    CHECK(steps(fp8).quantised == Seconds(2.0));
    platform.stack.kernels.fused_quantisation = true;
    CHECK(rates_of(layer, platform, fp8).startup == Seconds(3.0));
    CHECK(steps(fp8).quantised == Seconds(0.0));
    const double measured_tile = steps(fp8).tile;
    platform.stack.kernels.fits_quantised_tiles = true;
    CHECK(measured_tile == 256.0);
    CHECK(steps(fp8).tile == 128.0);
    layer.math = NumberFormat::bf16;
    CHECK(steps(bf16).tile == 128.0);
    const Precision int4 = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    const RowSteps unpacked = steps(int4);
    CHECK(unpacked.tile == 16.0);
    CHECK(unpacked.least_tile == 8.0);
    CHECK(unpacked.padding == 1.0);
    CHECK(unpacked.step == Seconds(0.0));
    CHECK(unpacked.wave == 0.0);
}

TEST_CASE("vector units that are faster than matrix units make few rows no cheaper than others") {
    Platform platform = small_platform();
    platform.stack.kernels.row_curves = {{.weights = CurveWeights::narrow, .few_rows = 3.0, .few_rows_speed = 20.0}};
    const Precision int8 = checkpoint_precision(NumberFormat::int8, NumberFormat::bf16);
    // 2000 FLOP/s of vector units against 1000: each of the rows takes 0.01 s, beside 0.3 s of reading.
    CHECK(time_of(linear_layer(), platform, 2.0, int8) - time_of(linear_layer(), platform, 1.0, int8) == Approx(0.01));
}

}  // namespace kernel_pricing_test
