// Formats, critical points, lengths, shares of memory and carried-over laws, each against a closed form.
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/critical.h"
#include "sim/law_transfer.h"
#include "sim/lengths.h"
#include "sim/platform.h"
#include "sim/prompt_work.h"
#include "sim/round.h"
#include "sim/stack_parameters.h"
#include "sim/traits.h"

namespace small_parts_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

Model model_of(const std::vector<BlockKind>& kinds) {
    Model model;
    for (const BlockKind& kind : kinds) {
        LayerKind layer;
        layer.blocks.push_back({kind});
        model.order.push_back(model.kinds.size());
        model.kinds.push_back(layer);
    }
    return model;
}

Device device_of(double bandwidth, double bf16, double multiprocessors) {
    Device device;
    device.name = "device";
    device.bandwidth = BytesPerSecond(bandwidth);
    device.peak.fill(FlopsPerSecond(0.0));
    device.peak[static_cast<std::size_t>(NumberFormat::fp32)] = FlopsPerSecond(bf16 / 2);
    device.peak[static_cast<std::size_t>(NumberFormat::bf16)] = FlopsPerSecond(bf16);
    device.multiprocessors = multiprocessors;
    device.cache = Bytes(10.0);
    return device;
}

KernelLaw carried(const CalibratedKernel& kernel, Device measured, const Device& other) {
    measured.calibration = Calibration{"device", "", "measured", {kernel}};
    const Calibration result = transferred_laws(measured, other);
    REQUIRE(result.kernels.size() == 1);
    return result.kernels.front().law;
}

}  // namespace

TEST_CASE("bits of a format, of an element and of its scale") {
    const double bits[] = {32, 16, 16, 8, 8, 4, 4};
    for (std::size_t i = 0; i < all_number_formats.size(); ++i) {
        CHECK(bits_of(all_number_formats[i]) == bits[i]);
    }
    CHECK(Storage{NumberFormat::int4}.per_element() == Bytes(0.5));
    CHECK(Storage{NumberFormat::int4, 32.0, 16.0}.per_element() == Bytes((4 + 0.5) / 8));
    Storage three{NumberFormat::int4, 64.0, 32.0};
    three.bits = 3.0;
    CHECK(three.element_bits() == 3.0);
    CHECK(three.per_element() == Bytes((3 + 0.5) / 8));
}

TEST_CASE("what checkpoints of a name hold") {
    const Precision half = checkpoint_precision(NumberFormat::bf16, NumberFormat::bf16);
    CHECK(half.weights == Storage{NumberFormat::bf16});
    CHECK(half.state == Storage{NumberFormat::fp32});
    const Precision fp4 = checkpoint_precision(NumberFormat::fp4, NumberFormat::bf16);
    CHECK(fp4.weights == Storage{NumberFormat::fp4, 16.0, 8.0});
    CHECK(fp4.experts == fp4.weights);
    CHECK(fp4.math == NumberFormat::fp4);
    CHECK(fp4.embeddings == Storage{NumberFormat::bf16});
    const Precision int4 = checkpoint_precision(NumberFormat::int4, NumberFormat::fp16);
    CHECK(int4.weights == Storage{NumberFormat::int4, 128.0, 16.0});
    CHECK(int4.math == NumberFormat::fp16);
    CHECK(mxfp4_precision(NumberFormat::bf16).experts == Storage{NumberFormat::fp4, 32.0, 8.0});
    CHECK(block_fp8_precision(NumberFormat::bf16).weights == Storage{NumberFormat::fp8, 16384.0, 32.0});
    const Precision mlx = mlx_precision(5.0, 64.0, NumberFormat::bf16);
    CHECK(mlx.embeddings.format == NumberFormat::int8);
    CHECK(mlx.weights.per_element() == Bytes((5 + 0.5) / 8));
    CHECK(mlx_precision(4.0, 64.0, NumberFormat::bf16).weights == Storage{NumberFormat::int4, 64.0, 32.0});
    CHECK(mlx_precision(8.0, 64.0, NumberFormat::bf16).weights == Storage{NumberFormat::int8, 64.0, 32.0});
    CHECK(exl3_precision(4.5, NumberFormat::bf16).weights.format == NumberFormat::int4);
    CHECK(exl3_precision(4.6, NumberFormat::bf16).weights.format == NumberFormat::int8);
    CHECK(exl3_precision(3.0, NumberFormat::bf16).weights.per_element() == Bytes(3.0 / 8));
    CHECK(exl3_precision(3.0, NumberFormat::bf16).exceptions.front().storage.per_element() == Bytes(6.0 / 8));
}

