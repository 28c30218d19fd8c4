// Weights in the memory of the host: what they no longer take of the device, and what they cost there.
#include "sim/placement.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "hardware/catalogue.h"
#include "setups.h"
#include "sim/ggml_types.h"
#include "sim/pass.h"
#include "sim/traits.h"

namespace placement_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Platform with_host(const char* device, const char* host) {
    Platform on_device = platform(device, "llama.cpp");
    on_device.host = std::make_shared<const Platform>(platform(host, "llama.cpp-cpu"));
    return on_device;
}

Seconds time_of(const Model& model, const Platform& on, PassKind kind, double tokens) {
    CompileOptions options;
    options.pass.kind = kind;
    const CompiledPass pass = compile_pass(model, *gguf_precision("q4_k_m"), on, options);
    return pass_time(pass, totals_of(pass, {1.0, tokens, 512.0, 1.0}));
}

}  // namespace

TEST_CASE("experts of some layers on the host leave the device their bytes, and all parameters are counted") {
    const Model whole = model("qwen3-30b-a3b");
    const Precision q4 = *gguf_precision("q4_k_m");
    const Model part = placed(whole, {Residence::experts_on_host, 12});
    CHECK(layers_on_host(part) == 12);
    CHECK(parameter_count(part) == parameter_count(whole));
    // 128 experts of 3 x 2048 x 768 in each of 12 layers.
    const double moved = 12.0 * 128.0 * 3.0 * 2048.0 * 768.0 * q4.experts.per_element().value();
    CHECK(stored_weights(whole, q4, 1.0).value() - stored_weights(part, q4, 1.0).value() == Approx(moved));
    CHECK(caches_of(part, q4, 1.0).size() == 2);
    const Model all = placed(whole, {Residence::experts_on_host, {}});
    CHECK(layers_on_host(all) == 48);
}

TEST_CASE("whole layers on the host take their caches with them, counted as llama.cpp does") {
    const Model whole = model("qwen3-8b");
    const Precision q8 = *gguf_precision("q8_0");
    // --n-gpu-layers 20 of 36 layers: the LM head and the last 19.
    const Model part = placed(whole, {Residence::host, 20, true});
    CHECK(layers_on_host(part) == 17);
    const auto cached = [&](const Model& of) {
        Bytes sum;
        for (const CacheTerm& cache : caches_of(of, q8, 1.0)) {
            sum += cached_bytes(cache, 1000.0);
        }
        return sum;
    };
    CHECK(cached(part).value() == Approx(cached(whole).value() * 19.0 / 36.0));
    CHECK(layers_on_host(placed(whole, {Residence::host, 37, true})) == 0);
    CHECK(layers_on_host(placed(whole, {Residence::host, 0, true})) == 36);
}

TEST_CASE("experts on the host are bound by its memory, and those of a prompt by the link") {
    const Model whole = model("qwen3-30b-a3b"), all = placed(whole, {Residence::experts_on_host, {}});
    const Platform slow = with_host("rtx-3060", "desktop-ddr4"), fast = with_host("rtx-3060", "desktop-ddr5");
    const Seconds on_slow = time_of(all, slow, PassKind::decode, 1.0), on_fast = time_of(all, fast, PassKind::decode, 1.0);
    // 48 layers x 8 experts x 3 x 2048 x 768 elements, at 70 % of 51.2 and of 89.6 GB/s.
    const double bytes = 48.0 * 8.0 * 3.0 * 2048.0 * 768.0 * gguf_precision("q4_k_m")->experts.per_element().value();
    CHECK((on_slow - on_fast).value() == Approx(bytes / 0.7 * (1.0 / 51.2e9 - 1.0 / 89.6e9)).epsilon(0.05));
    // Two tokens touch 8·(1 + 0.6·(1 - 8/128)) experts and less than twice the time.
    const double two = time_of(all, fast, PassKind::decode, 2.0) / on_fast;
    CHECK(two > 1.2);
    CHECK(two < 1.8);
    // 512 tokens of a prompt touch every expert, whose weights cross PCIe 4.0 x16 at 32 GB/s.
    const double streamed =
        48.0 * 128.0 * 3.0 * 2048.0 * 768.0 * gguf_precision("q4_k_m")->experts.per_element().value() / 32e9;
    CHECK(time_of(all, fast, PassKind::prefill, 512.0).value() > streamed);
    CHECK(time_of(all, fast, PassKind::prefill, 512.0).value() < 2.0 * streamed);
}

