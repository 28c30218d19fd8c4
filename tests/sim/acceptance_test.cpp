// Do the four ways of stating acceptance agree with one another and with their closed forms?
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "numerics/quantile.h"
#include "shared_measurements.h"
#include "sim/acceptance.h"
#include "text/input_file.h"

namespace acceptance_test {

using namespace treeline;
using namespace treeline::sim;

TEST_CASE("a geometric rate has the closed form (1 − α^(k+1))/(1 − α)") {
    for (const double rate : {0.0, 0.3, 0.8, 0.99}) {
        for (const int k : {0, 1, 4, 16}) {
            const double expected = (1.0 - std::pow(rate, k + 1)) / (1.0 - rate);
            CHECK(Acceptance::geometric(rate).accept_length(k) == Approx(expected).epsilon(1e-12));
        }
    }
    CHECK(Acceptance::geometric(1.0).accept_length(7) == Approx(8.0));
}

TEST_CASE("a mean length determines the curve, and gives the length back") {
    for (const double length : {1.0, 2.647, 3.401, 3.891, 4.9, 5.0}) {
        CHECK(Acceptance::mean_length(length, 4).accept_length(4) == Approx(length).margin(1e-9));
        CHECK(Acceptance::mean_length(length, 4).problems().empty());
        CHECK(Acceptance::mean_length(length, 4, 0.0).accept_length(4) == Approx(length).margin(1e-9));
    }
    CHECK(Acceptance::mean_length(1.0 + 0.6 + 0.36 + 0.216, 3, 0.0).position(1) == Approx(0.6));
    CHECK(Acceptance::mean_length(1.0 + 0.6 + 0.5 * 0.36, 1.5, 0.0).position(1) == Approx(0.6));  // half a second draft
}

TEST_CASE("from one rate the curve falls as measured curves do: i^-0.1 times the rate of the first draft") {
    const Acceptance acceptance = Acceptance::falling(0.8);
    const double second = 0.8 * std::pow(2.0, -measured_fall), third = 0.8 * std::pow(3.0, -measured_fall);
    CHECK(acceptance.position(1) == Approx(0.8));
    CHECK(acceptance.position(3) == Approx(0.8 * second * third));
    CHECK(acceptance.accept_length(3) == Approx(1.8 + 0.8 * second + 0.8 * second * third));
    CHECK_FALSE(acceptance.extrapolated(8));
    for (int k = 2; k <= 8; ++k) {
        CHECK(acceptance.accept_length(k) < Acceptance::geometric(0.8).accept_length(k));
        // One position is all that a rate is, and it continues in the same way.
        CHECK(Acceptance::per_position({0.8}).accept_length(k) == Approx(acceptance.accept_length(k)));
        CHECK(Acceptance::falling(0.8, 0.0).accept_length(k) == Acceptance::geometric(0.8).accept_length(k));
    }
    // A perfect first draft, and a length that only a rate above 1 reaches: no position is accepted more than always.
    CHECK(Acceptance::falling(1.0).position(1) == 1.0);
    CHECK(Acceptance::mean_length(4.95, 4).position(2) == 1.0);
}

TEST_CASE("one mean length is a curve of one point") {
    const Acceptance model = Acceptance::mean_length(2.9, 4), curve = Acceptance::curve({{4, 2.9}});
    for (int k = 1; k <= 8; ++k) {
        CHECK(curve.accept_length(k) == Approx(model.accept_length(k)).epsilon(1e-9));
    }
    CHECK(curve.extrapolated(5));
}

TEST_CASE("an acceptance moves in log-odds: by its spread where it is known, by the shapes of curves beyond") {
    const auto moved = [](double rate, double by) { return rate_of_log_odds(log_odds(rate) + by); };
    const Acceptance rate = Acceptance::falling(0.8);
    CHECK(rate.moved(0.0, 1.0).accept_length(5) == rate.accept_length(5));
    CHECK(rate.moved(-1.0, 1.1).position(1) == Approx(moved(0.8, -1.1)));
    const double second = 0.8 * std::pow(2.0, -measured_fall);
    CHECK(rate.moved(-1.0, 1.1).position(2) ==
          Approx(moved(0.8, -1.1) * moved(second, -std::hypot(1.1, steeper_curve * std::log(2.0)))));
    CHECK(rate.moved(1.0, 1.1).position(2) ==
          Approx(moved(0.8, 1.1) * moved(second, std::hypot(1.1, flatter_curve * std::log(2.0)))));
    // Geometric is a statement about the shape; measured positions have theirs.
    CHECK(Acceptance::geometric(0.8).moved(-1.0, 1.1).position(2) == Approx(std::pow(moved(0.8, -1.1), 2)));
    const Acceptance measured = Acceptance::per_position({0.8, 0.6}).moved(1.0, 0.5);
    CHECK(measured.position(2) == Approx(moved(0.8, 0.5) * moved(0.75, 0.5)));
    CHECK(measured.problems().empty());
    // Wider by where it comes from, and narrower by counts: a length of 2.5 known to 0.01.
    CHECK(spread_of(AcceptanceOrigin::own_run) < spread_of(AcceptanceOrigin::these_requests));
    CHECK(spread_of(AcceptanceOrigin::these_requests) < spread_of(AcceptanceOrigin::same_kind));
    CHECK(spread_of(AcceptanceOrigin::same_kind) < spread_of(AcceptanceOrigin::other_requests));
    CHECK(spread_of(AcceptanceOrigin::other_requests) <= spread_of(AcceptanceOrigin::kind_of_drafter));
    CHECK(spread_of(AcceptanceOrigin::other_requests) <= spread_of(AcceptanceOrigin::other_target));
    CHECK(spread_of(AcceptanceOrigin::other_target) < spread_of(AcceptanceOrigin::assumed));
    CHECK(spread_of_counts(2.5, 0.01, 4) < 1.2 * spread_of(AcceptanceOrigin::own_run));
    CHECK(spread_of_counts(2.5, 0.2, 4) > spread_of(AcceptanceOrigin::these_requests));
}

TEST_CASE("an acceptance measured on several kinds of requests is as uncertain as they scatter") {
    // One kind says nothing of others: 1.2816·0.55·√2.
    CHECK(spread_over_kinds({1, 0.0}) == Approx(1.2816 * 0.55 * std::sqrt(2.0)));
    CHECK(spread_of(AcceptanceOrigin::other_requests) == spread_over_kinds({}));
    // Four kinds that scatter by nothing and by much: variances (4·0.3025 + 3·v)/7, for a new one times 1 + 1/4.
    CHECK(spread_over_kinds({4, 0.0}) == Approx(1.2816 * std::sqrt(4.0 * 0.3025 / 7.0 * 1.25)));
    CHECK(spread_over_kinds({4, 0.6}) == Approx(1.2816 * std::sqrt((4.0 * 0.3025 + 3.0 * 0.6) / 7.0 * 1.25)));
    CHECK(spread_of(AcceptanceOrigin::same_kind) < spread_over_kinds({4, 0.0}));
    // Beside the mean of its kind a measurement counts as their variances do: 0.42²/(0.42² + 0.40²/n).
    CHECK(weight_of_measured(1) == Approx(0.1764 / (0.1764 + 0.16)));
    CHECK(weight_of_measured(4) == Approx(0.1764 / (0.1764 + 0.04)));
}

TEST_CASE("a per-position vector sums, and continues where it ends, flagged") {
    const Acceptance acceptance = Acceptance::per_position({0.8, 0.6, 0.3});
    CHECK(acceptance.accept_length(3) == Approx(2.7));
    CHECK_FALSE(acceptance.extrapolated(3));
    CHECK(acceptance.extrapolated(4));
    // The last conditional rate, 0.3 / 0.6, falls from position to position, as (i/3)^-0.1.
    const double fourth = 0.3 * 0.5 * std::pow(4.0 / 3.0, -measured_fall);
    const double fifth = fourth * 0.5 * std::pow(5.0 / 3.0, -measured_fall);
    CHECK(acceptance.position(5) == Approx(fifth));
    CHECK(acceptance.accept_length(5) == Approx(2.7 + fourth + fifth));
}

TEST_CASE("stated positions are what they are, to the last digit") {
    const std::vector<double> stated = {0.95, 0.49, 0.233, 0.162, 0.118, 0.09, 0.07};
    for (std::size_t known = 1; known <= stated.size(); ++known) {
        const Acceptance acceptance = Acceptance::per_position({stated.begin(), stated.begin() + static_cast<long>(known)});
        for (std::size_t i = 1; i <= known; ++i) {
            CHECK(acceptance.position(static_cast<int>(i)) == stated[i - 1]);
        }
    }
}

TEST_CASE("a clean curve is reproduced, gaps are filled as curves fall, noise is pooled") {
    const Acceptance clean = Acceptance::curve({{1, 1.84}, {2, 2.5}, {3, 2.99}, {4, 3.33}});
    CHECK(clean.accept_length(2) == Approx(2.5));
    CHECK(clean.accept_length(4) == Approx(3.33));
    const Acceptance gaps = Acceptance::curve({{1, 1.8}, {3, 2.8}});
    // 0.8·(r₂ + r₂·r₃) = 1.0 with r₃ = r₂·(3/2)^−fall: r₂ = (√(1 + 5q) − 1)/(2q), q = (3/2)^−fall.
    const double q = std::pow(1.5, -measured_fall), second = (std::sqrt(1.0 + 5.0 * q) - 1.0) / (2.0 * q);
    CHECK(gaps.accept_length(2) == Approx(1.8 + 0.8 * second));
    CHECK(gaps.accept_length(3) == Approx(2.8));
    CHECK(gaps.position(4) == Approx(0.8 * second * second * q * second * q * std::pow(4.0 / 3.0, -measured_fall)));
    // No rate gains 1.7 over two drafts after one of 0.8: the gap is spread, and pooled with the noise before it.
    const Acceptance noisy = Acceptance::curve({{1, 1.8}, {3, 3.5}});
    CHECK(noisy.position(1) == Approx(2.5 / 3.0));
    CHECK(noisy.accept_length(3) == Approx(3.5));
    // A measured dip (deepseek-v4-pro MTP, K = 7): no non-increasing acceptance can dip, so the fit pools it to a flat end.
    const Acceptance dip =
        Acceptance::curve({{1, 1.92}, {2, 2.61}, {3, 2.97}, {4, 3.0}, {5, 3.1}, {6, 3.16}, {7, 3.0}, {8, 3.11}});
    CHECK(dip.problems().empty());
    for (int k = 1; k <= 8; ++k) {
        CHECK(dip.accept_length(k) >= dip.accept_length(k - 1));
    }
    CHECK(dip.accept_length(3) == Approx(2.97).margin(0.01));
    CHECK(dip.accept_length(8) == Approx(3.11).margin(0.06));  // the dip of 0.16 at K = 7 cannot be followed
}

TEST_CASE("values that no acceptance can have are named") {
    CHECK(Acceptance::per_position({0.5, 0.7}).problems().size() == 1);
    CHECK(Acceptance::per_position({1.2}).problems() ==
          std::vector<std::string>{"acceptance at position 1 must lie between 0 and 1"});
    CHECK(Acceptance::geometric(-0.1).problems().size() == 1);
    CHECK(Acceptance::geometric(std::nan("")).problems().size() == 1);
    CHECK(Acceptance::geometric(0.9).problems().empty());
}

TEST_CASE("golden curves of lengths 1, 2 and 4 predict the lengths between and beyond", "[shared]") {
    const auto folder = testing::shared_measurements("data/acceptance");
    if (!folder) {
        return;
    }
    std::vector<double> errors;
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        const auto file = nlohmann::json::parse(text::read_file(entry.path()));
        if (!file.contains("accept_length_by_draft_tokens")) {
            continue;
        }
        std::map<int, double> measured, given;
        for (const auto& [draft_tokens, length] : file["accept_length_by_draft_tokens"].items()) {
            measured[std::stoi(draft_tokens)] = length.get<double>();
        }
        for (const int draft_tokens : {1, 2, 4}) {
            given[draft_tokens] = measured.at(draft_tokens);
        }
        const Acceptance acceptance = Acceptance::curve(given);
        for (const auto& [draft_tokens, length] : measured) {
            if (!given.contains(draft_tokens)) {
                errors.push_back(std::abs(acceptance.accept_length(draft_tokens) / length - 1.0));
            }
        }
    }
    REQUIRE(errors.size() == 35);
    CHECK(numerics::quantile(errors, 0.5) < 0.02);
    CHECK(numerics::quantile(errors, 0.9) < 0.06);
}

