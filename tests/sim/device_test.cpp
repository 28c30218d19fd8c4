// Which peak a format gets, and which devices and stacks are refused.
#include <catch2/catch.hpp>

#include <limits>
#include <stdexcept>

#include "sim/device.h"
#include "sim/stack.h"

namespace device_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

Device plain_device() {
    Device device;
    device.name = device.title = "test";
    device.memory = Bytes(80e9);
    device.bandwidth = BytesPerSecond(2e12);
    device.peak[0] = FlopsPerSecond(20e12);  // fp32
    return device;
}

FlopsPerSecond& native(Device& device, NumberFormat format) {
    for (std::size_t i = 0; i < all_number_formats.size(); ++i) {
        if (all_number_formats[i] == format) {
            return device.peak[i];
        }
    }
    throw std::logic_error("no such format");
}

}  // namespace

TEST_CASE("a format without units of its own runs in the next wider one that holds it", "[sim]") {
    using enum NumberFormat;
    Device device = plain_device();
    for (const NumberFormat format : all_number_formats) {
        CHECK(device.peak_for(format).value() == 20e12);  // only fp32 is there
    }
    native(device, fp16) = FlopsPerSecond(100e12);
    CHECK(device.peak_for(bf16).value() == 100e12);  // the 16-bit formats stand in for each other
    CHECK(device.peak_for(fp8).value() == 100e12);
    CHECK(device.peak_for(fp32).value() == 20e12);
    native(device, bf16) = FlopsPerSecond(110e12);
    CHECK(device.peak_for(fp16).value() == 100e12);
    CHECK(device.peak_for(int4).value() == 110e12);

    native(device, int8) = FlopsPerSecond(300e12);
    CHECK(device.peak_for(int8).value() == 300e12);
    CHECK(device.peak_for(int4).value() == 300e12);
    CHECK(device.peak_for(fp8).value() == 110e12);  // integers cannot hold floating-point products
    CHECK(device.peak_for(fp4).value() == 110e12);

    native(device, int8) = FlopsPerSecond(0.0);
    native(device, fp8) = FlopsPerSecond(200e12);
    CHECK(device.peak_for(int8).value() == 200e12);
    CHECK(device.peak_for(fp4).value() == 110e12);  // kernels widen fp4 weights to 16 bits, not to fp8
    native(device, fp4) = FlopsPerSecond(400e12);
    CHECK(device.peak_for(fp4).value() == 400e12);
    CHECK(device.computed_in(fp4) == fp4);
    CHECK(device.computed_in(int4) == fp8);
}

TEST_CASE("a stated operational intensity wins over peak / bandwidth", "[sim]") {
    Device device = plain_device();
    CHECK(device.intensity_for(NumberFormat::bf16).value() == 10.0);  // 20e12 / 2e12
    device.operational_intensity = FlopsPerByte(500.0);
    CHECK(device.intensity_for(NumberFormat::bf16).value() == 500.0);
}

TEST_CASE("a valid device and stack have no problems", "[sim]") {
    CHECK(problems_of(plain_device()).empty());
    Stack stack;
    stack.name = stack.title = "none";
    CHECK(problems_of(stack).empty());
}

