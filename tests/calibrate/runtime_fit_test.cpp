// Do fits find the law that made the data, with the standard errors and intervals that theory gives?
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "calibrate/runtime_fit.h"

namespace runtime_fit_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

std::vector<Timing> exact(const RuntimeLaw& law, const std::vector<double>& tokens) {
    std::vector<Timing> timings;
    for (const double n : tokens) {
        timings.push_back({n, law.at(n), {}});
    }
    return timings;
}

const std::vector<double> powers_of_two = {1, 2, 4, 8, 16, 32, 64, 128};

FitOptions weighted(Weighting weighting) {
    FitOptions options;
    options.weighting = weighting;
    return options;
}

}  // namespace

TEST_CASE("data without noise give back the law, under every weighting") {
    const std::vector<RuntimeLaw> laws = {{LawForm::constant, {0.012}},
                                          {LawForm::linear, {0.012, 3e-5}},
                                          {LawForm::quadratic, {0.012, 3e-5, 4e-7}},
                                          {LawForm::hinge, {0.012, 0.011, 1e-4}},    // knee at n = 10
                                          {LawForm::hinge, {0.012, 0.0104, 1e-4}}};  // knee at n = 16, a token count
    for (const RuntimeLaw& law : laws) {
        std::vector<Timing> timings = exact(law, powers_of_two);
        for (Timing& timing : timings) {
            timing.spread = timing.time * 0.02;
        }
        for (const Weighting weighting : {Weighting::relative, Weighting::spread, Weighting::equal}) {
            const FitOptions options = weighted(weighting);
            INFO(name_of(law.form) << ", " << name_of(weighting));
            REQUIRE(why_not_fitted(law.form, timings, options).empty());
            const RuntimeFit fit = fit_law(law.form, timings, options);
            for (std::size_t i = 0; i < law.coefficients.size(); ++i) {
                CHECK(fit.law.coefficients[i] == Approx(law.coefficients[i]).epsilon(1e-8));
                CHECK(fit.parameters[i].standard_error < 1e-8 * law.coefficients[i]);
            }
            CHECK(fit.residuals[3].relative_error() == Approx(0.0).margin(1e-9));
            if (law.form != LawForm::constant) {
                CHECK(fit.r_squared == Approx(1.0));
            }
        }
    }
}

TEST_CASE("a straight line by hand, ordinary least squares") {
    // x = 1 … 5, y = 2, 4, 5, 4, 5: mean x 3, mean y 4, Sxx = 10, Sxy = 4 + 0 + 0 + 0 + 2 = 6, so a1 = 0.6, a0 = 4 − 1.8 = 2.2.
    // Fitted 2.8, 3.4, 4, 4.6, 5.2; residuals −0.8, 0.6, 1, −0.6, −0.2; SSE = 0.64 + 0.36 + 1 + 0.36 + 0.04 = 2.4;
    // Syy = 4 + 0 + 1 + 0 + 1 = 6, R² = 1 − 2.4/6 = 0.6; s² = 2.4/3 = 0.8.
    // se(a1) = √(0.8/10) = 0.282843, se(a0) = √(0.8·(1/5 + 9/10)) = √0.88 = 0.938083, cov = −0.8·3/10 = −0.24.
    // t(0.975, 3) = 3.182446: a1 in 0.6 ± 0.900132. At n = 6: 5.8; mean ± t·√(0.8·(0.2 + 0.9)) = ± 2.985398; a new
    // measurement ± t·√(0.8·(1 + 0.2 + 0.9)) = ± 4.124922.
    const std::vector<double> y = {2, 4, 5, 4, 5};
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < y.size(); ++i) {
        timings.push_back({static_cast<double>(i + 1), Seconds(y[i]), {}});
    }
    const RuntimeFit fit = fit_law(LawForm::linear, timings, weighted(Weighting::equal));
    CHECK(fit.law.coefficients[0] == Approx(2.2));
    CHECK(fit.law.coefficients[1] == Approx(0.6));
    CHECK(fit.degrees_of_freedom == 3.0);
    CHECK(fit.residual_scale == Approx(std::sqrt(0.8)));
    CHECK(fit.r_squared == Approx(0.6));
    CHECK(fit.parameters[0].standard_error == Approx(0.938083).epsilon(1e-6));
    CHECK(fit.parameters[1].standard_error == Approx(0.282843).epsilon(1e-5));
    CHECK(fit.covariance[1] == Approx(-0.24));
    CHECK(fit.parameters[1].low == Approx(0.6 - 0.900132).epsilon(1e-5));
    CHECK(fit.parameters[1].high == Approx(0.6 + 0.900132).epsilon(1e-5));
    CHECK(fit.mean_interval(6).high.value() == Approx(5.8 + 2.985398).epsilon(1e-6));
    CHECK(fit.prediction_interval(6).low.value() == Approx(5.8 - 4.124922).epsilon(1e-5));
    CHECK(fit.extrapolates(6));
    CHECK_FALSE(fit.extrapolates(5));
}