TEST_CASE("lengths that grow by more than a draft each accept no draft more than surely") {
    // 1, 2.2 and 3.1 tokens: gains of 1.2 and 0.9, of which the first is 1 at most.
    const Acceptance curve = Acceptance::curve({{1, 2.2}, {2, 3.1}});
    CHECK(curve.position(1) == 1.0);
    CHECK(curve.position(2) == Approx(0.9));
}

TEST_CASE("the variance of accepted drafts follows from their positions") {
    // With 0.8, 0.6 and 0.3: E[n] = 1.7, E[n^2] = 0.8 + 3·0.6 + 5·0.3 = 4.1.
    const Acceptance acceptance = Acceptance::per_position({0.8, 0.6, 0.3});
    CHECK(acceptance.variance(3) == Approx(4.1 - 1.7 * 1.7));
    CHECK(acceptance.variance(1) == Approx(0.8 * 0.2));
    CHECK(acceptance.variance(0) == 0.0);
}

TEST_CASE("acceptance is scaled position by position, up to always, and never above the position before") {
    const Acceptance measured = Acceptance::per_position({0.8, 0.5});
    CHECK(measured.scaled(1.2).position(1) == Approx(0.96));
    CHECK(measured.scaled(1.2).position(2) == Approx(0.6));
    CHECK(measured.scaled(3.0).position(1) == 1.0);
    CHECK(measured.scaled(3.0).position(2) == 1.0);
    CHECK(measured.scaled(0.5).position(2) == Approx(0.25));
    CHECK(Acceptance::geometric(0.6).scaled(1.5).position(2) == Approx(0.81));
    CHECK(Acceptance::geometric(0.6).scaled(2.0).position(3) == 1.0);
}

