// Is every number of a device, a stack or a law accepted at its limit and refused beyond it, each by one sentence?
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "sim/acceptance.h"
#include "sim/device.h"
#include "sim/stack.h"

namespace limits_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Device plain_device() {
    Device device;
    device.name = device.title = "test";
    device.memory = Bytes(80e9);
    device.bandwidth = BytesPerSecond(2e12);
    device.peak[0] = FlopsPerSecond(20e12);  // fp32
    return device;
}

Stack plain_stack() {
    Stack stack;
    stack.name = stack.title = "test";
    return stack;
}

Calibration one_law() {
    Calibration calibration;
    calibration.kernels = {{KernelClass::gemm, NumberFormat::bf16, KernelLaw{}}};
    return calibration;
}

/// How many sentences a change brings.
template <class Thing, class Change>
std::size_t wrong(Thing thing, Change change) {
    change(thing);
    return problems_of(thing).size();
}
template <class Change>
std::size_t device_with(Change change) {
    return wrong(plain_device(), change);
}
template <class Change>
std::size_t stack_with(Change change) {
    return wrong(plain_stack(), change);
}
template <class Change>
std::size_t law_with(Change change) {
    return wrong(one_law(), [&](Calibration& calibration) { change(calibration.kernels.front().law); });
}

}  // namespace

TEST_CASE("a device's memory is read in a time that a device may take") {
    // 2e12 B/s: 10 s of a GPU, 100 s of a host, and no less than 0.1 us.
    const auto memory = [](double bytes, DeviceKind kind) {
        return device_with([&](Device& d) {
            d.memory = Bytes(bytes);
            d.kind = kind;
        });
    };
    CHECK(memory(2e13, DeviceKind::gpu) == 0);
    CHECK(memory(2.01e13, DeviceKind::gpu) == 1);
    CHECK(memory(2e14, DeviceKind::cpu) == 0);
    CHECK(memory(2.01e14, DeviceKind::cpu) == 1);
    CHECK(memory(2e5, DeviceKind::gpu) == 0);
    CHECK(memory(1.99e5, DeviceKind::gpu) == 1);
}

TEST_CASE("a device's cache and reserve lie within its memory") {
    CHECK(device_with([](Device& d) { d.cache = d.memory; }) == 0);
    CHECK(device_with([](Device& d) { d.cache = Bytes(80.1e9); }) == 1);
    CHECK(device_with([](Device& d) { d.reserved = Bytes(79.9e9); }) == 0);
    CHECK(device_with([](Device& d) { d.reserved = d.memory; }) == 1);
    CHECK(device_with([](Device& d) { d.memory = Bytes(0.0); }) == 2);  // and is read in no time
    for (const double bytes : {-1.0, infinite}) {
        CHECK(device_with([&](Device& d) { d.cache = Bytes(bytes); }) >= 1);
    }
}

TEST_CASE("peaks go together with the bandwidth") {
    const auto fp32 = [](double peak, DeviceKind kind) {
        return device_with([&](Device& d) {
            d.peak[0] = FlopsPerSecond(peak);
            d.kind = kind;
        });
    };
    CHECK(fp32(4e12, DeviceKind::gpu) == 0);  // 2 FLOP a byte
    CHECK(fp32(3.99e12, DeviceKind::gpu) == 1);
    CHECK(fp32(0.4e12, DeviceKind::cpu) == 0);
    CHECK(fp32(0.399e12, DeviceKind::cpu) == 1);
    const auto bf16 = [](double peak) { return device_with([&](Device& d) { d.peak[1] = FlopsPerSecond(peak); }); };
    CHECK(bf16(4e16) == 0);  // 20,000 FLOP a byte
    CHECK(bf16(4.01e16) == 1);
    CHECK(bf16(1e11) == 0);  // 0.05
    CHECK(bf16(0.99e11) == 1);
    CHECK(bf16(0.0) == 0);  // not native
    CHECK(bf16(-1.0) == 1);
    CHECK(device_with([](Device& d) { d.operational_intensity = FlopsPerByte(1e-9); }) == 0);
    CHECK(device_with([](Device& d) { d.operational_intensity = FlopsPerByte(infinite); }) == 1);
    CHECK(device_with([](Device& d) { d.multiprocessors = 0.0; }) == 0);
    CHECK(device_with([](Device& d) { d.multiprocessors = -1.0; }) == 1);
    CHECK(device_with([](Device& d) { d.multiprocessors = infinite; }) == 1);
    CHECK(device_with([](Device& d) { d.kernel_gap = Seconds(0.001); }) == 0);
    CHECK(device_with([](Device& d) { d.kernel_gap = Seconds(0.0011); }) == 1);
    CHECK(device_with([](Device& d) { d.kernel_gap = Seconds(-1e-9); }) == 1);
}