TEST_CASE("a spread twice as large counts a quarter") {
    // Times 10 ± 1 and 20 ± 2 at weights 1 and 1/4: (10 + 5)/1.25 = 12. χ² = 4 + 64/4 = 20 on 1 degree of freedom;
    // variance of the mean = 20/1.25 = 16.
    const std::vector<Timing> timings = {{1, Seconds(10), Seconds(1)}, {2, Seconds(20), Seconds(2)}};
    FitOptions options;
    options.spread_floor = 0.0;
    const RuntimeFit fit = fit_law(LawForm::constant, timings, options);
    CHECK(fit.weighting == Weighting::spread);
    CHECK(fit.law.coefficients[0] == Approx(12.0));
    CHECK(fit.residual_scale == Approx(std::sqrt(20.0)));
    CHECK(fit.parameters[0].standard_error == Approx(4.0));
    // Both rows spread by 10 %, so a new one by √20·0.1·12; with the mean's 16: √(16 + 28.8) = 6.693280, times t(0.975, 1)
    // = 12.7062.
    CHECK(fit.typical_spread == Approx(0.1));
    CHECK(fit.prediction_interval(3).high.value() == Approx(12.0 + 12.7062 * 6.693280).epsilon(1e-5));
}

TEST_CASE("relative weights: the constant that halves relative errors of its own size") {
    // With weights 1/T² of one fitted constant all rows count the same: the plain mean of 8 and 12.
    const RuntimeFit fit = fit_law(LawForm::constant, {{1, Seconds(8), {}}, {2, Seconds(12), {}}}, {});
    CHECK(fit.weighting == Weighting::relative);
    CHECK(fit.law.coefficients[0] == Approx(10.0));
    // √((0.2² + 0.2²)/1)
    CHECK(fit.residual_scale == Approx(std::sqrt(0.08)));
}

TEST_CASE("intervals cover the truth as often as they say") {
    // 1,000 sets of noisy data. The number of covering intervals is binomial(1,000, 0.95): 950 ± 6.9; 99.99 % of the time
    // within ± 3.89 standard deviations, 923 to 977.
    const RuntimeLaw truth{LawForm::quadratic, {0.010, 2e-4, 5e-6}};
    std::mt19937_64 random(20261121);
    std::normal_distribution<double> noise(0.0, 0.03);
    std::vector<int> covered(3, 0);
    int mean_covered = 0, new_covered = 0;
    constexpr int runs = 1000;
    for (int run = 0; run < runs; ++run) {
        std::vector<Timing> timings = exact(truth, {1, 2, 4, 8, 12, 16, 24, 32, 48, 64});
        for (Timing& timing : timings) {
            timing.time *= 1.0 + noise(random);
        }
        const RuntimeFit fit = fit_law(LawForm::quadratic, timings, {});
        for (std::size_t i = 0; i < 3; ++i) {
            covered[i] += fit.parameters[i].low <= truth.coefficients[i] && truth.coefficients[i] <= fit.parameters[i].high;
        }
        const TimeInterval mean = fit.mean_interval(40);
        mean_covered += mean.low <= truth.at(40) && truth.at(40) <= mean.high;
        const Seconds measured = truth.at(40) * (1.0 + noise(random));
        const TimeInterval prediction = fit.prediction_interval(40);
        new_covered += prediction.low <= measured && measured <= prediction.high;
    }
    for (const int count : {covered[0], covered[1], covered[2], mean_covered, new_covered}) {
        CHECK(count >= 923);
        CHECK(count <= 977);
    }
}