TEST_CASE("what is never accepted goes on so") {
    const Acceptance never = Acceptance::per_position({0.5, 0.0, 0.0});
    CHECK(never.position(3) == 0.0);
    CHECK(never.position(5) == 0.0);
    CHECK(never.accept_length(8) == 1.5);
    CHECK(never.moved(1.0, 0.5).position(3) < 1e-3);
    CHECK(Acceptance::per_position({}).accept_length(3) == 1.0);  // of nothing measured
    // Two further drafts that add nothing, or take away as noise does.
    CHECK(Acceptance::curve({{1, 1.5}, {3, 1.5}}).accept_length(3) == Approx(1.5).margin(1e-9));
    CHECK(Acceptance::curve({{1, 1.5}, {3, 1.2}}).problems().empty());
    // Every draft of a gap that is accepted: 0.8 at each, as at the first.
    CHECK(Acceptance::curve({{1, 1.8}, {3, 3.4}}).position(3) == Approx(0.8));
}

TEST_CASE("lengths that go together are kept, however steep the gap before them") {
    // 0.75 a draft up to 8, and 0.73 up to 16: as curves fall the eighth would be accepted less often than those after it.
    const Acceptance curve = Acceptance::curve({{8, 7.0}, {16, 12.84}});
    CHECK(curve.accept_length(8) == Approx(7.0));
    CHECK(curve.accept_length(16) == Approx(12.84));
    CHECK(curve.position(8) == Approx(0.73));
    CHECK(curve.problems().empty());
}

