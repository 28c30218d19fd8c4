// Collectives over a link that was measured by others: an engine's own all-reduce for small messages, all-gathers.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "operation_time.h"
#include "setups.h"
#include "sim/kernel_pricing.h"
#include "sim/layers/layers.h"

namespace link_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double kilobyte = 1024.0, microsecond = 1e-6;

Platform eight_of(const char* device, const std::string& link = "") {
    Platform eight = platform(device, "ideal");
    eight.ranks = 8.0;
    eight.interconnect = link;
    return eight;
}

double microseconds_of(const Operation& operation, const Platform& platform) {
    const Rates rates = price_kernel(operation, Precision{}, platform).rates;
    return time_of(operation, rates, {1.0, 1.0, 0.0, 1.0}).value() / microsecond;
}

LayerContext context_of(const Platform& platform) {
    LayerContext context;
    context.ranks = platform.ranks;
    context.precision.activations.format = NumberFormat::bf16;
    return context;
}

double all_reduce(const Platform& platform, double bytes) {
    std::vector<Operation> operations;
    append_all_reduce(context_of(platform), bytes / 2.0, operations);
    return microseconds_of(operations.front(), platform);
}

/// Of a tensor of so many bytes in all.
double all_gather(const Platform& platform, double bytes) {
    std::vector<Operation> operations;
    append_all_gather(context_of(platform), bytes / 2.0, false, operations);
    return microseconds_of(operations.front(), platform);
}

}  // namespace

TEST_CASE("an all-reduce of one step takes what was measured of it, and runs up to its limit on request only") {
    const Platform nccl = eight_of("rtx-pro-6000"), own = eight_of("rtx-pro-6000", "pcie-one-shot");
    // Eight RTX PRO 6000 behind three PCIe switches (local-inference-lab/rtx6kpro, hardware/pcie-bandwidth.md), in us.
    struct Measured {
        double kilobytes, one_shot, nccl;
    };
    for (const auto& [size, one_shot, ring] : {Measured{1, 7.5, 24.1}, Measured{8, 9.2, 24.2}, Measured{32, 16.5, 24.5}}) {
        CAPTURE(size);
        CHECK(all_reduce(own, size * kilobyte) == Approx(one_shot).epsilon(0.1));
        CHECK(all_reduce(nccl, size * kilobyte) == Approx(ring).epsilon(0.2));
    }
    CHECK(all_reduce(own, 57.0 * kilobyte) == all_reduce(nccl, 57.0 * kilobyte));
    // NCCL as vLLM calls it (models/glm5.1/vllm-communicators-kimi-glm-2026-05-07.md), and large messages on another host
    // (hardware/wrx90-cpayne-8gpu-root-topology-comparison.md).
    for (const auto& [size, measured] : {std::pair{16.0, 19.8},
                                         {64.0, 22.1},
                                         {256.0, 39.5},
                                         {512.0, 59.5},
                                         {1024.0, 81.0},
                                         {4096.0, 182.5},
                                         {16384.0, 664.7}}) {
        CAPTURE(size);
        CHECK(all_reduce(nccl, size * kilobyte) == Approx(measured).epsilon(0.12));
    }
}

TEST_CASE("an engine's own all-reduce runs up to its limit even where it is the slower one, then in two steps") {
    Platform own = eight_of("rtx-pro-6000", "pcie-vllm");
    Interconnect& link = own.device.interconnects.back();
    REQUIRE(link.name == "pcie-vllm");
    link.own = {Seconds(7e-6), BytesPerSecond(20e9), Bytes(1e5), Seconds(60e-6), BytesPerSecond(40e9), {}};
    CHECK(all_reduce(own, 1e5) == Approx(7.0 + 7.0 * 1e5 / 20e3));
    CHECK(all_reduce(own, 1.1e5) == Approx(60.0 + 1.75 * 1.1e5 / 40e3));
    link.own.two_step_bandwidth = BytesPerSecond(0.0);
    CHECK(all_reduce(own, 1.1e5) == all_reduce(eight_of("rtx-pro-6000"), 1.1e5));
    CHECK(all_reduce(own, 1e5) > all_reduce(own, 1.1e5));
}

TEST_CASE("an all-gather takes half an all-reduce, or what was measured of it") {
    const Platform nvlink = eight_of("h100-sxm");
    for (const double size : {1.0, 100.0, 10'000.0}) {
        CHECK(all_gather(nvlink, size * kilobyte) == Approx(0.5 * all_reduce(nvlink, size * kilobyte)));
    }
    Platform measured = eight_of("rtx-pro-6000");
    measured.device.interconnects.front().gather = {Seconds(8e-6), Seconds(40e-6), BytesPerSecond(16e9), BytesPerSecond(34e9)};
    const double small = 100e3, large = 8e6;  // seven eighths of them are moved
    CHECK(all_gather(measured, small) == Approx(8.0 + 0.875 * small / 16e3));
    CHECK(all_gather(measured, large) == Approx(40.0 + 0.875 * large / 34e3));
}

TEST_CASE("a link that the device lacks is answered with those that it has") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", eight_of("rtx-pro-6000", "pcie-oneshot"));
    const std::vector<std::string> problems = problems_of(setup);
    REQUIRE_FALSE(problems.empty());
    CHECK_THAT(
        problems.front(),
        Catch::Contains("named 'pcie-oneshot' (it has pcie, pcie-one-shot, pcie-vllm-56k, pcie-vllm-8-rows, pcie-vllm)"));
}

TEST_CASE("a link's own kernels state what they need") {
    Device device = eight_of("rtx-pro-6000").device;
    REQUIRE(problems_of(device).empty());
    device.interconnects.front().gather.bulk_bandwidth = BytesPerSecond(0.0);
    device.interconnects.back().own.latency = Seconds(0.0);
    const std::vector<std::string> problems = problems_of(device);
    REQUIRE(problems.size() == 2);
    CHECK_THAT(problems[0], Catch::Contains("interconnects[0].gather.bulk_bandwidth"));
    CHECK_THAT(problems[1], Catch::Contains("interconnects[4].own_all_reduces.latency"));
}

TEST_CASE("a measured all-reduce of one step that has no limit is not left to the library") {
    Platform measured = eight_of("h100-sxm");
    measured.mode = CostMode::calibrated;
    KernelLaw law;
    law.startup = Seconds(10e-6);
    law.collective.ring = Seconds(1.0);  // the library's
    measured.device.calibration =
        Calibration{"h100-sxm", "", "", {{KernelClass::all_reduce, Precision{}.activations.format, law}}};
    CHECK(all_reduce(measured, 100.0 * kilobyte) > 10.0);
    CHECK(all_reduce(measured, 100.0 * kilobyte) < 100.0);
    measured.device.calibration->kernels.front().law.collective.limit = Bytes(50.0 * kilobyte);
    CHECK(all_reduce(measured, 100.0 * kilobyte) > 0.9e6);
}

TEST_CASE("caches travel where a pool of its own reads the prompts of a steady state, and nowhere else") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.device.interconnects.clear();
    setup.prompt_tokens = 700.0;
    const auto wrong = [&](PrefillPolicy prefill, double output_tokens) {
        setup.platform.stack.serving.prefill = prefill;
        setup.output_tokens = output_tokens;
        return problems_of(setup).size();
    };
    CHECK(wrong(PrefillPolicy::mixed, 300.0) == 0);
    CHECK(wrong(PrefillPolicy::disaggregated, 0.0) == 0);
    CHECK(wrong(PrefillPolicy::disaggregated, 300.0) == 1);
}

}  // namespace link_test
