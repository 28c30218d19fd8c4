// Do fits that are data find the numbers that their rows were made with, and are files refused that say what cannot be?
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "fit_numbers.h"
#include "text/input_error.h"

namespace fit_numbers_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double truth_per_pass = 350e-6, truth_per_layer = 12e-6;

/// A step of so many layers that takes host_per_pass, per_layer for each and a millisecond for each request.
FitCase step_of(const std::string& stack, double layers, double requests) {
    FitCase at;
    at.predicted = [layers, requests](const Change& change) {
        sim::RoundSetup setup;
        change(setup);
        const sim::Stack& numbers = setup.platform.stack;
        return 1e-3 * requests + numbers.passes.host_per_pass.value() + layers * numbers.layers.per_layer.value();
    };
    at.measured = 1e-3 * requests + truth_per_pass + layers * truth_per_layer;
    at.owners = {"stacks/" + stack};
    at.labels = {
        {"stack", stack}, {"layers", std::to_string(layers)}, {"requests", std::to_string(requests)}, {"mode", "roofline"}};
    return at;
}

std::vector<FitCase> steps() {
    std::vector<FitCase> cases;
    for (const double layers : {20.0, 40.0, 80.0}) {
        for (const double requests : {1.0, 2.0, 8.0}) {
            cases.push_back(step_of("vllm-0.10", layers, requests));
        }
    }
    return cases;
}

FitNumber number_of(const std::string& key, double high) {
    FitNumber number;
    number.key = key;
    number.of = {"stacks/vllm-*"};
    number.high = high;
    number.step = 1e-6;
    number.spread = 1.0;  // nothing is known beforehand
    return number;
}

FitFile fit_by(FitMethod method, std::vector<FitNumber> numbers) {
    FitFile fit;
    fit.method = method;
    fit.numbers = std::move(numbers);
    return fit;
}

}  // namespace

TEST_CASE("least squares find numbers that only some rows tell apart, and predict what is left out") {
    FitFile fit = fit_by(FitMethod::least_squares, {number_of("host_per_pass", 0.01), number_of("per_layer", 1e-3)});
    fit.left_out = {{"depths", {"layers"}}, {"depths again", {"layers"}, true}};
    std::vector<FitCase> cases = steps();
    cases.push_back(step_of("sglang-0.5.1", 40.0, 4.0));  // of another owner: nothing is set there
    cases.back().measured = 4e-3;
    const FittedNumbers fitted = fit_numbers(fit, cases);
    CHECK(fitted.found.values[0] == Approx(truth_per_pass).epsilon(1e-4));
    CHECK(fitted.found.values[1] == Approx(truth_per_layer).epsilon(1e-4));
    for (const auto& [name, errors] : fitted.left_out) {
        INFO(name);
        REQUIRE(errors.size() == cases.size());
        for (const double error : errors) {
            CHECK(std::abs(error) < 1e-4);
        }
    }
}

TEST_CASE("rows that are not fitted are predicted, and left out of nothing") {
    FitFile fit = fit_by(FitMethod::least_squares, {number_of("host_per_pass", 0.01), number_of("per_layer", 1e-3)});
    fit.left_out = {{"depths", {"layers"}}};
    std::vector<FitCase> cases = steps();
    cases.push_back(step_of("vllm-0.10", 10.0, 1.0));
    cases.back().measured *= 2.0;
    cases.back().fitted = false;
    const FittedNumbers fitted = fit_numbers(fit, cases);
    CHECK(fitted.found.values[0] == Approx(truth_per_pass).epsilon(1e-4));
    CHECK(fitted.errors.back() == Approx(-0.5).epsilon(1e-4));
    CHECK(std::isnan(fitted.left_out.at("depths").back()));
}

TEST_CASE("a number that is a speed is fitted by its inverse, and takes from another what it adds") {
    FitNumber per_pass = number_of("host_per_pass", 0.01);
    per_pass.takes_from = "per_layer";
    FitCase at = step_of("vllm-0.10", 0.0, 0.0);
    at.setup.platform.stack.layers.per_layer = Seconds(300e-6);
    at.predicted = [setup = at.setup](const Change& change) {
        sim::RoundSetup changed = setup;
        change(changed);
        return changed.platform.stack.passes.host_per_pass.value() + changed.platform.stack.layers.per_layer.value();
    };
    CHECK(predicted(at, {per_pass}, {100e-6}) == Approx(300e-6));  // 100 and what is left of 300
    CHECK(predicted(at, {per_pass}, {500e-6}) == Approx(500e-6));  // nothing is left
    FitNumber inverse = number_of("memory_efficiency", 2.0);
    inverse.inverse = true;
    at.predicted = [](const Change& change) {
        sim::RoundSetup setup;
        change(setup);
        return setup.platform.stack.kernels.memory_efficiency;
    };
    CHECK(predicted(at, {inverse}, {4.0}) == 0.25);
}