TEST_CASE("gains that rise become their mean, however many they are") {
    // Gains of 0.5, 0.4 and 0.9: the last two pool to 0.65, and all three to 0.6. Then 0.7 more after them pools to 2.5/4.
    const Acceptance three = Acceptance::curve({{1, 1.5}, {2, 1.9}, {3, 2.8}});
    const Acceptance four = Acceptance::curve({{1, 1.5}, {2, 1.9}, {3, 2.8}, {4, 3.5}});
    for (int i = 1; i <= 3; ++i) {
        CHECK(three.position(i) == Approx(0.6));
        CHECK(four.position(i) == Approx(0.625));
    }
    CHECK(four.position(4) == Approx(0.625));
    // Two pools of two: 0.4 and 0.8 have 0.6 each, and so have 0.3 and 0.9 after them.
    CHECK(Acceptance::curve({{1, 1.4}, {2, 2.2}, {3, 2.5}, {4, 3.4}}).position(2) == Approx(0.6));
    CHECK(Acceptance::curve({{1, 1.4}, {2, 2.2}, {3, 2.5}, {4, 3.4}}).accept_length(4) == Approx(3.4));
}

TEST_CASE("as many accepted at each further draft: every position is the same") {
    const Acceptance one_by_one = Acceptance::curve({{1, 1.5}, {2, 2.0}, {3, 2.5}});
    CHECK(one_by_one.position(1) == 0.5);
    CHECK(one_by_one.position(3) == 0.5);
    // Beyond equal positions it goes on with their mean rate, not with the last one, which is 1.
    const Acceptance flat = Acceptance::per_position({0.8, 0.8});
    CHECK(flat.position(3) == Approx(0.8 * std::sqrt(0.8) * std::pow(1.5, -measured_fall)));
    CHECK(flat.moved(1.0, 0.5).position(2) ==
          Approx(rate_of_log_odds(log_odds(0.8) + 0.5) * rate_of_log_odds(std::log(9999.0) + 0.5)));
}

