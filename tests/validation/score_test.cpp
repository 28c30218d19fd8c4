// Are errors, ranks and choices counted as stated?
#include <catch2/catch.hpp>

#include <cmath>

#include "validation/score.h"

namespace score_test {

using namespace treeline;
using namespace treeline::validation;

TEST_CASE("median, 90th percentile and bias interpolate between neighbours") {
    // Errors +10 %, -20 %, +30 %, -40 %, +50 %: absolute 10 … 50.
    const std::vector<RowError> errors = {{1.0, 1.1}, {1.0, 0.8}, {1.0, 1.3}, {1.0, 0.6}, {1.0, 1.5}};
    const ErrorSummary summary = summary_of(errors);
    CHECK(summary.rows == 5);
    CHECK(summary.median == Approx(0.30));
    CHECK(summary.p90 == Approx(0.46));  // place 0.9·4 = 3.6 between 0.40 and 0.50
    CHECK(summary.largest == Approx(0.50));
    CHECK(summary.bias == Approx(0.10));  // the middle of -40, -20, +10, +30, +50 %
}

TEST_CASE("no rows make no errors") { CHECK(summary_of({}).rows == 0); }

TEST_CASE("Spearman's rank correlation, ties at their mean rank") {
    // Ranks 1, 2, 3 against 1, 3, 2: 1 − 6·(0 + 1 + 1)/(3·8) = 0.5.
    CHECK(rank_correlation(std::vector<RowError>{{1.0, 10.0}, {2.0, 30.0}, {3.0, 20.0}}) == Approx(0.5));
    CHECK(rank_correlation(std::vector<RowError>{{1.0, 3.0}, {2.0, 2.0}, {3.0, 1.0}}) == Approx(-1.0));
    // Predicted ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, variances 1.5 and 2, so 1.5/√3.
    CHECK(rank_correlation(std::vector<RowError>{{1.0, 5.0}, {2.0, 5.0}, {3.0, 6.0}}) == Approx(1.5 / std::sqrt(3.0)));
    CHECK(rank_correlation(std::vector<RowError>{{1.0, 5.0}, {2.0, 5.0}, {3.0, 5.0}}) == 0.0);
}

TEST_CASE("the regret is what the predicted choice loses of the measured best") {
    const std::vector<Choice> choices = {{"chain", 80.0, 90.0}, {"tree", 100.0, 85.0}, {"plain", 50.0, 50.0}};
    const ChoiceOutcome speeds = outcome_of(choices, true);
    CHECK(speeds.measured_best == "tree");
    CHECK(speeds.predicted_best == "chain");
    CHECK_FALSE(speeds.right);
    CHECK(speeds.regret == Approx(0.2));
    const ChoiceOutcome times = outcome_of(choices, false);
    CHECK(times.right);
    CHECK(times.measured_best == "plain");
    CHECK(times.regret == 0.0);
}

}  // namespace score_test