TEST_CASE("medians are of what each row says, and outliers do not move them") {
    std::vector<FitCase> cases = steps();
    cases.front().measured *= 3.0;
    for (FitCase& at : cases) {
        at.measured -= std::stod(at.labels.at("layers")) * truth_per_layer;
    }
    for (const FitMethod method : {FitMethod::median, FitMethod::least_distances}) {
        const FittedNumbers fitted = fit_numbers(fit_by(method, {number_of("host_per_pass", 0.01)}), cases);
        CHECK(fitted.found.values.front() == Approx(truth_per_pass).epsilon(1e-6));
    }
}

TEST_CASE("a grid finds the best of its values, errors counted from the median of a group") {
    FitNumber per_pass = number_of("host_per_pass", 0.01), per_layer = number_of("per_layer", 1e-3);
    per_pass.values = {0.0, 200e-6, truth_per_pass, 500e-6};
    per_layer.values = {0.0, truth_per_layer, 20e-6};
    std::vector<FitCase> cases = steps();
    FitFile fit = fit_by(FitMethod::grid, {per_pass, per_layer});
    CHECK(fit_numbers(fit, cases).found.values == std::vector{truth_per_pass, truth_per_layer});
    // A factor on all rows of a depth is no error of what tells batches apart.
    for (FitCase& at : cases) {
        at.measured *= at.labels.at("layers") == std::to_string(20.0) ? 1.5 : 0.8;
    }
    fit.from_median_of = {"layers"};
    const FittedNumbers fitted = fit_numbers(fit, cases);
    CHECK(mean_distance(fit, cases, fitted.errors) < 1e-9);
}

TEST_CASE("a step is predicted from the measured one beside it, so that what both err by cancels") {
    FitFile fit = fit_by(FitMethod::grid, {number_of("per_layer", 1e-3)});
    std::vector<FitCase> cases = {step_of("vllm-0.10", 20.0, 2.0), step_of("vllm-0.10", 40.0, 2.0)};
    cases.push_back(step_of("vllm-0.10", 40.0, 3.0));  // nothing beside it
    for (FitCase& at : cases) {
        at.measured += 7e-3;  // of which the model knows nothing
    }
    fit.rows.beside = Beside{{"requests"}, {{"layers", std::to_string(20.0)}}, Comparison::difference};
    const std::vector<FitCase> counted = counted_cases(fit, cases);
    REQUIRE(counted.size() == 1);
    CHECK(predicted(counted.front(), fit.numbers, {truth_per_layer}) == Approx(counted.front().measured));
    fit.rows.beside->comparison = Comparison::ratio;
    const double ratio = counted_cases(fit, cases).front().predicted([](sim::RoundSetup&) {});
    CHECK(ratio == Approx(cases.front().measured));  // no number is set: both take as long
    fit.rows.where = {{"layers", ">= 40"}};
    CHECK(counted_cases(fit, cases).empty());
}

TEST_CASE("conditions name values, patterns, bounds and what is not meant") {
    const std::map<std::string, std::string> labels = {{"stack", "vllm-0.10"}, {"requests", "64"}};
    CHECK(holds({}, labels));
    CHECK(holds({{"stack", "vllm-*"}, {"requests", ">= 64"}}, labels));
    CHECK_FALSE(holds({{"stack", "vllm-*"}, {"requests", "< 64"}}, labels));
    CHECK(holds({{"stack", "not sglang*"}}, labels));
    CHECK_FALSE(holds({{"stack", "vllm"}}, labels));
}

TEST_CASE("fits that are data can be read, and a wrong one is refused in sentences") {
    CHECK(fits_of("").size() >= fits_of("shared_cache").size() + fits_of("expert").size() + 2);
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "treeline_wrong_fit.json";
    std::ofstream(file) << R"({"format": "treeline-fit", "version": 1, "title": "t", "held_fixed": "h", "method": "grid",
        "rows": {"file": "f", "kind": "runs", "quantity": "step", "modes": ["calibratd"], "why": "w"},
        "numbers": [{"key": "host_per_pas", "of": ["stacks/*"]},
                    {"key": "memory_efficiency", "of": ["stacks/*"], "high": 2, "values": [0.5]}]})";
    try {
        read_fit(file);
        FAIL("it was read");
    } catch (const text::InputError& error) {
        const std::string problems = error.what();
        CHECK(problems.find("'calibratd' is no cost mode") != std::string::npos);
        CHECK(problems.find("is no number that a fit knows") != std::string::npos);
        CHECK(problems.find("lies outside of what may be stated, 0.01 to 1") != std::string::npos);
    }
    std::filesystem::remove(file);
}

}  // namespace fit_numbers_test