TEST_CASE("a device's power, price and host") {
    for (const double speed : {0.05, 20.0}) {
        CHECK(device_with([&](Device& d) { d.host_speed = speed; }) == 0);
    }
    for (const double speed : {0.049, 20.1, infinite}) {
        CHECK(device_with([&](Device& d) { d.host_speed = speed; }) == 1);
    }
    CHECK(device_with([](Device& d) { d.idle_power = Watts(10.0); }) == 0);  // the board's is unknown
    CHECK(device_with([](Device& d) { d.idle_power = d.board_power = Watts(10.0); }) == 1);
    CHECK(device_with([](Device& d) { d.price = DollarsPerSecond(-1.0); }) == 1);
    CHECK(device_with([](Device& d) { d.energy_per_flop = JoulesPerFlop(1e-12); }) == 1);
    const auto knows = [](auto change) {
        Device device = plain_device();
        device.idle_power = Watts(10.0);
        device.energy_per_byte = JoulesPerByte(1e-11);
        device.energy_per_flop = JoulesPerFlop(1e-12);
        change(device);
        return device.knows_energy();
    };
    CHECK(knows([](Device&) {}));
    CHECK_FALSE(knows([](Device& d) { d.idle_power = Watts(0.0); }));
    CHECK_FALSE(knows([](Device& d) { d.energy_per_byte = JoulesPerByte(0.0); }));
    CHECK_FALSE(knows([](Device& d) { d.energy_per_flop = JoulesPerFlop(0.0); }));
    CHECK(knows([](Device& d) {
        d.kind = DeviceKind::fpga;
        d.energy_per_byte = JoulesPerByte(0.0);
    }));
}

TEST_CASE("links: latency, domain, an engine's own all-reduces, a library's protocols") {
    const auto link_with = [](auto change) {
        return device_with([&](Device& d) {
            d.interconnects = {{"link", BytesPerSecond(1e9), Seconds(1e-5), 0.0, ""}};
            change(d.interconnects.front());
        });
    };
    CHECK(link_with([](Interconnect&) {}) == 0);
    CHECK(link_with([](Interconnect& l) { l.name = ""; }) == 1);
    CHECK(link_with([](Interconnect& l) { l.latency = Seconds(0.0); }) == 0);
    CHECK(link_with([](Interconnect& l) { l.latency = Seconds(0.99); }) == 0);
    CHECK(link_with([](Interconnect& l) { l.latency = Seconds(1.0); }) == 1);
    CHECK(link_with([](Interconnect& l) { l.latency = Seconds(-1e-9); }) == 1);
    CHECK(link_with([](Interconnect& l) { l.domain = 2.0; }) == 0);
    CHECK(link_with([](Interconnect& l) { l.domain = 1.0; }) == 1);
    CHECK(link_with([](Interconnect& l) { l.domain = infinite; }) == 1);
    CHECK(link_with([](Interconnect& l) { l.own.limit = Bytes(1.0); }) == 2);  // neither latency nor bandwidth
    CHECK(link_with([](Interconnect& l) { l.own.two_step_bandwidth = BytesPerSecond(1e9); }) == 1);
    CHECK(link_with([](Interconnect& l) { l.own.limit = Bytes(-1.0); }) == 1);
    CHECK(link_with([](Interconnect& l) { l.gather.bandwidth = BytesPerSecond(1e9); }) == 3);
    CHECK(link_with([](Interconnect& l) {
              l.all_reduce = {Seconds(1e-6), Seconds(1e-5), BytesPerSecond(1e9), BytesPerSecond(2e9)};
          }) == 0);
    CHECK(device_with([](Device& d) {
              d.interconnects = {{"a", BytesPerSecond(1e9), {}, 0.0, ""}, {"b", BytesPerSecond(1e9), {}, 0.0, ""}};
          }) == 0);  // equally fast
    const Interconnect any{"any", BytesPerSecond(1e9), {}, 0.0, ""}, host{"host", BytesPerSecond(1e9), {}, 8.0, ""};
    CHECK(any.joins(1000.0));
    CHECK(host.joins(8.0));
    CHECK_FALSE(host.joins(9.0));
}

