// Are random numbers, quantiles and Student's distribution those of the textbooks?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "numerics/bisection.h"
#include "numerics/quantile.h"
#include "numerics/random.h"
#include "numerics/student_t.h"

namespace treeline::numerics::numerics_test {

TEST_CASE("quantiles of Student's distribution are those of the printed tables") {
    // Two-sided 95 %: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975.
    CHECK(student_t(0.95, 1) == Approx(12.706).epsilon(1e-4));
    CHECK(student_t(0.95, 2) == Approx(4.303).epsilon(1e-4));
    CHECK(student_t(0.95, 3) == Approx(3.182).epsilon(2e-4));
    CHECK(student_t(0.95, 10) == Approx(2.228).epsilon(2e-4));
    CHECK(student_t(0.95, 100) == Approx(1.984).epsilon(2e-4));
    // Column 0.995: 3.250 with 9 degrees of freedom.
    CHECK(student_t(0.99, 9) == Approx(3.250).epsilon(2e-4));
    // One degree of freedom is the Cauchy distribution: tan(π·0.99/2). Two: t = √2·p/√(1 − p²).
    CHECK(student_t(0.99, 1) == Approx(std::tan(0.99 * std::acos(-1.0) / 2.0)).epsilon(1e-9));
    CHECK(student_t(0.9, 2) == Approx(std::sqrt(2.0) * 0.9 / std::sqrt(1.0 - 0.81)).epsilon(1e-9));
    // Many: the normal distribution's 1.959964.
    CHECK(student_t(0.95, 1e7) == Approx(1.959964).epsilon(1e-6));
    CHECK(student_t_within(student_t(0.8, 4.0), 4.0) == Approx(0.8).epsilon(1e-12));
}

TEST_CASE("quantiles interpolate as numpy.quantile does") {
    const std::vector<double> values = {5.0, 1.0, 4.0, 2.0, 3.0, 10.0};
    CHECK(quantile(values, 0.0) == 1.0);
    CHECK(quantile(values, 0.5) == 3.5);
    CHECK(quantile(values, 0.9) == 7.5);  // place 4.5 of 0 … 5: between 5 and 10
    CHECK(quantile(values, 1.0) == 10.0);
    CHECK(quantile({}, 0.5) == 0.0);
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(quantile({infinite, 1.0, infinite}, 0.0) == 1.0);
    CHECK(quantile({infinite, 1.0, infinite}, 0.5) == infinite);
}

TEST_CASE("bisection keeps the root in its bracket") {
    const Bracket root = bisect({0.0, 2.0}, 30, [](double x) { return x * x < 2.0; });
    CHECK(root.low <= std::sqrt(2.0));
    CHECK(root.high >= std::sqrt(2.0));
    CHECK(root.high - root.low == std::ldexp(2.0, -30));
}

TEST_CASE("random words are those of the authors' programs") {
    // splitmix64 from state 0: its first output, as printed in the tests of many implementations.
    CHECK(mixed(0) == 0xe220a8397b1dcdafu);
    // The same numbers on every machine: these were printed once (xoshiro256** from splitmix64's first four words, seed 42).
    Random random(42);
    const std::uint64_t first = random.bits(), second = random.bits();
    CHECK(first == 1546998764402558742u);
    CHECK(second == 6990951692964543102u);
}

TEST_CASE("distributions have their means and variances") {
    Random random(7, 1);
    constexpr int draws = 200'000;
    double uniform = 0.0, exponential = 0.0, normal = 0.0, square = 0.0, geometric = 0.0, once = 0.0;
    for (int i = 0; i < draws; ++i) {
        uniform += random.uniform() / draws;
        exponential += random.exponential(4.0) / draws;
        const double value = random.normal();
        normal += value / draws;
        square += value * value / draws;
        const int trials = random.geometric(5.0);
        geometric += static_cast<double>(trials) / draws;
        once += (trials == 1 ? 1.0 : 0.0) / draws;
    }
    // Five standard errors: deviations √(1/12), 1/4, 1, √2, √20 and √(0.2 · 0.8), over √200 000.
    CHECK(uniform == Approx(0.5).margin(0.0033));
    CHECK(exponential == Approx(0.25).margin(0.0028));
    CHECK(normal == Approx(0.0).margin(0.0112));
    CHECK(square == Approx(1.0).margin(0.0159));
    CHECK(geometric == Approx(5.0).margin(0.05));
    CHECK(once == Approx(0.2).margin(0.0045));
    CHECK(random.draw(CountDistribution({1.0})) == 0);
    CHECK(CountDistribution({0.25, 0.5, 0.25}).at(0.5) == 1);
    CHECK(CountDistribution({0.25, 0.5, 0.25}).at(0.75) == 2);
}

TEST_CASE("every order of a shuffle is equally likely, and streams of a seed differ") {
    std::map<std::vector<int>, int> seen;
    Random random(3);
    for (int i = 0; i < 24'000; ++i) {
        std::vector<int> values = {1, 2, 3, 4};
        random.shuffle(values);
        ++seen[values];
    }
    REQUIRE(seen.size() == 24);
    for (const auto& [order, count] : seen) {
        CHECK(std::abs(count - 1000) < 155);  // five standard errors: √(1000 · 23/24)
    }
    CHECK(Random(3, 0).bits() != Random(3, 1).bits());
    CHECK(Random(3, 0).bits() == Random(3, 0).bits());
}

}  // namespace treeline::numerics::numerics_test