TEST_CASE("the exception of a layer, or of all layers, and no part of a name") {
    Precision precision = uniform_precision(NumberFormat::bf16);
    const auto stored = [&](const char* named, const char* operation) {
        precision.exceptions = {{named, Storage{NumberFormat::fp8}, NumberFormat::fp8}};
        return weight_format(precision, operation, precision.weights).storage.format;
    };
    CHECK(stored("down projection", "decoder: down projection") == NumberFormat::fp8);
    CHECK(stored("decoder: down projection", "decoder: down projection") == NumberFormat::fp8);
    CHECK(stored("projection", "decoder: down projection") == NumberFormat::bf16);
    CHECK(stored("", "decoder: ") == NumberFormat::bf16);
    CHECK(stored("LM head", "LM head") == NumberFormat::fp8);
    CHECK(stored("LM head", "no LM head") == NumberFormat::bf16);
    // Products in the wider of weights and `math`.
    precision.math = NumberFormat::fp8;
    CHECK(product_format(Storage{NumberFormat::bf16}, precision) == NumberFormat::bf16);
    CHECK(product_format(Storage{NumberFormat::int8}, precision) == NumberFormat::fp8);
}

TEST_CASE("a speculation is told by its label, and by how it is verified where there is more than one way") {
    const auto text = [](const TreeShape& shape, Verification verification) {
        return text_of(Speculation{shape, verification, "it"});
    };
    CHECK(text(ChainShape{3}, Verification::unrolled) == "it");
    CHECK(text(VllmShape{}, Verification::unrolled) == "it");
    CHECK(text(ChainShape{3}, Verification::packed) == "it, packed");
    CHECK(text(ChainShape{3}, Verification::unrolled_chunk) == "it, unrolled-chunk");
    CHECK(text(WidthsShape{{2, 2}}, Verification::unrolled) == "it, unrolled");
    CHECK(text(WidthsShape{{2, 2}}, Verification::packed) == "it, packed");
}

TEST_CASE("storage within what storage can be") {
    const auto wrong = [](auto change) {
        Precision precision = uniform_precision(NumberFormat::int8);
        change(precision.experts);
        return problems_of(precision).size();
    };
    CHECK(wrong([](Storage&) {}) == 0);
    CHECK(wrong([](Storage& s) { s.group_size = -1.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.group_size = unlimited; }) == 1);
    CHECK(wrong([](Storage& s) { s.bits = 32.0; }) == 0);
    CHECK(wrong([](Storage& s) { s.bits = 32.1; }) == 1);
    CHECK(wrong([](Storage& s) { s.bits = -1.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.unpacking = 1000.0; }) == 0);
    CHECK(wrong([](Storage& s) { s.unpacking = 1001.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.unpacking = -1.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.block = 65536.0; }) == 0);
    CHECK(wrong([](Storage& s) { s.block = 65537.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.block = -1.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.scale_bits = 32.0; }) == 0);
    CHECK(wrong([](Storage& s) { s.scale_bits = 33.0; }) == 1);
    CHECK(wrong([](Storage& s) { s.scale_bits = 0.0; }) == 1);
}

TEST_CASE("where verification turns compute-bound, and when training a drafter pays") {
    // 2·4·1000 FLOPs of four tokens; a cached token of 2 bytes costs as much as 2·50.
    CriticalInputs inputs{1000.0, Bytes(1600.0), Bytes(2.0), FlopsPerByte(50.0)};
    CHECK(critical_context(inputs, 4.0) == 80.0);
    CHECK(critical_batch(inputs, 4.0, 40.0) == 1600.0 * 50 / (8000 - 40 * 100));
    CHECK_FALSE(critical_batch(inputs, 4.0, 80.0));
    inputs.cache_per_token = Bytes(0.0);
    CHECK(critical_context(inputs, 4.0) == unlimited);
    const TrainingCost cost{100.0, 30.0};
    CHECK(decoding_saved(cost, 2.0) == 50.0);
    CHECK(net_saving(cost, 2.0) == 20.0);
    CHECK(break_even_decoding(cost, 2.0) == 60.0);
    CHECK(break_even_decoding(cost, 1.5) == Approx(90.0));
    CHECK_FALSE(break_even_decoding(cost, 1.0));
}