TEST_CASE("a law's shares, factors and tiles") {
    CHECK(problems_of(Calibration()).size() == 1);
    CHECK(law_with([](KernelLaw&) {}) == 0);
    for (double KernelLaw::*share : {&KernelLaw::bandwidth_share, &KernelLaw::peak_share}) {
        CHECK(law_with([&](KernelLaw& law) { law.*share = most_share; }) == 0);
        CHECK(law_with([&](KernelLaw& law) { law.*share = 1.06; }) == 1);
        CHECK(law_with([&](KernelLaw& law) { law.*share = 0.0; }) == 1);
    }
    CHECK(law_with([](KernelLaw& law) { law.wide_head_share = 2.0; }) == 0);
    CHECK(law_with([](KernelLaw& law) { law.wide_head_share = 2.01; }) == 1);
    CHECK(law_with([](KernelLaw& law) { law.wide_head_share = 0.0; }) == 1);
    for (double KernelLaw::*least_one : {&KernelLaw::row_tile, &KernelLaw::padding, &KernelLaw::workers}) {
        CHECK(law_with([&](KernelLaw& law) { law.*least_one = 1.0; }) == 0);
        CHECK(law_with([&](KernelLaw& law) { law.*least_one = 0.99; }) == 1);
    }
    CHECK(law_with([](KernelLaw& law) { law.startup = Seconds(-1e-9); }) == 1);
    CHECK(law_with([](KernelLaw& law) { law.startup = Seconds(infinite); }) == 1);
    for (double CollectiveLaw::*share :
         {&CollectiveLaw::one_shot_share, &CollectiveLaw::two_shot_share, &CollectiveLaw::ring_share}) {
        CHECK(law_with([&](KernelLaw& law) { law.collective.*share = most_share; }) == 0);
        CHECK(law_with([&](KernelLaw& law) { law.collective.*share = 0.0; }) == 1);
        CHECK(law_with([&](KernelLaw& law) { law.collective.*share = 1.06; }) == 1);
    }
    for (double CollectiveLaw::*scale : {&CollectiveLaw::ring_scale_4, &CollectiveLaw::ring_scale_8}) {
        CHECK(law_with([&](KernelLaw& law) { law.collective.*scale = 3.0; }) == 0);
        CHECK(law_with([&](KernelLaw& law) { law.collective.*scale = 0.0; }) == 1);
    }
    CHECK(law_with([](KernelLaw& law) { law.activation_share = most_share; }) == 0);
    CHECK(law_with([](KernelLaw& law) { law.activation_share = 1.06; }) == 1);
    const auto tiles = [](double least, double largest) {
        return law_with([&](KernelLaw& law) {
            law.least_tile = least;
            law.row_tile = largest;
        });
    };
    CHECK(tiles(0.0, 6.0) == 0);
    CHECK(tiles(2.0, 2.0) == 0);
    CHECK(tiles(2.0, 32.0) == 0);  // four doublings
    CHECK(tiles(2.0, 64.0) == 1);
    CHECK(tiles(2.0, 6.0) == 1);
    CHECK(tiles(4.0, 2.0) == 1);
}