TEST_CASE("from 32 tokens on experts on the host are read over the link") {
    const Model all = placed(model("qwen3-30b-a3b"), {Residence::experts_on_host, {}});
    const Platform on = with_host("rtx-3060", "desktop-ddr5");
    const Seconds below = time_of(all, on, PassKind::decode, 31.0), at = time_of(all, on, PassKind::decode, 32.0),
                  above = time_of(all, on, PassKind::decode, 33.0);
    // Between 31 and 32 tokens a layer of 128 experts, of which 32 tokens touch 1 - (1 - 8/128)^32 = 87 %, changes from 70 % of
    // 89.6 GB/s to what PCIe 4 carries.
    const Interconnect* pcie = nullptr;
    for (const Interconnect& link : on.device.interconnects) {
        pcie = link.name == "pcie" ? &link : pcie;
    }
    REQUIRE(pcie != nullptr);
    const double touched = 1.0 - std::pow(1.0 - 8.0 / 128.0, 32.0);
    const double bytes =
        48.0 * 128.0 * touched * 3.0 * 2048.0 * 768.0 * gguf_precision("q4_k_m")->experts.per_element().value();
    // Tokens of one sequence choose alike, so that somewhat fewer are touched.
    const double all_apart = bytes * (1.0 / pcie->bandwidth.value() - 1.0 / (0.7 * 89.6e9));
    CHECK((at - below).value() < all_apart);
    CHECK((at - below).value() > 0.75 * all_apart);
    CHECK((above - at).value() < 0.1 * (at - below).value());
    // Dense layers: all of their weights, at any number of tokens.
    const Model dense = placed(model("qwen3-8b"), {Residence::host, {}});
    CHECK(time_of(dense, on, PassKind::decode, 32.0).value() > 1.5 * time_of(dense, on, PassKind::decode, 16.0).value());
}

TEST_CASE("what lies on the host must fit its memory") {
    const Precision q4 = *gguf_precision("q4_k_m");
    const Model small = placed(model("qwen3-30b-a3b"), {Residence::experts_on_host, {}});
    const Model large = placed(model("qwen3-235b-a22b"), {Residence::experts_on_host, {}});
    const Platform on = with_host("rtx-3060", "desktop-ddr5");  // 64 GB, of which 8 are taken
    CHECK(host_problem(small, q4, on).empty());
    CHECK_THAT(host_problem(large, q4, on), Catch::Contains("would lie on the host, where 56 GB are free (desktop-ddr5)"));
    CHECK(host_problem(large, q4, platform("rtx-3060", "llama.cpp")).empty());
    CHECK(host_problem(placed(model("qwen3-235b-a22b"), {Residence::experts_on_host, 20}), q4, on).empty());
}

TEST_CASE("without a host in the platform everything is priced on the device") {
    const Model whole = model("qwen3-30b-a3b");
    const Platform none = platform("rtx-3060", "llama.cpp");
    CHECK(time_of(placed(whole, {Residence::experts_on_host, {}}), none, PassKind::decode, 1.0).value() ==
          Approx(time_of(whole, none, PassKind::decode, 1.0).value()));
}

TEST_CASE("weights that fill the host's free memory to the last byte fit") {
    const Precision q4 = *gguf_precision("q4_k_m");
    const Model small = placed(model("qwen3-30b-a3b"), {Residence::experts_on_host, {}});
    Platform on = with_host("rtx-3060", "desktop-ddr5");
    Platform host = *on.host;
    const Bytes needed = weights_on_host(small, q4);
    host.device.reserved = Bytes(0.0);
    host.device.memory = needed;
    on.host = std::make_shared<const Platform>(host);
    CHECK(host_problem(small, q4, on).empty());
    host.device.memory = Bytes(needed.value() * (1.0 - 1e-6));
    on.host = std::make_shared<const Platform>(host);
    CHECK_FALSE(host_problem(small, q4, on).empty());
}