TEST_CASE("scaling all times scales the law and its errors, and changes nothing relative") {
    std::vector<Timing> timings, scaled;
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise(0.0, 0.05);
    for (const double n : powers_of_two) {
        const Seconds time((0.01 + 1e-4 * n) * (1.0 + noise(random)));
        timings.push_back({n, time, {}});
        scaled.push_back({n, time * 1000.0, {}});
    }
    for (const LawForm form : all_law_forms) {
        const RuntimeFit a = fit_law(form, timings, {}), b = fit_law(form, scaled, {});
        CHECK(b.r_squared == Approx(a.r_squared).margin(1e-12));
        CHECK(b.residual_scale == Approx(a.residual_scale));
        for (std::size_t i = 0; i < a.parameters.size(); ++i) {
            CHECK(b.parameters[i].value == Approx(1000.0 * a.parameters[i].value).epsilon(1e-7));
            CHECK(b.parameters[i].standard_error == Approx(1000.0 * a.parameters[i].standard_error).epsilon(1e-7));
        }
    }
}

TEST_CASE("no knee on a fine grid beats the hinge found") {
    std::mt19937_64 random(11);
    std::normal_distribution<double> noise(0.0, 0.05);
    const RuntimeLaw truth{LawForm::hinge, {0.010, 0.007, 3e-4}};
    for (int run = 0; run < 20; ++run) {
        std::vector<Timing> timings = exact(truth, {1, 2, 4, 6, 8, 12, 16, 24, 32});
        for (Timing& timing : timings) {
            timing.time *= 1.0 + noise(random);
        }
        const auto sum_of_squares = [&](const RuntimeLaw& law) {
            double sum = 0.0;
            for (const Timing& timing : timings) {
                const double miss = (timing.time - law.at(timing.tokens)).value();
                sum += miss * miss;
            }
            return sum;
        };
        const double found = sum_of_squares(fit_law(LawForm::hinge, timings, weighted(Weighting::equal)).law);
        // For each knee the least squares over c and the slope, by the normal equations of one regressor u = max(0, n − knee).
        double least = std::numeric_limits<double>::infinity();
        for (double knee = 2.0; knee <= 24.0; knee += 0.01) {
            double u_sum = 0.0, uu = 0.0, t_sum = 0.0, ut = 0.0;
            for (const Timing& timing : timings) {
                const double u = std::max(0.0, timing.tokens - knee), t = timing.time.value();
                u_sum += u, uu += u * u, t_sum += t, ut += u * t;
            }
            const auto count = static_cast<double>(timings.size());
            const double slope = (count * ut - u_sum * t_sum) / (count * uu - u_sum * u_sum);
            const double c = (t_sum - slope * u_sum) / count;
            if (slope > 0.0) {
                least = std::min(least, sum_of_squares({LawForm::hinge, {c, c - slope * knee, slope}}));
            }
        }
        CHECK(found <= least * (1.0 + 1e-12));
    }
}