TEST_CASE("knots ascend from above one row, and none follows an unused one") {
    const auto knots = [](double first, double second) {
        return law_with([&](KernelLaw& law) {
            law.knots[0].rows = first;
            law.knots[1].rows = second;
        });
    };
    CHECK(knots(1.5, 2.0) == 0);
    CHECK(knots(1.0, 2.0) == 1);
    CHECK(knots(2.0, 2.0) == 1);
    CHECK(knots(2.0, 0.0) == 0);
    CHECK(knots(0.0, 2.0) == 1);
}

TEST_CASE("laws of a calibration are given once; chains and walks have limits of their own") {
    const auto second = [](KernelClass kernel, NumberFormat format, const char* family) {
        return wrong(one_law(), [&](Calibration& c) { c.kernels.push_back({kernel, format, KernelLaw{}, family}); });
    };
    CHECK(second(KernelClass::gemm, NumberFormat::bf16, "") == 1);
    CHECK(second(KernelClass::scan, NumberFormat::bf16, "") == 0);
    CHECK(second(KernelClass::gemm, NumberFormat::fp8, "") == 0);
    CHECK(second(KernelClass::gemm, NumberFormat::bf16, "other") == 0);
    const auto chain_with = [](auto change) {
        return wrong(one_law(), [&](Calibration& c) {
            c.recurrent_verification.resize(2);
            c.recurrent_verification.back().family = "b";
            change(c.recurrent_verification.front());
        });
    };
    CHECK(chain_with([](RecurrentVerificationLaw& law) { law.overlap = 1.0; }) == 0);
    CHECK(chain_with([](RecurrentVerificationLaw& law) { law.overlap = 1.01; }) == 1);
    CHECK(chain_with([](RecurrentVerificationLaw& law) { law.overlap = -0.01; }) == 1);
    CHECK(chain_with([](RecurrentVerificationLaw& law) { law.bandwidth_share = 1.06; }) == 1);
    CHECK(chain_with([](RecurrentVerificationLaw& law) { law.family = "b"; }) == 2);
    const auto walk = [](double per_token, double share) {
        return wrong(one_law(), [&](Calibration& c) { c.attention_walk = {Seconds(0.0), Seconds(per_token), share}; });
    };
    CHECK(walk(1e-9, most_share) == 0);
    CHECK(walk(0.0, 1.0) == 1);
    CHECK(walk(1e-9, 1.06) == 1);
}

TEST_CASE("which law verifies a chain: the family's, else the one of the shortest steps that does not convolve") {
    Calibration calibration;
    const auto law = [](const char* family, double per_token, bool convolves) {
        RecurrentVerificationLaw result;
        result.family = family;
        result.per_token = Seconds(per_token);
        result.convolves = convolves;
        return result;
    };
    CHECK(calibration.recurrent_verification_law("a") == nullptr);
    calibration.recurrent_verification = {law("fused", 1.0, true), law("slow", 4.0, false), law("quick", 2.0, false),
                                          law("quick too", 2.0, false)};
    CHECK(calibration.recurrent_verification_law("slow")->family == "slow");
    CHECK(calibration.recurrent_verification_law("fused")->family == "fused");
    CHECK(calibration.recurrent_verification_law("other")->family == "quick");
}

