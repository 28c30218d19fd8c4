// Do one and two measured loads say of others what they are said to say?
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "measured_row.h"
#include "validation/serving/other_loads.h"
#include "validation/serving/predict.h"

namespace other_loads_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

/// A series of one drafter at four batches, `ratio(batch)` times as fast as predicted with 2.4 tokens a round.
template <class Ratio>
std::vector<MeasuredPoint> series(Ratio ratio) {
    std::vector<MeasuredPoint> points;
    for (const char* batch : {"1", "4", "16", "64"}) {
        const std::string more = R"(, "batch_or_concurrency": )" + std::string(batch) +
                                 R"(, "draft_tokens": 3, "speedup": 1.5, "accept_length": 2.4)";
        MeasuredPoint point = speculative_points_in(more).points.at(0);
        point.measured = ratio(point.batch) * SpeculativePoint(point, parts(), sim::CostMode::calibrated).speed_up(2.4);
        points.push_back(point);
    }
    return points;
}

OtherLoads scores(const std::vector<MeasuredPoint>& points) {
    OtherLoadScores scores(points, parts());
    scores.add({0, 1, 2, 3});
    return scores.made(points.front().seen).value();
}

}  // namespace

TEST_CASE("a row has one vote, whatever the number of its predictions") {
    RowVotes votes;
    votes.add(7, {1.0, 1.5});
    for (int i = 0; i < 9; ++i) {
        votes.add(8, {1.0, 0.9});
    }
    votes.add(9, {1.0, 1.2});
    const ErrorSummary summary = votes.summary();
    CHECK(summary.rows == 3);
    CHECK(summary.median == Approx(0.2));  // 0.1 weighs a third, and so do 0.2 and 0.5
    CHECK(summary.p90 == Approx(0.5));
    CHECK(summary.largest == Approx(0.5));
    CHECK(summary.bias == Approx(0.2));
}

TEST_CASE("a deployment that is slower throughout is told by one of its loads in part, and by two") {
    const OtherLoads told = scores(series([](double) { return 0.8; }));
    CHECK(told.from_one.rows == 4);
    CHECK(told.between.rows == 2);  // 4 and 16
    CHECK(told.interpolated.rows == 2);
    // Without a run the error is 1/0.8 - 1; a single load lets 0.7 of it go (docs/cost-model.md, section 9.4).
    CHECK(told.from_one.median == Approx(std::pow(1.0 / 0.8, 0.3) - 1.0).epsilon(0.2));
    CHECK(told.from_one.bias > 0.0);
    CHECK(told.between.largest < 0.03);
}

TEST_CASE("a straight line between two loads misses what bends between them") {
    const auto bent = scores(series([](double) { return 1.0; }));
    CHECK(bent.from_one.largest < 1e-6);
    CHECK(bent.between.largest < 1e-6);
    CHECK(bent.interpolated.largest > 0.005);
    std::vector<MeasuredPoint> straight = series([](double) { return 1.0; });
    for (MeasuredPoint& point : straight) {
        point.measured = 2.0 * std::pow(point.batch, -0.1);
    }
    CHECK(scores(straight).interpolated.largest < 1e-9);
}

TEST_CASE("sources that numbers were fitted to stand by themselves, and what stands apart is in neither") {
    std::vector<MeasuredPoint> points = series([](double) { return 0.8; });
    for (MeasuredPoint& point : points) {
        point.seen = true;
    }
    OtherLoadScores scores(points, parts());
    CHECK_FALSE(scores.made(true));
    scores.add({0, 1, 2, 3});
    CHECK(scores.made(true));
    CHECK_FALSE(scores.made(false));
    for (const std::size_t i : {1, 2}) {
        points[i].contradiction = "twofold off others of its deployment";
    }
    OtherLoadScores of_two_loads(points, parts());
    of_two_loads.add({0, 1, 2, 3});
    CHECK_FALSE(of_two_loads.made(true));
}

}  // namespace other_loads_test