TEST_CASE("lengths: means by share, the mean of a cache, a log-normal distribution in fifteen parts") {
    const Lengths lengths{{100.0, 3.0}, {500.0, 1.0}};
    CHECK(mean_length(lengths) == 200.0);
    // Of answers: E[o²]/(2·E[o]) = (3·10,000 + 250,000)/4/400.
    CHECK(mean_context({{50.0, 2.0}}, lengths) == 50.0 + 70'000.0 / 400);
    REQUIRE(log_normal_lengths(300.0, 0.0).size() == 1);
    CHECK(log_normal_lengths(300.0, 0.0).front().share == 1.0);
    CHECK(log_normal_lengths(300.0, 0.0).front().tokens == 300.0);
    const Lengths spread = log_normal_lengths(300.0, 0.8);
    REQUIRE(spread.size() == 15);
    double shares = 0.0;
    for (const LengthShare& length : spread) {
        shares += length.share;
    }
    CHECK(shares == Approx(1.0).epsilon(1e-12));
    CHECK(mean_length(spread) == Approx(300.0).epsilon(1e-12));
    CHECK(spread[7].share == Approx(std::erf(0.25 / std::sqrt(2.0))));         // half a deviation around the median
    CHECK(spread[0].share == Approx(0.5 * std::erfc(3.25 / std::sqrt(2.0))));  // and all below 3.25 of them
    CHECK(spread[14].share == Approx(spread[0].share));
    CHECK(spread[7].tokens == Approx(300.0 / std::sqrt(1.64)).epsilon(0.01));  // near the median
    CHECK(spread[8].tokens / spread[6].tokens == Approx(std::exp(std::sqrt(std::log(1.64)))).epsilon(0.02));
}

TEST_CASE("the share of its memory that an engine takes") {
    Platform platform;
    platform.device = device_of(1e12, 1e14, 100.0);
    platform.device.memory = Bytes(100.0);
    platform.ranks = 2.0;
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 1.0);
    platform.stack.memory.memory_reserves = {{Bytes(100.0), Bytes(50.0), {}, {}, {}},
                                             {Bytes(200.0), Bytes(10.0), Bytes(4.0), Bytes(5.0), Bytes(7.0)}};
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::nothing) == 1.0 - 18.0 / 100);
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 1.0 - 23.0 / 100);
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::whole_model) == 1.0 - 25.0 / 100);
    platform.stack.memory.memory_reserves.back().base = Bytes(500.0);
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 0.01);
    platform.device.memory = Bytes(200.0);
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 1.0);  // none is stated for such a device
    platform.stack.memory.memory_utilisation = 0.9;
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 0.9);
    platform.memory_utilisation = 0.8;
    CHECK(memory_utilisation_of(platform, DrafterOnDevice::some) == 0.8);
}

TEST_CASE("the link that joins so many devices") {
    Platform platform;
    platform.device.interconnects = {{"fast", BytesPerSecond(2.0), {}, 8.0, ""}, {"slow", BytesPerSecond(1.0), {}, 0.0, ""}};
    CHECK(link_between(platform, 1.0) == nullptr);
    CHECK(link_between(platform, 8.0)->name == "fast");
    CHECK(link_between(platform, 9.0)->name == "slow");
    platform.interconnect = "slow";
    CHECK(link_between(platform, 2.0)->name == "slow");
    platform.interconnect = "fast";
    CHECK(link_between(platform, 9.0) == nullptr);
}

TEST_CASE("tokens of a prompt that need not be read") {
    CHECK(cached_tokens(100.0, 0.25, 0.0) == 25.0);
    CHECK(cached_tokens(100.0, 0.25, 60.0) == 60.0);
    CHECK(cached_tokens(100.0, 0.75, 60.0) == 75.0);
    CHECK(cached_tokens(100.0, 0.0, 100.0) == 99.0);  // the last one is read
    CHECK(cached_tokens(0.5, 0.0, 10.0) == 0.0);
}