TEST_CASE("kernels of attention and experts that users describe") {
    const auto attention_with = [](auto change) {
        AttentionKernels kernels;
        kernels.title = "test";
        kernels.decode_walk = Seconds(1e-6);
        kernels.verify_walk = Seconds(2e-6);
        return wrong(kernels, change);
    };
    CHECK(attention_with([](AttentionKernels&) {}) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.decode_walk = k.verify_walk; }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walk = Seconds(1e-3); }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walk = Seconds(1.1e-3); }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walks["a"] = Seconds(1e-6); }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walks["a"] = Seconds(1e-3); }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walks["a"] = Seconds(0.9e-6); }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.verify_walks["a"] = Seconds(1.1e-3); }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.tile_efficiency = 1.0; }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.tile_efficiency = 1.01; }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.tile_efficiency = -0.01; }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.row_tile = 1024.0; }) == 0);
    CHECK(attention_with([](AttentionKernels& k) { k.row_tile = 1025.0; }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.row_tile = -1.0; }) == 1);
    CHECK(attention_with([](AttentionKernels& k) { k.decode_walk = k.verify_walk = Seconds(0.0); }) == 1);
    CHECK(attention_with([](AttentionKernels& k) {
              k.decode_walk = k.verify_walk = Seconds(0.0);
              k.tile_efficiency = 0.5;
          }) == 0);
    const auto experts_with = [](double few_rows, double more_readings) {
        ExpertKernels kernels;
        kernels.title = "test";
        kernels.few_rows = few_rows;
        kernels.more_readings = more_readings;
        return problems_of(kernels).size();
    };
    CHECK(experts_with(1.0, 0.0) == 0);
    CHECK(experts_with(0.99, 0.0) == 1);
    CHECK(experts_with(1.0, 1000.0) == 0);
    CHECK(experts_with(1.0, 1001.0) == 1);
    CHECK(experts_with(1.0, -0.1) == 1);
}

TEST_CASE("how far a walk goes on a device: as measured there, as its multiprocessors let it, or as stated, by width") {
    Device device = plain_device();
    AttentionKernels kernels;
    kernels.verify_walk = Seconds(3e-6);
    CHECK(verify_walk_of(kernels, device, 256.0) == Seconds(3e-6));  // for any width
    kernels.walk_width = 64.0;
    CHECK(verify_walk_of(kernels, device, 256.0).value() == Approx(12e-6));
    kernels.tile_efficiency = 0.5;
    CHECK(verify_walk_of(kernels, device, 256.0).value() == Approx(12e-6));  // how many multiprocessors is unknown
    device.multiprocessors = 100.0;
    // A tile of 64 rows and heads 128 wide takes 4·64·128 FLOPs, at half of 20e12/100.
    const double tile = 4.0 * 64 * 128 / (0.5 * 20e12 / 100);
    kernels.row_tile = 64.0;
    CHECK(verify_walk_of(kernels, device, 128.0).value() == Approx(tile));
    kernels.row_tile = 128.0;
    CHECK(verify_walk_of(kernels, device, 64.0).value() == Approx(tile));
    kernels.row_tile = 0.0;
    CHECK(verify_walk_of(kernels, device, 256.0).value() == Approx(tile * 2 / 64));
    kernels.verify_walks["test"] = Seconds(1e-6);
    CHECK(verify_walk_of(kernels, device, 128.0).value() == Approx(2e-6));
}

