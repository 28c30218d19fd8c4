// Are the conditions of a measurement read, compared and put together as the protocol needs them?
#include <catch2/catch.hpp>

#include "calibrate/measure/conditions.h"

using namespace treeline;

namespace {

Conditions conditions(double read, double launch, double clock) {
    Conditions result;
    result.read = read;
    result.launch = launch;
    result.clock = clock;
    return result;
}

}  // namespace

TEST_CASE("a block is steady while memory, cores and clock stay as they are") {
    const ConditionLimits limits;
    const Conditions before = conditions(1e-3, 4e-7, 3e9);
    CHECK(is_steady(before, conditions(1.01e-3, 4.4e-7, 2.9e9), limits));
    CHECK_FALSE(is_steady(before, conditions(1.05e-3, 4e-7, 3e9), limits));  // a neighbour takes bandwidth
    CHECK_FALSE(is_steady(before, conditions(1e-3, 8e-7, 3e9), limits));     // cores were moved apart
    CHECK_FALSE(is_steady(before, conditions(1e-3, 4e-7, 2.6e9), limits));   // the clock fell
    CHECK(is_steady(before, conditions(1e-3, 4e-7, 3.5e9), limits));         // it rose: nothing is lost
}

TEST_CASE("conditions are typical near those that most blocks saw; what is unknown is never untypical") {
    const ConditionLimits limits;
    const Conditions typical = typical_of({conditions(1e-3, 4e-7, 0.0), conditions(5e-3, 9e-7, 0.0),
                                           conditions(1.02e-3, 4.2e-7, 0.0), conditions(1.04e-3, 4.1e-7, 0.0)},
                                          limits);
    CHECK(typical.read == 1.02e-3);
    CHECK(typical.launch == 4.1e-7);
    CHECK(is_typical(conditions(1.05e-3, 4e-7, 0.0), typical, limits));
    CHECK_FALSE(is_typical(conditions(1.2e-3, 4e-7, 0.0), typical, limits));
    CHECK_FALSE(is_typical(conditions(1e-3, 8e-7, 0.0), typical, limits));
    CHECK(is_typical(conditions(1.2e-3, 8e-7, 0.0), typical_of({}, limits), limits));
}

TEST_CASE("a machine that changes between two states is typical in one of them, not between") {
    std::vector<Conditions> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(conditions(1.6e-3 + 1e-5 * i, 1.05e-6, 3.7e9));
        all.push_back(conditions(2.8e-3 + 1e-5 * i, 5.4e-7, 3.7e9));
    }
    all.push_back(conditions(2.8e-3, 5.4e-7, 3.7e9));
    const Conditions typical = typical_of(all, {});
    CHECK(typical.read == Approx(2.84e-3));
    CHECK(typical.launch == 5.4e-7);
}

TEST_CASE("a core's clock is that of some computer") {
    const double clock = core_clock();
    CHECK(clock > 2e8);
    CHECK(clock < 2e10);
}

TEST_CASE("the sentinel reads memory and launches") {
    const Conditions read = Sentinel({&kernels::cpu_backend(), false, {}}, std::size_t{1} << 22).read();
    CHECK(read.read > 1e-6);
    CHECK(read.launch > 1e-9);
    CHECK(read.clock > 0.0);
}

TEST_CASE("waiting ends when conditions are typical, or the time is up") {
    const Sentinel sentinel({&kernels::cpu_backend(), false, {}}, std::size_t{1} << 20);
    CHECK(sentinel.wait_for({}, {}, 0.0));
    CHECK_FALSE(sentinel.wait_for(conditions(1e3, 0.0, 0.0), {}, 0.05));
}

TEST_CASE("clock and temperature of a GPU come from its driver's library, or from nowhere") {
    const GpuSensors known = gpu_sensors("0000:3b:00.0", TREELINE_NVML_STAND_IN);
    CHECK(known.clock == 1.755e9);
    REQUIRE(known.temperature);
    CHECK(*known.temperature == 41.0);
    const GpuSensors other = gpu_sensors("0000:af:00.0", TREELINE_NVML_STAND_IN);
    CHECK(other.clock == 0.0);
    CHECK_FALSE(other.temperature);
    CHECK(gpu_sensors("0000:3b:00.0", "no-such-library.so").clock == 0.0);
}
