// Is the front exactly the set of points that no other point dominates?
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

#include "sweeps/pareto.h"

namespace pareto_test {

using namespace treeline;
using namespace treeline::sweeps;

TEST_CASE("the front equals a comparison of every pair, in any order of input") {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> value(0, 30);  // many ties
    std::vector<Tradeoff> points;
    for (std::size_t i = 0; i < 400; ++i) {
        points.push_back({static_cast<double>(value(random)), static_cast<double>(value(random)), i});
    }
    std::set<std::size_t> expected;
    for (const Tradeoff& p : points) {
        const bool beaten = std::any_of(points.begin(), points.end(), [&](const Tradeoff& q) {
            const bool as_good = q.per_user >= p.per_user && q.per_device >= p.per_device;
            const bool differs = q.per_user != p.per_user || q.per_device != p.per_device;
            return (as_good && differs) || (as_good && !differs && q.id < p.id);
        });
        if (!beaten) {
            expected.insert(p.id);
        }
    }
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
        std::shuffle(points.begin(), points.end(), random);
        std::set<std::size_t> found;
        for (const Tradeoff& p : pareto_front(points)) {
            found.insert(p.id);
        }
        CHECK(found == expected);
    }
    CHECK(pareto_front({}).empty());
}

TEST_CASE("a point is taken unless one that is there is as good, and comes first") {
    ParetoFront front;
    CHECK(front.insert({2.0, 2.0, 5}));
    CHECK_FALSE(front.insert({2.0, 2.0, 5}));  // is there
    CHECK_FALSE(front.insert({2.0, 2.0, 6}));
    CHECK(front.insert({2.0, 2.0, 4}));
    CHECK_FALSE(front.insert({1.0, 2.0, 1}));
    CHECK_FALSE(front.insert({2.0, 1.0, 1}));
    CHECK(front.insert({1.0, 3.0, 9}));
    CHECK(front.insert({3.0, 1.0, 9}));
}

}  // namespace pareto_test