TEST_CASE("a stack's shares and factors") {
    CHECK(stack_with([](Stack&) {}) == 0);
    CHECK(stack_with([](Stack& s) { s.kernels.metal_memory_efficiency = 1.0; }) == 0);
    CHECK(stack_with([](Stack& s) { s.kernels.metal_memory_efficiency = 1.01; }) == 1);
    CHECK(stack_with([](Stack& s) { s.kernels.metal_memory_efficiency = -0.1; }) == 1);
    const auto curve = [](RowCurve each) { return stack_with([&](Stack& s) { s.kernels.row_curves = {each}; }); };
    CHECK(curve({.few_rows = 1024.0}) == 0);
    CHECK(curve({.few_rows = 1025.0}) == 1);
    CHECK(curve({.few_rows = 0.5}) == 1);
    CHECK(curve({.few_rows_speed = 1000.0}) == 0);
    CHECK(curve({.few_rows_speed = 1001.0}) == 1);
    CHECK(curve({.reads_per_row = -1.0}) == 1);
    CHECK(curve({.few_rows_speed = 1.0, .reads_per_row = 1.0}) == 1);
    CHECK(curve({.tile = 1024.0}) == 0);
    CHECK(curve({.matrix_tile = 1025.0}) == 1);
    CHECK(curve({.tile = 0.5}) == 1);
    const auto condition = [](const char* number) { return stack_with([&](Stack& s) { s.conditions = {{number, {}, {}}}; }); };
    CHECK(condition("host_per_tree") == 0);
    CHECK(condition("graph_node_cost") == 0);
    CHECK(condition("host_per_pass") == 1);  // every stack states it
    CHECK(condition("step_error") == 1);     // nothing holds without it
    CHECK(condition("host_per_bush") == 1);
    const auto launches = [](double factor) {
        return stack_with([&](Stack& s) { s.launching.launch_factors = {{"norm", factor}}; });
    };
    CHECK(launches(1000.0) == 0);
    CHECK(launches(1001.0) == 1);
    CHECK(launches(0.0) == 1);
    CHECK(launches(infinite) == 1);
    const auto reserves = [](double first, double second) {
        return stack_with([&](Stack& s) {
            s.memory.memory_reserves = {{Bytes(first), {}, {}, {}, {}}, {Bytes(second), {}, {}, {}, {}}};
        });
    };
    CHECK(reserves(1.0, 2.0) == 0);
    CHECK(reserves(2.0, 2.0) == 1);
    CHECK(stack_with([](Stack& s) { s.kernels.linear_speed[0].memory = 0.0; }) == 1);
    CHECK(stack_with([](Stack& s) { s.kernels.linear_speed[1].compute = 1001.0; }) == 1);
    const auto calibrated = [](auto change) {
        return stack_with([&](Stack& s) {
            s.kernels.calibrated.emplace();
            change(*s.kernels.calibrated);
        });
    };
    CHECK(calibrated([](CalibratedNumbers& n) { n.kernel_startup = Seconds(0.01); }) == 0);
    CHECK(calibrated([](CalibratedNumbers& n) { n.kernel_startup = Seconds(0.0101); }) == 1);
    CHECK(calibrated([](CalibratedNumbers& n) { n.kernel_startup = Seconds(-1e-9); }) == 1);
    CHECK(calibrated([](CalibratedNumbers& n) { n.expert_speed = 0.0; }) == 1);
    CHECK(calibrated([](CalibratedNumbers& n) { n.launch_factor = 0.0; }) == 1);
    CHECK(calibrated([](CalibratedNumbers& n) { n.linear_speed[0].compute = 0.0; }) == 1);
    CHECK(stack_with([](Stack& s) { s.serving.prefill_tokens = 1.0; }) == 0);
    CHECK(stack_with([](Stack& s) { s.serving.prefill_tokens = 0.99; }) == 1);
}

TEST_CASE("measured loads within what a load can be") {
    const auto load_with = [](auto change) {
        MeasuredLoads measured;
        measured.loads.resize(1);
        measured.loads[0].ratio = 1.0;
        change(measured);
        return problems_of(measured).size();
    };
    CHECK(load_with([](MeasuredLoads&) {}) == 0);
    for (const double reach : {0.01, 10.0}) {
        CHECK(load_with([&](MeasuredLoads& m) { m.reach = reach; }) == 0);
    }
    for (const double reach : {0.0099, 10.1}) {
        CHECK(load_with([&](MeasuredLoads& m) { m.reach = reach; }) == 1);
    }
    for (const double ratio : {0.01, 100.0}) {
        CHECK(load_with([&](MeasuredLoads& m) { m.loads[0].ratio = ratio; }) == 0);
    }
    for (const double ratio : {0.0099, 101.0}) {
        CHECK(load_with([&](MeasuredLoads& m) { m.loads[0].ratio = ratio; }) == 1);
    }
    CHECK(load_with([](MeasuredLoads& m) { m.loads[0].context = -1.0; }) == 1);
    CHECK(load_with([](MeasuredLoads& m) { m.loads[0].draft_tokens = -0.5; }) == 1);
    CHECK(load_with([](MeasuredLoads& m) { m.loads[0].batch = 0.99; }) == 1);
    const auto many = [&](int count) {
        return load_with([&](MeasuredLoads& m) {
            m.loads.clear();
            for (int i = 1; i <= count; ++i) {
                m.loads.push_back({static_cast<double>(i), 0.0, 0.0, Seconds(1.0), 1.0});
            }
        });
    };
    CHECK(many(64) == 0);
    CHECK(many(65) == 1);
}

