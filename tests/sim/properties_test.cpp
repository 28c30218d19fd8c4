// What must hold of any model on any device, drawn at random: no figure here comes from a calculation by hand.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <string>

#include "random_setup.h"
#include "sim/round_grid.h"

namespace properties_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr int draws = 150;

std::string bytes_of_draw(unsigned seed) {
    std::mt19937 random(seed);
    std::string bytes(96, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random() % 256);
    }
    return bytes;
}

RoundEstimate estimate(const RandomPoint& random) { return evaluate(compile_round(random.setup), random.point); }

/// Calls check(point, its estimate) for points that can be priced.
template <class Check>
void for_random_points(unsigned first_seed, Check check) {
    int priced = 0;
    for (unsigned seed = first_seed; seed < first_seed + draws; ++seed) {
        const RandomPoint random = random_point(bytes_of_draw(seed));
        if (compile_round(random.setup).runs(random.point.speculation)) {
            CAPTURE(seed);
            check(random, estimate(random));
            ++priced;
        }
    }
    CHECK(priced > draws / 2);
}

}  // namespace

TEST_CASE("a better device is never slower, whatever the model") {
    for_random_points(1, [](const RandomPoint& random, const RoundEstimate& base) {
        for (const double factor : {1.001, 1.7, 30.0}) {
            RandomPoint memory = random, compute = random, both = random;
            memory.setup.platform.device.bandwidth *= factor;
            both.setup.platform.device.bandwidth *= factor;
            for (RandomPoint* changed : {&compute, &both}) {
                for (FlopsPerSecond& peak : changed->setup.platform.device.peak) {
                    peak *= factor;
                }
            }
            CHECK(estimate(memory).round <= base.round);
            CHECK(estimate(compute).round <= base.round);
            CHECK(estimate(both).round <= estimate(memory).round);
            CHECK(estimate(both).round <= estimate(compute).round);
        }
    });
}

TEST_CASE("more sequences and more context never take less time") {
    for_random_points(1000, [](const RandomPoint& random, const RoundEstimate& base) {
        RandomPoint wider = random, longer = random;
        wider.point.batch *= 1.5;
        longer.point.context *= 1.5;
        CHECK(estimate(wider).round >= base.round);
        CHECK(estimate(longer).round >= base.round);
    });
}

TEST_CASE("nothing drafted is plain decoding") {
    for_random_points(2000, [](RandomPoint random, const RoundEstimate&) {
        random.point.speculation = 0;
        const RoundEstimate plain = estimate(random);
        CHECK(plain.throughput_multiplier == 1.0);
        CHECK(plain.accept_length == 1.0);
        CHECK(plain.draft == Seconds(0.0));
        CHECK(plain.rollback == Seconds(0.0));
    });
}

TEST_CASE("more acceptance never loses") {
    for_random_points(3000, [](RandomPoint random, const RoundEstimate&) {
        if (random.point.speculation == 0) {
            return;
        }
        double before = 0.0;
        for (const double acceptance : {0.0, 0.3, 0.31, 0.6, 0.9, 1.0}) {
            random.setup.acceptance = Acceptance::geometric(acceptance);
            const double speedup = estimate(random).throughput_multiplier;
            CHECK(speedup >= before * (1.0 - 1e-12));
            before = speedup;
        }
    });
}

TEST_CASE("a device twice as fast in everything takes half the time") {
    for_random_points(4000, [](RandomPoint random, const RoundEstimate& base) {
        random.setup.platform.device.bandwidth *= 2.0;
        for (FlopsPerSecond& peak : random.setup.platform.device.peak) {
            peak *= 2.0;
        }
        random.setup.platform.stack.passes.host_per_pass = random.setup.platform.stack.passes.host_per_pass * 0.5;
        CHECK(estimate(random).round.value() == Approx(0.5 * base.round.value()).epsilon(1e-9));
    });
}

TEST_CASE("a point does not depend on the other speculations of its setup") {
    for_random_points(5000, [](const RandomPoint& random, const RoundEstimate& base) {
        RandomPoint longer = random;
        longer.setup.speculations = chains_up_to(random.point.speculation + 3);
        if (!problems_of(longer.setup).empty() || !compile_round(longer.setup).runs(longer.point.speculation)) {
            return;
        }
        const RoundEstimate other = estimate(longer);
        CHECK(other.round == base.round);
        CHECK(other.verify == base.verify);
        CHECK(other.throughput_multiplier == base.throughput_multiplier);
    });
}

}  // namespace properties_test