TEST_CASE("as many accepted at each draft of two gaps: every position is the same") {
    const Acceptance in_gaps = Acceptance::curve({{8, 7.0}, {16, 13.0}});
    CHECK(in_gaps.accept_length(8) == Approx(7.0));
    CHECK(in_gaps.position(1) == Approx(0.75));
    CHECK(in_gaps.position(16) == Approx(0.75));
}

TEST_CASE("an uncertain accept length is an uncertain rate") {
    const auto odds = [](double rate) { return std::log(rate / (1.0 - rate)); };
    // One draft: the rate is the length less 1, here 0.6 give or take 1.2816·0.1, beside what runs differ by (0.06).
    const double half = 0.5 * (odds(0.6 + 0.12816) - odds(0.6 - 0.12816));
    CHECK(spread_of_counts(1.6, 0.1, 1.0) == Approx(std::hypot(0.06, half)).epsilon(1e-9));
    // Two drafts: 1 + α + α² = length.
    const auto rate = [](double length) { return 0.5 * (std::sqrt(4.0 * length - 3.0) - 1.0); };
    const double of_two = 0.5 * (odds(rate(2.0 + 0.12816)) - odds(rate(2.0 - 0.12816)));
    CHECK(spread_of_counts(2.0, 0.1, 2.0) == Approx(std::hypot(0.06, of_two)).epsilon(1e-9));
    // Where the lower end would be less than one token, it is a rate of 0, which is kept off it as 1 is.
    CHECK(spread_of_counts(1.05, 0.1, 1.0) ==
          Approx(std::hypot(0.06, 0.5 * (odds(0.05 + 0.12816) + std::log(9999.0)))).epsilon(1e-9));
    CHECK(log_odds(0.0) == Approx(-std::log(9999.0)));
    CHECK(log_odds(1.0) == Approx(std::log(9999.0)));
    CHECK(log_odds(0.75) == Approx(std::log(3.0)));
    CHECK(rate_of_log_odds(std::log(3.0)) == Approx(0.75));
    CHECK(spread_of(AcceptanceOrigin::kind_of_drafter) == spread_of(AcceptanceOrigin::other_target));
}

TEST_CASE("what is accepted always, never or as often as before is an acceptance") {
    CHECK(Acceptance::per_position({1.0, 1.0, 0.5, 0.5, 0.0}).problems().empty());
    CHECK(Acceptance::geometric(0.0).problems().empty());
    CHECK(Acceptance::geometric(1.0).problems().empty());
    CHECK(Acceptance::falling(1.2).problems().size() == 1);  // a rate that is stated, not found for a length
    CHECK(Acceptance::mean_length(1.95, 1.0).problems().empty());
    CHECK_THAT(Acceptance::per_position({0.5, 0.4, 0.6}).problems().front(),
               Catch::Contains("position 3 exceeds the one before it"));
    CHECK_THAT(Acceptance::per_position({0.5, -0.1}).problems().front(), Catch::Contains("at position 2 must lie between"));
    // Scaled, it still is one: no rate above 1, nor one that rises above what was found.
    CHECK(Acceptance::geometric(0.6).scaled(2.0).problems().empty());
    CHECK(Acceptance::falling(0.8).scaled(2.0).position(2) == Approx(std::pow(2.0, -measured_fall)));
    const Acceptance nearly_all = Acceptance::mean_length(4.95, 4.0);
    CHECK(nearly_all.scaled(2.0).accept_length(4) == Approx(4.95));
    CHECK(nearly_all.accept_length(-1) == 1.0);
}

}  // namespace acceptance_test