TEST_CASE("kinds of models, and versions of stacks") {
    CHECK(kind_of_model(model_of({Attention{}, Mlp{}})) == "dense");
    CHECK(kind_of_model(model_of({Attention{}, MixtureOfExperts{}})) == "mixture");
    CHECK(kind_of_model(model_of({Attention{}, Mamba2{}})) == "hybrid");
    CHECK(kind_of_model(model_of({GatedDelta{}, MixtureOfExperts{}})) == "hybrid mixture");
    CHECK(engine_of_stack("vllm-0.25") == "vllm");
    CHECK(engine_of_stack("vllm") == "vllm");
    CHECK(engine_of_stack("llama-cpp") == "llama-cpp");
    CHECK(engine_of_stack("vllm-9") == "vllm");
    CHECK(engine_of_stack("vllm-0") == "vllm");
    CHECK(engine_of_stack("vllm-") == "vllm-");
    Precision fp4 = uniform_precision(NumberFormat::bf16);
    CHECK_FALSE(serves(ExpertKernels{}, model_of({MixtureOfExperts{}}), fp4));
    fp4.experts = Storage{NumberFormat::fp4};
    CHECK(serves(ExpertKernels{}, model_of({MixtureOfExperts{}}), fp4));
    CHECK_FALSE(serves(ExpertKernels{}, model_of({Mlp{}}), fp4));
}

TEST_CASE("deviations of a deployment, and its factor") {
    CHECK(time_factor_of(Seconds(4.0), Seconds(1.0), 0.5) == 2.0);
    // Four usual steps of 3.7 % (median) alone; with four more of three times their spread, 5·usual² in the mean.
    const double usual = 0.037 / 0.6745;
    CHECK(step_error_of({}) == Approx(1.2816 * usual));
    CHECK(step_error_of({3 * usual, -3 * usual, 3 * usual, 3 * usual}) == Approx(1.2816 * usual * std::sqrt(5.0)));
    // Steps that are missed a thousand times give a stack that can be read again.
    CHECK(step_error_of(std::vector<double>(100, std::log(1e3))) < stack_parameter("step_error").high);
}

TEST_CASE("a law on another device: tiles follow the rows, heads and activations its multiprocessors, traffic its cache") {
    const Device measured = device_of(1e12, 1e14, 100.0);
    Device other = device_of(1e12, 1e14, 200.0);
    other.cache = Bytes(30.0);
    CalibratedKernel gemm{KernelClass::gemm, NumberFormat::bf16, KernelLaw{}};
    gemm.law.row_tile = 128.0;
    gemm.law.ramp_bytes = Bytes(6.0);
    gemm.law.per_head = gemm.law.per_activation = Seconds(8.0);
    gemm.law.workers = 100.0;
    KernelLaw law = carried(gemm, measured, other);
    CHECK(law.row_tile == 64.0);
    CHECK(law.least_tile == 32.0);
    CHECK(law.ramp_bytes == Bytes(18.0));
    CHECK(law.per_head == Seconds(4.0));
    CHECK(law.per_activation == Seconds(4.0));
    CHECK(law.workers == 200.0);
    gemm.law.workers = 7.0;
    gemm.law.row_tile = 16.0;
    law = carried(gemm, measured, other);
    CHECK(law.workers == 7.0);
    CHECK(law.row_tile == 16.0);
    CHECK(law.least_tile == 16.0);
    gemm.law.row_tile = 2.0;
    CHECK(carried(gemm, measured, other).least_tile == 2.0);
    gemm.law.row_tile = 1.0;
    CHECK(carried(gemm, measured, other).least_tile == 0.0);
    gemm.law.row_tile = 128.0;
    gemm.law.least_tile = 16.0;
    CHECK(carried(gemm, measured, other).row_tile == 128.0);  // several tiles were seen
    other.multiprocessors = 0.0;
    CHECK(carried(gemm, measured, other).per_head == Seconds(8.0));
}