TEST_CASE("the fewest layers that free what is too much: routed experts, or whole layers where there are none") {
    const Precision q4 = *gguf_precision("q4_k_m");
    const Device card = platform("rtx-3060", "llama.cpp").device, shared = platform("m4-max", "mlx").device;
    for (const char* name : {"qwen3-30b-a3b", "llama-3-8b"}) {
        const Model whole = model(name);
        const Bytes needed(2e9);
        CHECK_FALSE(placement_that_frees(needed, whole, q4, shared));  // the host's memory is the device's
        const auto found = placement_that_frees(needed, whole, q4, card);
        REQUIRE(found);
        CHECK(found->residence == (has_experts(whole) ? Residence::experts_on_host : Residence::host));
        CHECK(weights_on_host(placed(whole, *found), q4) >= needed);
        Placement fewer = *found;
        fewer.layers = *found->layers - 1;
        CHECK(weights_on_host(placed(whole, fewer), q4) < needed);
        const Bytes of_two = weights_on_host(placed(whole, {found->residence, 2, false}), q4);  // just as many suffice
        CHECK(placement_that_frees(of_two, whole, q4, card)->layers == 2);
        CHECK_FALSE(placement_that_frees(Bytes(1e12), whole, q4, card));
        CHECK_FALSE(placement_that_frees(needed, placed(whole, *found), q4, card));
    }
}

TEST_CASE("all layers may have to lie on the host; without a number of those on the device none do") {
    const Model whole = model("llama-3-8b");
    const Precision q4 = *gguf_precision("q4_k_m");
    const Device card = platform("rtx-3060", "llama.cpp").device;
    const Bytes all = weights_on_host(placed(whole, {Residence::host, {}}), q4);
    REQUIRE(placement_that_frees(all, whole, q4, card));
    CHECK(placement_that_frees(all, whole, q4, card)->layers == 32);
    CHECK_FALSE(placement_that_frees(all + Bytes(1.0), whole, q4, card));
    CHECK(layers_on_host(placed(whole, {Residence::host, {}, true})) == 0);
}

TEST_CASE(
    "experts on the host wait for the link both ways, or for its memory; from 32 tokens on the link reads their weights") {
    Platform on;
    on.device.bandwidth = BytesPerSecond(1000.0);
    on.device.peak.fill(FlopsPerSecond(1.0));
    Platform host = on;
    host.device.bandwidth = BytesPerSecond(10.0);
    host.stack.kernels.kernel_startup = Seconds(0.0);
    on.host = std::make_shared<const Platform>(host);
    Operation experts;
    experts.name = "layer: routed experts";
    experts.kind = OperationKind::experts;
    experts.placed = Placed::on_host;
    experts.expert_count = 8.0;
    experts.expert_rows = 2.0;
    const Precision bf16 = uniform_precision(NumberFormat::bf16);
    const auto rates = [&] { return price_on_host(experts, bf16, on)->rates; };
    CHECK(rates().startup.value() == Approx(30e-6 / (1 + rates().overlap)));
    CHECK(rates().few_expert_rows == 0.0);
    on.device.interconnects = {{"nvlink", BytesPerSecond(3.0), Seconds(9.0), 0.0, ""},
                               {"pcie", BytesPerSecond(4.0), Seconds(2.0), 0.0, ""}};
    CHECK(rates().startup.value() == Approx(2.0 / (1 + rates().overlap)));
    CHECK(rates().few_expert_rows == 31.5 * 2);  // 32 tokens have more rows, 31 fewer
    CHECK((rates().beyond_few_rows + rates().per_byte).value() == Approx(1.0 / 4));
    on.device.interconnects.back().bandwidth = BytesPerSecond(20.0);  // faster than the memory
    CHECK(rates().few_expert_rows == 0.0);
    experts.placed = Placed::streamed;
    CHECK(rates().per_byte == SecondsPerByte(1.0 / 20));
    experts.placed = Placed::on_device;
    CHECK_FALSE(price_on_host(experts, bf16, on));
}

}  // namespace placement_test
