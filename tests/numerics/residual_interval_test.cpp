// Are intervals from residuals the quantiles that weights say, and do they hold what they promise?
#include <catch2/catch.hpp>

#include <cmath>

#include "numerics/random.h"
#include "numerics/residual_interval.h"

namespace residual_interval_test {

using namespace treeline;
using namespace treeline::numerics;

namespace {

CaseResidual residual(const std::string& engine, int level, const std::string& source, double ratio) {
    return {{{engine, "device", "dense"}, level}, source, ratio};
}

}  // namespace

TEST_CASE("classes of batches", "[residuals]") {
    CHECK(level_of_batch(1.0) == 0);
    CHECK(level_of_batch(2.0) == 1);
    CHECK(level_of_batch(16.0) == 2);
    CHECK(level_of_batch(64.0) == 3);
    CHECK(level_of_batch(65.0) == 4);
}

TEST_CASE("all rows of a source have one vote together", "[residuals]") {
    std::vector<CaseResidual> residuals;
    for (int i = 0; i < 81; ++i) {
        residuals.push_back(residual("a", 0, "many", 2.0));
    }
    for (int i = 1; i <= 9; ++i) {
        residuals.push_back(residual("a", 0, "one " + std::to_string(i), 0.1 * i));
    }
    // Ten sources of weight 1: 0.1 … 0.9, then 2. Of nominal 0.6, the middle 0.3 on either side grow to 0.33: from 0.17, which
    // the second source holds, to 0.83, which the ninth does.
    const ResidualInterval interval = residual_interval(residuals, residuals.front().traits, 0.6);
    CHECK(interval.low == Approx(0.2));
    CHECK(interval.high == Approx(0.9));
    CHECK(interval.cases == 90);
    CHECK(interval.sources == 10);
    // 80 % of ten sources: 0.5 ± 0.44 ends within the first and the last.
    const ResidualInterval most = residual_interval(residuals, residuals.front().traits);
    CHECK(most.low == Approx(0.1));
    CHECK(most.high == 2.0);
    CHECK(residual_quantile(residuals, residuals.front().traits, 0.89) == Approx(0.9));
    CHECK(residual_quantile(residuals, residuals.front().traits, 0.91) == 2.0);
}

TEST_CASE("cases that are alike weigh more, batches far off less", "[residuals]") {
    const std::vector<CaseResidual> residuals = {residual("a", 0, "a", 0.5), residual("b", 0, "b", 1.0),
                                                 residual("b", 2, "c", 1.5)};
    // For engine a at level 0: weights 8 (three traits alike), 4 and 4 times 0.16; a quantile below 8/12.64 is a's.
    CHECK(residual_quantile(residuals, {{"a", "device", "dense"}, 0}, 0.63) == 0.5);
    CHECK(residual_quantile(residuals, {{"a", "device", "dense"}, 0}, 0.64) == 1.0);
    // For engine b at level 2: 4 times 0.16, 8 times 0.16 and 8, of 9.92 in all.
    CHECK(residual_quantile(residuals, {{"b", "device", "dense"}, 2}, 0.2) == 1.5);
    CHECK(residual_quantile(residuals, {{"b", "device", "dense"}, 2}, 0.19) == 1.0);
    CHECK(residual_quantile(residuals, {{"b", "device", "dense"}, 2}, 0.06) == 0.5);
    // An engine that no stack describes says a quarter as much of one that has its own: 2, 4 and 0.64, of 6.64.
    std::vector<CaseResidual> described = residuals;
    described.front().traits.own_stack = false;
    CHECK(residual_quantile(described, {{"a", "device", "dense"}, 0}, 0.30) == 0.5);
    CHECK(residual_quantile(described, {{"a", "device", "dense"}, 0}, 0.31) == 1.0);
}

TEST_CASE("an interval from other deployments of one kind holds its nominal share", "[residuals]") {
    Random random(1, 2);
    int inside = 0, all = 0;
    for (int trial = 0; trial < 40; ++trial) {
        std::vector<CaseResidual> residuals;
        for (int deployment = 0; deployment < 60; ++deployment) {
            const double own = std::exp(0.2 * (random.uniform() + random.uniform() + random.uniform() - 1.5));
            residuals.push_back(residual("a", 1, std::to_string(deployment), own));
        }
        const CaseResidual left_out = residuals.back();
        residuals.pop_back();
        const ResidualInterval interval = residual_interval(residuals, left_out.traits);
        for (int i = 0; i < 25; ++i) {
            const double own = std::exp(0.2 * (random.uniform() + random.uniform() + random.uniform() - 1.5));
            inside += interval.low <= own && own <= interval.high ? 1 : 0;
            ++all;
        }
    }
    CHECK(static_cast<double>(inside) / all == Approx(0.8).margin(0.04));
}

TEST_CASE("chances are those of the interval: a tenth lies below its lower end, and a tenth above its upper one",
          "[residuals]") {
    Random random(3, 4);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<CaseResidual> residuals;
        const int sources = 1 + static_cast<int>(12.0 * random.uniform());
        for (int i = 0; i < 60; ++i) {
            const std::string source = std::to_string(static_cast<int>(sources * random.uniform()));
            residuals.push_back(residual(i % 3 == 0 ? "a" : "b", i % 5, source, std::exp(random.uniform() - 0.5)));
        }
        const CaseTraits of = {{"a", "device", "dense"}, 1};
        const ResidualInterval interval = residual_interval(residuals, of);
        const ResidualShares shares(residuals, of);
        const bool is_whole = interval.sources < 4;  // then the interval holds all that was seen
        CHECK(shares.below(interval.low) <= 0.1 + 1e-9 + (is_whole ? 0.4 : 0.0));
        CHECK(shares.below(std::nextafter(interval.high, 2.0 * interval.high)) >= 0.9 - 1e-9 - (is_whole ? 0.4 : 0.0));
    }
}

}  // namespace residual_interval_test
