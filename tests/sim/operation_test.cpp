// Do the building blocks of an operation's cost equal their definitions, computed the slow way?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "sim/operation.h"

namespace operation_test {

using namespace treeline;
using namespace treeline::sim;

TEST_CASE("exp without libm is exp") {
    for (double x = 0.0; x > -30.0; x -= 0.013) {
        CHECK(exp_of_nonpositive(x) == Approx(std::exp(x)).epsilon(1e-9).margin(0.0));
    }
    CHECK(exp_of_nonpositive(-1e6) < 1e-13);
}

TEST_CASE("tokens seen equal a count token by token") {
    // Token i of n sees everything cached within reach and the new tokens up to itself, at most window + sink in all.
    for (const double window : {4.0, 100.0, 512.0, unlimited}) {
        for (const int cached : {0, 3, 4, 511, 512, 513, 5000}) {
            for (const int n : {1, 2, 5, 16, 700}) {
                const ContextReach reach{window, 1.0, 1.0};
                double expected = 0.0;
                for (int i = 1; i <= n; ++i) {
                    expected += std::min(std::min<double>(cached, window + 1.0) + i, window + 1.0);
                }
                CHECK(visible_sum(reach, cached, n) == Approx(expected).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("a sparse cache that grows with the context holds its share and its sink") {
    // SPIRe's figure conventions: the draft cache is 1 + L/8 long.
    const ContextReach reach{unlimited, 1.0, 1.0 / 8.0};
    CHECK(visible_context(reach, 512.0) == 65.0);
    CHECK(visible_context(reach, 8192.0) == 1025.0);
}

TEST_CASE("the expected number of experts is what random routing touches") {
    // Monte Carlo: each token picks `active` of `total` experts at random without replacement.
    std::mt19937 random(7);
    for (const auto& [total, active] : {std::pair{128, 8}, std::pair{8, 2}, std::pair{256, 8}}) {
        OperationCost cost;
        cost.expert_count = total;
        cost.log_miss = std::log1p(-static_cast<double>(active) / total);
        for (const int tokens : {1, 3, 16, 64}) {
            double touched_sum = 0.0;
            const int trials = 2000;
            for (int trial = 0; trial < trials; ++trial) {
                std::vector<int> order(static_cast<std::size_t>(total));
                std::vector<bool> touched(static_cast<std::size_t>(total));
                for (int token = 0; token < tokens; ++token) {
                    for (int i = 0; i < total; ++i) {
                        order[static_cast<std::size_t>(i)] = i;
                    }
                    for (int i = 0; i < active; ++i) {
                        std::uniform_int_distribution<int> pick(i, total - 1);
                        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(pick(random))]);
                        touched[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = true;
                    }
                }
                touched_sum += static_cast<double>(std::count(touched.begin(), touched.end(), true));
            }
            CHECK(expected_experts(cost, tokens) == Approx(touched_sum / trials).epsilon(0.02));
        }
    }
}

TEST_CASE("one token of a mixture touches exactly its active experts") {
    OperationCost cost;
    cost.expert_count = 128.0;
    cost.log_miss = std::log1p(-8.0 / 128.0);
    CHECK(expected_experts(cost, 1.0) == Approx(8.0).epsilon(1e-9));
}

TEST_CASE("of what all sequences share, only the first reads all; a cache is read once, or for each new token") {
    OperationCost cost;
    cost.shared_context = 4.0;
    cost.shared_read = 0.5;
    const auto reads = [&](double sequences, double tokens) {
        return cached_reads(cost, terms_of({sequences, tokens, 10.0, 1.0}));
    };
    CHECK(reads(1.0, 1.0) == 10.0);
    CHECK(reads(1.5, 1.0) == 15.0 - 0.5 * 4 * 0.5);
    CHECK(reads(2.0, 1.0) == 20.0 - 4 * 0.5);
    CHECK(reads(5.0, 3.0) == 50.0 - 4 * 4 * 0.5);
    cost.reads_per_token = 0.75;
    CHECK(reads(5.0, 1.0) == 42.0);
    CHECK(reads(5.0, 2.0) == 42.0 * 1.5);
    cost.reach.window = 3.0;  // of the prefix it sees no more
    CHECK(reads(2.0, 1.0) == 6.0 - 3 * 0.5);
}

}  // namespace operation_test