TEST_CASE("each broken constraint of a device is a sentence", "[sim]") {
    const auto problem_after = [](auto change) {
        Device device = plain_device();
        change(device);
        const std::vector<std::string> problems = problems_of(device);
        REQUIRE(problems.size() == 1);
        return problems[0];
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(problem_after([](Device& d) { d.title = ""; }) == "title must not be empty");
    CHECK(problem_after([&](Device& d) { d.cache = Bytes(nan); }) == "cache must be zero (unknown) or above");
    CHECK(problem_after([](Device& d) { d.reserved = Bytes(81e9); }) == "reserved_memory must be smaller than memory");
    CHECK(problem_after([](Device& d) { d.peak[0] = FlopsPerSecond(0); }) ==
          "peak.fp32 must be stated: it is the format that every other one can fall back to");
    // 20e12 FLOP/s · 1000 over 2e12 B/s = 1e4 is high but possible; a million times the bandwidth is not.
    CHECK_THAT(problem_after([](Device& d) { d.peak[1] = FlopsPerSecond(2e18); }),
               Catch::Contains("peak.bf16 and memory_bandwidth do not go together"));
    CHECK_THAT(problem_after([](Device& d) { d.memory = Bytes(1e15); }), Catch::Contains("would take 500.0"));  // 1e15 / 2e12
    // 20e12 FLOP/s over 2000e12 B/s: 0.01 FLOP a byte.
    CHECK_THAT(problem_after([](Device& d) {
                   d.bandwidth = BytesPerSecond(2e15);
                   d.peak.fill(FlopsPerSecond(0));
                   d.peak[0] = FlopsPerSecond(2e15);
               }),
               Catch::Contains("memory_bandwidth is too high for the peaks: the fastest format makes 1.0"));
    CHECK(problem_after([](Device& d) {
              d.idle_power = Watts(500);
              d.board_power = Watts(400);
          }) == "idle_power must be below board_power");
    CHECK_THAT(problem_after([](Device& d) { d.energy_per_byte = JoulesPerByte(1e-11); }), Catch::Contains("stated together"));
    CHECK(problem_after([](Device& d) { d.operational_intensity = FlopsPerByte(0); }) ==
          "operational_intensity must be above zero");
    CHECK_THAT(problem_after([](Device& d) {
                   d.interconnects = {{"slow", BytesPerSecond(1e9), Seconds(1e-5), 0.0, ""},
                                      {"fast", BytesPerSecond(2e9), Seconds(1e-5), 0.0, ""}};
               }),
               Catch::Contains("list the fastest first"));
    CHECK_THAT(problem_after([](Device& d) {
                   d.interconnects = {{"link", BytesPerSecond(2e9), Seconds(0), 0.0, ""},
                                      {"link", BytesPerSecond(1e9), Seconds(0), 0.0, ""}};
               }),
               Catch::Contains("is used twice: link"));
}

TEST_CASE("all broken constraints come at once", "[sim]") {
    CHECK(problems_of(Device()).size() == 5);  // name, title, memory, memory_bandwidth, peak.fp32
    Stack stack;
    stack.launching.host_launch = Seconds(-1);
    stack.launching.launch_factor = 0;
    CHECK(problems_of(stack).size() == 4);  // name, title, host_launch, launch_factor
}

TEST_CASE("a bandwidth that is too high is told in the terms of the device", "[sim]") {
    const auto text = [](DeviceKind kind) {
        Device device = plain_device();
        device.kind = kind;
        device.peak[0] = FlopsPerSecond(0.3e12);
        REQUIRE(problems_of(device).size() == 1);
        return problems_of(device).front();
    };
    CHECK_THAT(text(DeviceKind::gpu), Catch::Contains("makes 0.15") && Catch::Contains("but a GPU makes at least 2;"));
    CHECK_THAT(text(DeviceKind::cpu), Catch::Contains("makes 0.15") && Catch::Contains("but a CPU makes at least 0.2;"));
    Device no_bandwidth = plain_device();
    no_bandwidth.bandwidth = BytesPerSecond(0.0);
    CHECK(problems_of(no_bandwidth).size() == 2);  // it must be above zero, and memory would never be read; peaks say nothing
}

TEST_CASE("what a device draws idle, while it serves and at most goes together", "[sim]") {
    const auto wrong = [](double idle, double active, double board, double limit = 0.0) {
        Device device = plain_device();
        device.idle_power = Watts(idle);
        device.active_power = Watts(active);
        device.board_power = Watts(board);
        device.power_limit = Watts(limit);
        return problems_of(device).size();
    };
    CHECK(wrong(50.0, 0.0, 0.0) == 0);
    CHECK(wrong(50.0, 100.0, 0.0) == 0);  // the board's power is unknown
    CHECK(wrong(50.0, 100.0, 150.0) == 0);
    CHECK(wrong(50.0, 100.0, 149.0) == 1);
    CHECK(wrong(50.0, 100.0, 149.0, 149.0) == 0);  // a limit that holds cuts what it draws
    CHECK(wrong(150.0, 10.0, 150.0) == 1);         // said once: idle_power is not below board_power
    CHECK(wrong(0.0, 100.0, 150.0) == 1);          // beside what?
    CHECK(wrong(0.0, 0.0, 1e5) == 0);
    CHECK(wrong(0.0, 0.0, 1.01e5) == 1);
    CHECK(wrong(1e5, 0.0, 0.0) == 0);
    CHECK(wrong(1.01e5, 0.0, 0.0) == 1);
}

TEST_CASE("a single point of power is that of its limit, and of every lower one", "[sim]") {
    Device device = plain_device();
    device.power_limits = {{Watts(200.0), 0.8, 0.5}};
    CHECK(under_power_limit(device, Watts(200.0)).bandwidth.value() == Approx(0.8 * 2e12));
    CHECK(under_power_limit(device, Watts(200.0)).peak[0].value() == Approx(0.5 * 20e12));
    CHECK(under_power_limit(device, Watts(201.0)).bandwidth.value() == Approx(2e12));
    CHECK(under_power_limit(device, Watts(201.0)).peak[0].value() == Approx(20e12));
    device.power_limits = {PowerPoint{Watts(200.0)}};  // what is not stated is not lost
    CHECK(under_power_limit(device, Watts(200.0)).bandwidth.value() == 2e12);
    CHECK(under_power_limit(device, Watts(200.0)).peak[0].value() == 20e12);
}

}  // namespace device_test
