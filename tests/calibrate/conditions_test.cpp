// Are the conditions of a measurement read, compared and put together as the protocol needs them?
#include <catch2/catch.hpp>

#include "calibrate/measure/conditions.h"

namespace conditions_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

Conditions conditions(double read, double launch, double clock) {
    Conditions result;
    result.read = read;
    result.launch = launch;
    result.clock = clock;
    return result;
}

}  // namespace

TEST_CASE("a machine is in a state while its cores meet as fast, at the same clock") {
    const ConditionLimits limits;
    const Conditions state = conditions(1e-3, 4e-7, 3e9);
    CHECK(is_of_state(conditions(1.1e-3, 5e-7, 2.9e9), state, limits));
    CHECK_FALSE(is_of_state(conditions(1e-3, 8e-7, 3e9), state, limits));  // cores were moved apart
    CHECK_FALSE(is_of_state(conditions(1e-3, 2e-7, 3e9), state, limits));
    CHECK_FALSE(is_of_state(conditions(1e-3, 4e-7, 2.6e9), state, limits));  // the clock fell
    CHECK(is_of_state(conditions(1e-3, 4e-7, 3.5e9), state, limits));        // it rose: nothing is lost
    CHECK(is_of_state({}, state, limits));                                   // nothing is known
}

TEST_CASE("a machine that changes between two states is seen in both, not between") {
    std::vector<Conditions> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(conditions(1.6e-3 + 1e-5 * i, 1.05e-6 + 1e-8 * i, 3.7e9));
        all.push_back(conditions(2.8e-3 + 1e-5 * i, 5.4e-7, 3.7e9));
    }
    all.push_back(conditions(2.9e-3, 5.4e-7, 3.7e9));
    all.push_back(conditions(9e-3, 4e-6, 3.7e9));  // once: no state
    const std::vector<Conditions> states = states_of(all, {});
    REQUIRE(states.size() == 2);
    CHECK(states[0].launch == 5.4e-7);
    CHECK(states[0].read == Approx(2.9e-3));
    CHECK(states[1].launch == Approx(1.145e-6));
    CHECK(is_of_state(conditions(9.0, 6e-7, 3.7e9), states[0], {}));
    CHECK_FALSE(is_of_state(conditions(2.8e-3, 1e-6, 3.7e9), states[0], {}));
    CHECK(states_of({}, {}).empty());
    CHECK(states_of({{}, {}}, {}).size() == 1);  // a GPU's launches are not asked
}

TEST_CASE("a core's clock is that of some computer") {
    const double clock = core_clock(5, 200'000);
    CHECK(clock > 2e8);
    CHECK(clock < 2e10);
}

TEST_CASE("the sentinel reads memory and launches, and glances at launches alone") {
    Sentinel sentinel({&kernels::cpu_backend(), false, {}}, std::size_t{1} << 22);
    const Conditions read = sentinel.read();
    CHECK(read.read > 1e-6);
    CHECK(read.launch > 1e-9);
    CHECK(read.clock > 0.0);
    const Conditions glance = sentinel.glance();
    CHECK(glance.launch > 1e-9);
    CHECK(glance.clock > 0.0);
    CHECK(glance.read == 0.0);
    CHECK(sentinel.glance().launch == glance.launch);  // told again
}

TEST_CASE("clock, temperature and power of a GPU come from its driver's library, in one session, or from nowhere") {
    GpuMonitor monitor("0000:3b:00.0", TREELINE_NVML_STAND_IN);
    const GpuSensors known = monitor.read();
    CHECK(known.clock == 1.755e9);
    REQUIRE(known.temperature);
    CHECK(*known.temperature == 41.0);
    CHECK(known.power == 412.5);
    CHECK(known.throttles);  // by the power cap
    const GpuLimits limits = monitor.limits();
    CHECK(limits.power == 500.0);
    CHECK(limits.most_power == 700.0);
    CHECK(limits.clock == 1.98e9);
    CHECK(monitor.lock_clock(limits.clock));
    CHECK(monitor.read().clock == 1.98e9);
    CHECK_FALSE(monitor.read().throttles);  // a clock that was asked for
}

TEST_CASE("a locked clock is given back, and what is unknown stays so") {
    // The monitor above is gone, and the stand-in takes one session at a time: this finds the GPU at its own clock.
    const GpuMonitor monitor("0000:3b:00.0", TREELINE_NVML_STAND_IN);
    CHECK(monitor.read().clock == 1.755e9);
    GpuMonitor missing("0000:3b:00.0", "no-such-library.so");
    CHECK(missing.read().clock == 0.0);
    CHECK_FALSE(missing.read().temperature);
    CHECK_FALSE(missing.read().throttles);
    CHECK(missing.limits().power == 0.0);
    CHECK_FALSE(missing.lock_clock(1e9));
}

TEST_CASE("a GPU that the driver's library does not know has no sensors") {
    const GpuMonitor other("0000:af:00.0", TREELINE_NVML_STAND_IN);
    CHECK(other.read().clock == 0.0);
    CHECK_FALSE(other.read().temperature);
}

}  // namespace conditions_test