TEST_CASE("acceptances within what an acceptance can be") {
    const auto wrong_positions = [](std::vector<double> positions) {
        return Acceptance::per_position(std::move(positions)).problems().size();
    };
    CHECK(wrong_positions({1.0, 1.0, 0.0}) == 0);
    CHECK(wrong_positions({0.5, 0.5}) == 0);
    CHECK(wrong_positions({0.5, 0.6}) >= 1);
    CHECK(wrong_positions({1.1}) >= 1);
    CHECK(wrong_positions({-0.1}) >= 1);
    CHECK(Acceptance::geometric(0.0).problems().empty());
    CHECK(Acceptance::geometric(1.0).problems().empty());
    CHECK(Acceptance::geometric(1.01).problems().size() == 1);
    CHECK(Acceptance::geometric(-0.01).problems().size() == 1);
    CHECK(Acceptance::falling(1.01).problems().size() == 1);
}

TEST_CASE("drafts that are accepted more often, or less, stay an acceptance") {
    const Acceptance half = Acceptance::per_position({0.8, 0.6, 0.1});
    CHECK(half.scaled(0.5).positions_to(3) == std::vector<double>{1.0, 0.4, 0.3, 0.05});
    CHECK(half.scaled(1.5).positions_to(3)[1] == 1.0);
    CHECK(half.scaled(1.5).positions_to(3)[2] == Approx(0.9));
    CHECK(half.scaled(3.0).positions_to(3)[2] == 1.0);
    CHECK(Acceptance::geometric(0.8).scaled(0.5).position(1) == Approx(0.4));
    CHECK(Acceptance::geometric(0.8).scaled(2.0).position(2) == 1.0);
    // Of 0, 1, 2 or 3 drafts with 0.2, 0.2, 0.5 and 0.1: mean 1.5, mean square 0.2 + 2 + 0.9.
    CHECK(half.variance(3) == Approx(3.1 - 2.25));
    CHECK(half.variance(1) == Approx(0.8 * 0.2));
}

TEST_CASE("a stack hides up to all of the shorter time, and its tiles hold at least one row") {
    CHECK(stack_with([](Stack& s) { s.kernels.unhidden = 1.0; }) == 0);
    CHECK(stack_with([](Stack& s) { s.kernels.unhidden = 1.01; }) == 1);
    const auto tile = [](double rows) { return stack_with([&](Stack& s) { s.kernels.row_curves = {{.tile = rows}}; }); };
    CHECK(tile(0.0) == 0);
    CHECK(tile(1.0) == 0);
    CHECK(tile(0.5) == 1);
    CHECK(tile(1024.0) == 0);
    CHECK(tile(1025.0) == 1);
}

TEST_CASE("where a device has neither the asked family of kernels nor one of ours, the first measured one stands in") {
    Calibration calibration;
    calibration.kernels = {{KernelClass::gemm, NumberFormat::bf16, KernelLaw{}, "one"},
                           {KernelClass::gemm, NumberFormat::bf16, KernelLaw{}, "two"}};
    CHECK(calibration.law(KernelClass::gemm, NumberFormat::bf16, "other") == &calibration.kernels[0].law);
    CHECK(calibration.law(KernelClass::gemm, NumberFormat::bf16, "two") == &calibration.kernels[1].law);
}

TEST_CASE("a device draws no more than its board, and no board a hundred kilowatts") {
    CHECK(device_with([](Device& d) { d.board_power = Watts(1e5); }) == 0);
    CHECK(device_with([](Device& d) { d.board_power = Watts(1.001e5); }) == 1);
    CHECK(device_with([](Device& d) { d.idle_power = Watts(1.001e5); }) == 1);
    const auto with_active = [](double active) {
        return device_with([&](Device& d) {
            d.board_power = Watts(300.0);
            d.idle_power = Watts(50.0);
            d.active_power = Watts(active);
        });
    };
    CHECK(with_active(250.0) == 0);
    CHECK(with_active(250.1) == 1);
}

}  // namespace limits_test
