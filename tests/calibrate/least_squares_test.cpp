// Are the least squares those of the textbooks?
#include <catch2/catch.hpp>

#include <cmath>

#include "calibrate/least_squares.h"

namespace least_squares_test {

using namespace treeline;
using namespace treeline::calibrate;

TEST_CASE("a weighted mean by hand") {
    // Weights 1 and 3: (1·10 + 3·20)/4 = 17.5; (XᵀWX)⁻¹ = 1/4.
    WeightedRows rows;
    rows.add({1.0}, 10.0, 1.0);
    rows.add({1.0}, 20.0, 3.0);
    const auto solution = solve(rows);
    REQUIRE(solution);
    CHECK(solution->coefficients[0] == Approx(17.5));
    CHECK(solution->inverse_normal[0] == Approx(0.25));
}

TEST_CASE("a weight counts as that many rows") {
    WeightedRows once, thrice;
    for (const double x : {1.0, 2.0, 5.0}) {
        once.add({1.0, x, x * x * x}, std::sin(x), x == 2.0 ? 3.0 : 1.0);
        for (int copy = 0; copy < (x == 2.0 ? 3 : 1); ++copy) {
            thrice.add({1.0, x, x * x * x}, std::sin(x), 1.0);
        }
    }
    const auto a = solve(once), b = solve(thrice);
    REQUIRE((a && b));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(a->coefficients[i] == Approx(b->coefficients[i]).epsilon(1e-9));
    }
    for (std::size_t i = 0; i < 9; ++i) {
        CHECK(a->inverse_normal[i] == Approx(b->inverse_normal[i]).epsilon(1e-9));
    }
}

TEST_CASE("columns of very different size lose no digits") {
    // y = 3 + 2e-9·x with x around 1e6.
    WeightedRows rows;
    for (int i = 0; i < 10; ++i) {
        const double x = 1e6 + i;
        rows.add({1.0, x}, 3.0 + 2e-9 * x, 1.0);
    }
    const auto solution = solve(rows);
    REQUIRE(solution);
    CHECK(solution->coefficients[0] + solution->coefficients[1] * 1e6 == Approx(3.002).epsilon(1e-12));
}

TEST_CASE("what is not determined has no solution") {
    WeightedRows too_few;
    too_few.add({1.0, 2.0}, 1.0, 1.0);
    CHECK_FALSE(solve(too_few));
    WeightedRows dependent;
    for (int i = 0; i < 5; ++i) {
        dependent.add({1.0, 4.0}, 1.0 + i, 1.0);
    }
    CHECK_FALSE(solve(dependent));
    CHECK_FALSE(solve(WeightedRows{}));
}

}  // namespace least_squares_test