TEST_CASE("no law of times falls below zero among them") {
    // The least of 4 - 4 n + n^2 between 1 and 4 is at n = 2.
    CHECK(RuntimeLaw{LawForm::quadratic, {4.0, -4.0, 1.0}}.lowest_between(1.0, 4.0) == 2.0);
    CHECK(RuntimeLaw{LawForm::quadratic, {4.0, -4.0, 1.0}}.lowest_between(3.0, 4.0) == 3.0);
    CHECK(RuntimeLaw{LawForm::quadratic, {4.0, 1.0, -1.0}}.lowest_between(1.0, 2.5) == 2.5);
    CHECK(RuntimeLaw{LawForm::linear, {1.0, 0.1}}.lowest_between(1.0, 8.0) == 1.0);
    CHECK(RuntimeLaw{LawForm::linear, {1.0, -0.1}}.lowest_between(1.0, 8.0) == 8.0);
    // Times of a pass that rise from almost nothing behind a slow first one: the line is below zero at 2 tokens.
    const std::vector<Timing> dip = {{2, Seconds(5.41e-3), {}},
                                     {16, Seconds(1.21e-3), {}},
                                     {64, Seconds(13.21e-3), {}},
                                     {128, Seconds(32.41e-3), {}},
                                     {256, Seconds(70.81e-3), {}}};
    CHECK(why_not_fitted(LawForm::linear, dip, {}).find("within the measurements, and no pass takes that") !=
          std::string::npos);
    for (const LawForm form : all_law_forms) {
        if (why_not_fitted(form, dip, {}).empty()) {
            for (const Residual& residual : fit_law(form, dip, {}).residuals) {
                CHECK(residual.fitted.value() > 0.0);
            }
        }
    }
    // What scatters so much that half the interval of the mean would be below zero.
    const RuntimeFit constant = fit_law(LawForm::constant, dip, {});
    CHECK(constant.parameters[0].low == 0.0);
    CHECK(constant.parameters[0].value - constant.t_quantile * constant.parameters[0].standard_error < 0.0);
    CHECK(constant.mean_interval(64).low.value() == 0.0);
}

TEST_CASE("what cannot be fitted says why") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(problems(std::vector<Timing>{}) == std::vector<std::string>{"there are no measurements"});
    CHECK(problems({{1, Seconds(1), {}}, {2, Seconds(0), {}}}).at(0) == "row 2: the time must be a finite number above zero");
    CHECK(problems({{1, Seconds(nan), {}}}).at(0) == "row 1: the time must be a finite number above zero");
    CHECK(problems({{1, Seconds(1e17), {}}}).at(0).find("which no pass does") != std::string::npos);
    CHECK(problems({{1, Seconds(1), Seconds(1e305)}}).at(0).find("the spread must be") != std::string::npos);
    CHECK(problems({{nan, Seconds(1), {}}}).at(0) == "row 1: tokens must be a finite number, zero or above");
    CHECK(problems({{1, Seconds(1), Seconds(-1)}}).at(0) == "row 1: the spread must be between 0 and 1e9 seconds");
    CHECK(problems({{1, Seconds(1), Seconds(1)}, {2, Seconds(1), {}}}).at(0) ==
          "row 2: a spread must be given in every row or in none");
    CHECK(why_not_fitted(LawForm::linear, {{1, Seconds(1), {}}, {2, Seconds(1), {}}}, {}) ==
          "a linear law needs 3 or more rows at 2 or more token counts; there are 2 at 2");
    CHECK(why_not_fitted(LawForm::linear, std::vector<Timing>(5, Timing{4, Seconds(1), {}}), {}) ==
          "a linear law needs 3 or more rows at 2 or more token counts; there are 5 at 1");
    // Relative weights 1e42 apart: nothing but the smallest time counts.
    const std::vector<Timing> apart = {
        {1, Seconds(1e9), {}}, {2, Seconds(1e-12), {}}, {3, Seconds(1e-12), {}}, {4, Seconds(2e-12), {}}};
    for (const LawForm form : all_law_forms) {
        if (why_not_fitted(form, apart, {}).empty()) {
            CHECK(std::isfinite(fit_law(form, apart, {}).residual_scale));
        }
    }
    const std::vector<Timing> falling = exact({LawForm::linear, {1.0, -0.01}}, {1, 2, 3, 4, 5, 6});
    CHECK(why_not_fitted(LawForm::hinge, falling, {}).find("do not rise") != std::string::npos);
    CHECK(why_not_fitted(LawForm::linear, falling, weighted(Weighting::spread)).find("state one") != std::string::npos);
}

}  // namespace runtime_fit_test