TEST_CASE("laws that are not carried over") {
    Device measured = device_of(1e12, 1e14, 100.0), other = device_of(2e12, 2e14, 100.0);
    measured.interconnects = {{"nvlink", BytesPerSecond(1.0), {}, 0.0, ""}};
    KernelLaw half;
    half.bandwidth_share = half.peak_share = 0.5;
    const auto kept = [&](std::vector<CalibratedKernel> kernels) {
        measured.calibration = Calibration{"device", "", "measured", std::move(kernels)};
        return transferred_laws(measured, other).kernels.size();
    };
    CHECK(kept({{KernelClass::latent_attention, NumberFormat::bf16, half}, {KernelClass::gemm, NumberFormat::bf16, half}}) ==
          1);
    CHECK(kept({{KernelClass::all_reduce, NumberFormat::bf16, half}}) == 0);
    other.interconnects = measured.interconnects;
    CHECK(kept({{KernelClass::all_reduce, NumberFormat::bf16, half}}) == 1);
    other.interconnects.front().name = "xgmi";
    CHECK(kept({{KernelClass::all_reduce, NumberFormat::bf16, half}}) == 0);
    other.interconnects = measured.interconnects = {{"pcie", BytesPerSecond(1.0), {}, 0.0, ""}};
    CHECK(kept({{KernelClass::all_reduce, NumberFormat::bf16, half}}) == 0);
    // In fp8 as many elements a second and FLOP/s as in bf16 need half of its shares; fewer of both, and nobody would pick it.
    measured.peak[static_cast<std::size_t>(NumberFormat::fp8)] = FlopsPerSecond(2e14);
    const auto fp8_kept = [&](double bandwidth_share, double peak_share) {
        KernelLaw law;
        law.bandwidth_share = bandwidth_share;
        law.peak_share = peak_share;
        return kept({{KernelClass::gemm, NumberFormat::bf16, half}, {KernelClass::gemm, NumberFormat::fp8, law}}) == 2;
    };
    CHECK(fp8_kept(0.25, 0.2));
    CHECK(fp8_kept(0.2, 0.25));
    CHECK_FALSE(fp8_kept(0.24, 0.24));
}

TEST_CASE("kernels that unpack int4 do no more on a multiprocessor than where they were measured; a walk is as efficient") {
    // 3.35e12/132 bytes/s of a multiprocessor are the most that was measured.
    Device measured = device_of(3.35e12, 1e15, 132.0), other = device_of(8e12, 2.5e15, 148.0);
    const CalibratedKernel int4{KernelClass::experts, NumberFormat::int4, KernelLaw{}};
    CHECK(carried(int4, measured, other).bandwidth_share == 1.0);  // no units for fp4
    other.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(1e16);
    CHECK(carried(int4, measured, other).bandwidth_share == Approx(3.35e12 / 132 / (8e12 / 148)));
    CHECK(carried(int4, measured, other).peak_share == Approx(1e15 / 132 / (2.5e15 / 148)));
    CHECK(carried({KernelClass::experts, NumberFormat::bf16, KernelLaw{}}, measured, other).bandwidth_share == 1.0);
    measured.bandwidth = BytesPerSecond(1e12);
    CHECK(carried(int4, measured, other).bandwidth_share == Approx(3.35e12 / 132 / (8e12 / 148)));
    other.bandwidth = BytesPerSecond(1e12);
    CHECK(carried(int4, measured, other).bandwidth_share == 1.0);
    measured.peak[static_cast<std::size_t>(NumberFormat::fp4)] = FlopsPerSecond(1e16);
    CHECK(carried(int4, measured, other).peak_share == 1.0);

    measured.calibration = Calibration{"device", "", "measured", {int4}};
    measured.calibration->attention_walk = {Seconds(1.0), Seconds(3e-6), 0.8};
    const AttentionWalkLaw walk = transferred_laws(measured, other).attention_walk.value();
    CHECK(walk.startup == Seconds(1.0));
    CHECK(walk.per_token.value() == Approx(3e-6 * (1e15 / 132) / (2.5e15 / 148)));
    other.multiprocessors = 0.0;
    CHECK(transferred_laws(measured, other).attention_walk->per_token == Seconds(3e-6));
    other.multiprocessors = 148.0;
    measured.multiprocessors = 0.0;  // nor where those of the measured device are not known
    CHECK(transferred_laws(measured, other).attention_walk->per_token == Seconds(3e-6));
}

}  // namespace small_parts_test
