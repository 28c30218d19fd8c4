// What is kept of points that are offered one at a time: the best ones, and the front of two to four ranks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>

#include "sweeps/kept_points.h"

namespace kept_points_test {

using namespace treeline::sweeps;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<std::uint64_t> orders_of(const auto& points) {
    std::vector<std::uint64_t> orders;
    for (const auto& point : points) {
        orders.push_back(point.order);
    }
    return orders;
}

}  // namespace

TEST_CASE("of points offered in any order the best are kept, and none whose rank is not finite") {
    BestPoints best(3);
    CHECK(best.bar() == infinite);
    CHECK(best.worst().rank == infinite);  // there is room for any
    best.offer({4.0, 1});
    best.offer({infinite, 2});
    best.offer({-infinite, 3});
    best.offer({std::numeric_limits<double>::quiet_NaN(), 4});
    best.offer({3.0, 5});
    CHECK(best.bar() == infinite);
    best.offer({5.0, 6});
    CHECK(orders_of(best.sorted()) == std::vector<std::uint64_t>{5, 1, 6});
    CHECK(best.bar() == 5.0);
    best.offer({5.5, 0});
    best.offer({5.0, 7});
    CHECK(best.worst().order == 6);
    best.offer({5.0, 2});  // of equal ones the first
    CHECK(orders_of(best.sorted()) == std::vector<std::uint64_t>{5, 1, 2});
    best.offer({1.0, 9});
    best.offer({infinite, 0});
    CHECK(orders_of(best.sorted()) == std::vector<std::uint64_t>{9, 5, 1});
}

TEST_CASE("where no best points are asked for none is kept") {
    BestPoints none(0);
    none.offer({1.0, 1});
    CHECK(none.sorted().empty());
    CHECK(none.bar() == -infinite);
    CHECK(none.worst().rank == infinite);
}

TEST_CASE("a front of two to four ranks is that of a comparison of every pair, in any order") {
    std::mt19937 random(5);
    std::uniform_int_distribution<int> value(0, 6);  // many ties
    for (const std::size_t columns : {2U, 3U, 4U}) {
        std::vector<FrontPoint> points(200);
        for (std::size_t i = 0; i < points.size(); ++i) {
            points[i].order = i;
            std::generate_n(points[i].ranks.begin(), columns, [&] { return value(random); });
        }
        std::vector<std::uint64_t> expected;
        for (const FrontPoint& point : points) {
            const bool beaten = std::any_of(points.begin(), points.end(), [&](const FrontPoint& other) {
                bool nowhere_behind = true;
                for (std::size_t c = 0; c < columns; ++c) {
                    nowhere_behind = nowhere_behind && other.ranks[c] <= point.ranks[c];
                }
                return nowhere_behind && (other.ranks != point.ranks || other.order < point.order);
            });
            if (!beaten) {
                expected.push_back(point.order);
            }
        }
        for (int trial = 0; trial < 5; ++trial) {
            std::shuffle(points.begin(), points.end(), random);
            FrontPoints front(columns);
            for (const FrontPoint& point : points) {
                front.offer(point);
                front.offer(point);  // is there already, or beaten
            }
            CHECK(front.size() == expected.size());
            const std::vector<FrontPoint> sorted = front.sorted();
            CHECK(std::is_sorted(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; }));
            std::vector<std::uint64_t> found = orders_of(sorted);
            std::sort(found.begin(), found.end());
            CHECK(found == expected);
        }
    }
}

TEST_CASE("guards of a front are the points that turned others away, eight of them at the most") {
    for (const std::size_t columns : {2U, 3U}) {
        FrontPoints front(columns);
        front.offer({{1.0, 5.0, 0.0}, 1});
        front.offer({{2.0, 3.0, 0.0}, 2});
        front.offer({{9.0, 1.0, 0.0}, 3});
        CHECK(front.guards().empty());
        front.offer({{4.0, 3.0, 0.0}, 4});
        REQUIRE(front.guards().size() == 1);
        CHECK(front.guards()[0] == FrontRanks{2.0, 3.0});
        front.offer({{1.0, 6.0, 0.0}, 5});
        REQUIRE(front.guards().size() == 2);
        CHECK(front.guards()[1] == FrontRanks{1.0, 5.0});
        for (int i = 0; i < 6; ++i) {
            front.offer({{4.0, 4.0, 0.0}, 4});
        }
        CHECK(front.guards().size() == 8);
        front.offer({{10.0, 1.0, 0.0}, 6});  // its guard takes the place of the oldest
        CHECK(front.guards().size() == 8);
        CHECK(front.guards()[0] == FrontRanks{9.0, 1.0});
        CHECK(front.guards()[1] == FrontRanks{1.0, 5.0});
        CHECK(front.size() == 3);
    }
}

}  // namespace kept_points_test
