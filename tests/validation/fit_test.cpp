// Does a fit find what produced its rows, and are fits refused that explain no more than they are told?
#include <catch2/catch.hpp>

#include "setups.h"
#include "validation/fit.h"
#include "validation/predict.h"

namespace fit_test {

using namespace treeline;
using namespace treeline::validation;
using namespace treeline::testing;

namespace {

ExperimentRow chain_row(double batch, int draft_tokens, double measured) {
    ExperimentPoint point;
    point.setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    point.setup.speculations = {sim::Speculation{sim::ChainShape{0}, sim::Verification::unrolled, "chain 0"},
                                sim::Speculation{sim::ChainShape{draft_tokens}, sim::Verification::unrolled, "chain"}};
    point.speculation = draft_tokens == 0 ? 0 : 1;
    point.batch = batch;
    point.context = 1000.0;
    ExperimentRow row;
    row.name = "row";
    row.observable = Observable::round_time;
    row.measured = measured;
    row.point = point;
    return row;
}

ExperimentPlatform free_platform(const std::vector<std::string>& names) {
    ExperimentPlatform result;
    result.name = "test";
    result.file = "file";
    result.platform = platform("h100-sxm", "cuda-graph");
    for (const std::string& name : names) {
        result.free.push_back(free_parameter(name));
    }
    return result;
}

}  // namespace

TEST_CASE("a fit finds the numbers that its rows were made with") {
    const ExperimentPlatform described = free_platform({"memory_efficiency", "host_per_round"});
    sim::Platform truth = described.platform;
    truth.stack.kernels.memory_efficiency = 0.71;
    truth.stack.host[sim::HostDriver::round] = Seconds(1.7e-3);
    std::vector<ExperimentRow> rows;
    for (const auto& [batch, drafts] : {std::pair{1.0, 0}, {8.0, 0}, {1.0, 3}, {4.0, 5}, {1.0, 6}}) {
        rows.push_back(chain_row(batch, drafts, 1.0));
        rows.back().measured = predicted(rows.back(), truth);
    }
    std::vector<const ExperimentRow*> pointers;
    for (const ExperimentRow& row : rows) {
        pointers.push_back(&row);
    }
    const PlatformFit fit = fit_platform(described, pointers);
    REQUIRE(fit.parameters.size() == 2);
    CHECK(fit.parameters[0].value == Approx(0.71).epsilon(1e-5));
    CHECK(fit.parameters[1].value == Approx(1.7e-3).epsilon(1e-4));
    CHECK(fit.parameters[0].start == Approx(described.platform.stack.kernels.memory_efficiency));
    CHECK(fit.remarks.empty());
    for (const ExperimentRow& row : rows) {
        CHECK(predicted(row, fit.fitted) == Approx(row.measured).epsilon(1e-5));
    }
}

TEST_CASE("intervals hold the truth when rows are noisy, and widen with the noise") {
    const ExperimentPlatform described = free_platform({"memory_efficiency"});
    sim::Platform truth = described.platform;
    truth.stack.kernels.memory_efficiency = 0.8;
    const auto factor_with = [&](double noise) {
        std::vector<ExperimentRow> rows;
        std::vector<const ExperimentRow*> pointers;
        for (const double sign : {1.0, -1.0, 1.0, -1.0}) {
            rows.push_back(chain_row(1.0 + static_cast<double>(rows.size()), 0, 1.0));
            rows.back().measured = predicted(rows.back(), truth) * (1.0 + sign * noise);
        }
        for (const ExperimentRow& row : rows) {
            pointers.push_back(&row);
        }
        const FittedNumber fitted = fit_platform(described, pointers).parameters.front();
        CHECK(fitted.low < 0.8);
        CHECK(fitted.high > 0.8);
        return fitted.high / fitted.low;
    };
    CHECK(factor_with(0.05) > factor_with(0.01));
}

TEST_CASE("a parameter that would have to leave what is possible is rejected, and the others are fitted without it") {
    ExperimentPlatform described = free_platform({"memory_efficiency", "host_per_round"});
    described.platform.stack.kernels.memory_efficiency = 0.9;
    sim::Platform truth = described.platform;
    truth.stack.host[sim::HostDriver::round] = Seconds(1.7e-3);
    // Plain decoding faster than the device's peak allows: no efficiency up to 1 explains it.
    std::vector<ExperimentRow> rows = {chain_row(1.0, 0, 1.0), chain_row(1.0, 4, 1.0), chain_row(2.0, 4, 1.0)};
    rows[0].measured = 0.5 * predicted(rows[0], described.platform);
    for (ExperimentRow* row : {&rows[1], &rows[2]}) {
        row->measured = predicted(*row, truth);
    }
    described.free = {free_parameter("memory_efficiency")};
    const ExperimentRow* impossible = rows.data();
    const PlatformFit alone = fit_platform(described, std::span(&impossible, 1));
    CHECK(alone.parameters.empty());
    CHECK(alone.fitted.stack.kernels.memory_efficiency == 0.9);
    REQUIRE(alone.remarks.size() == 1);
    CHECK(alone.remarks.front() ==
          "the rows cannot tell memory_efficiency from its bound; it is rejected, and the stated 0.9 is kept");

    described.free = {free_parameter("host_per_tree"), free_parameter("host_per_round")};  // chains never need the first
    described.platform.stack.host[sim::HostDriver::tree] = Seconds(0.0);
    const std::vector<const ExperimentRow*> chains = {&rows[1], &rows[2]};
    const PlatformFit rest = fit_platform(described, chains);
    REQUIRE(rest.parameters.size() == 1);
    CHECK(rest.parameters.front().parameter.name == "host_per_round");
    CHECK(rest.parameters.front().value == Approx(1.7e-3).epsilon(1e-3));
    CHECK(rest.fitted.stack.host[sim::HostDriver::tree] == Seconds(0.0));
}

TEST_CASE("fits that explain no more than they are told are refused") {
    const ExperimentPlatform two = free_platform({"memory_efficiency", "host_per_round"});
    CHECK(fit_problem(two, 2, 10).empty());
    CHECK(fit_problem(two, 1, 10) == "the platform 'test' has 2 free parameters, but only 1 rows to fit them to");
    CHECK(fit_problem(two, 0, 10) == "the platform 'test' has free parameters but no row with the role fit");
    CHECK(fit_problem(two, 3, 10) == "the platform 'test' fits 3 of its 10 rows; at most a fifth of them may be fitted");
    const ExperimentPlatform five =
        free_platform({"memory_efficiency", "host_per_round", "host_per_tree", "node_cost", "scan_step"});
    CHECK(fit_problem(five, 10, 100) == "the platform 'test' has 5 free parameters; at most 4 are allowed");
    CHECK(fit_problem(free_platform({}), 0, 5).empty());
}

TEST_CASE("every parameter can be set and read on a platform") {
    for (const std::string& name : parameter_names()) {
        INFO(name);
        sim::Platform where = platform("h100-sxm", "cuda-graph");
        const FreeParameter parameter = free_parameter(name);
        set_value(parameter, 0.5 * parameter.high, where);
        CHECK(value_of(parameter, where) == Approx(0.5 * parameter.high));
    }
}

}  // namespace fit_test
