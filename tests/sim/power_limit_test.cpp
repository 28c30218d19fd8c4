// Devices under a limit of their power: what is left between the points of a description, and that it is the clock of the
// compute units that falls.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/platform.h"
#include "sim/round.h"

namespace power_limit_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Device with_points(std::vector<PowerPoint> points) {
    Device device = platform("h100-sxm", "ideal").device;
    device.power_limits = std::move(points);
    return device;
}

Device halved() { return with_points({{Watts(200.0), 0.8, 0.5}, {Watts(400.0), 1.0, 1.0}}); }

}  // namespace

TEST_CASE("under a limit a device has the shares of its points, linear in between") {
    const Device whole = halved(), at_point = under_power_limit(whole, Watts(200.0)),
                 between = under_power_limit(whole, Watts(250.0)), above = under_power_limit(whole, Watts(500.0));
    CHECK(at_point.bandwidth.value() == Approx(0.8 * whole.bandwidth.value()));
    CHECK(at_point.peak_for(NumberFormat::bf16).value() == Approx(0.5 * whole.peak_for(NumberFormat::bf16).value()));
    CHECK(between.bandwidth.value() == Approx(0.85 * whole.bandwidth.value()));
    CHECK(between.peak_for(NumberFormat::fp8).value() == Approx(0.625 * whole.peak_for(NumberFormat::fp8).value()));
    CHECK(above.bandwidth == whole.bandwidth);
    CHECK(at_point.board_power == Watts(200.0));
    CHECK(above.board_power == Watts(500.0));
    CHECK(power_limit_text(between) == " at 250 W");
    CHECK(power_limit_text(whole).empty());
    CHECK(problems_of(at_point).empty());
}

TEST_CASE("a limit that nobody measured is a problem") {
    CHECK(power_limit_problem(halved(), Watts(200.0)).empty());
    CHECK_THAT(power_limit_problem(halved(), Watts(199.0)), Catch::Contains("must be at least 200 W"));
    CHECK_THAT(power_limit_problem(with_points({}), Watts(300.0)), Catch::Contains("not known"));
}

TEST_CASE("points of power rise, and hold shares") {
    CHECK(problems_of(halved()).empty());
    CHECK(problems_of(with_points({{Watts(300.0), 0.8, 0.5}, {Watts(200.0), 1.0, 1.0}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 0.5}, {Watts(300.0), 0.7, 1.0}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 0.5}, {Watts(300.0), 1.0, 0.4}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 0.5}, {Watts(200.0), 1.0, 1.0}})).size() == 1);  // which of the two?
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 0.5}, {Watts(201.0), 0.8, 0.5}})).empty());
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 1.1}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 1.1, 0.5}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 0.8, 0.0}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(0.0), 0.8, 0.5}})).size() == 1);
    CHECK(problems_of(with_points({{Watts(200.0), 0.0, 0.5}})).size() == 1);
}

TEST_CASE("operational intensity falls with what computes") {
    Device device = halved();
    device.operational_intensity = FlopsPerByte(300.0);
    CHECK(under_power_limit(device, Watts(200.0)).operational_intensity->value() == Approx(300.0 * 0.5 / 0.8));
}

// The sweep of power limits of an RTX 5090 (qwen38-mtp, pull request 47; Qwen3.8-27B in llama.cpp): 71.2 tokens/s without
// drafts at 400 W of 74.8 at 600 W; 4 drafts gain 1.87 instead of 2.17, and 6 gain 1.73 instead of 2.05. The description's
// points come from it, rows of weights and attention do not.
TEST_CASE("a limit takes more from rounds than from plain steps") {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.platform = platform("rtx-5090", "ideal");
    setup.precision = uniform_precision(NumberFormat::bf16);
    setup.drafter = NgramDrafter{};
    setup.acceptance = Acceptance::mean_length(2.5, 6);
    setup.speculations = {chains_up_to(0).front(), chains_up_to(6).back()};
    const auto times = [&](double batch) {
        const CompiledRound round = compile_round(setup);
        return std::pair(evaluate(round, {0, batch, 500.0}).time_per_token.value(),
                         evaluate(round, {1, batch, 500.0}).time_per_token.value());
    };
    const auto [plain, drafted] = times(32.0);
    setup.platform.device = under_power_limit(setup.platform.device, Watts(400.0));
    const auto [limited_plain, limited_drafted] = times(32.0);
    CHECK(limited_plain / plain == Approx(1.0 / 0.952).epsilon(0.01));
    CHECK(limited_drafted / drafted < 1.0 / 0.70);  // 224 rows: nearly all of it computes
    CHECK(limited_drafted / drafted > 0.95 / 0.70);
}

}  // namespace power_limit_test
