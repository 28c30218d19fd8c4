// Does the HOI mode reproduce SPIRe (arXiv 2504.06419) to the printed digit? Values of Figure 4 are those of the authors'
// published notebook; the cost analysis and Figure 3 are the paper's.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "setups.h"
#include "sim/critical.h"

namespace spire_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double contexts[] = {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

struct Series {
    const char* method;
    double batch;
    double accept_length;  ///< Table 1 at L = 512, used in every cell of the figure
    double values[9];      ///< at the contexts above
};

constexpr Series figure_4[] = {
    {"vanilla", 1, 2.647, {1.76, 1.76, 1.75, 1.73, 1.70, 1.65, 1.59, 1.51, 1.44}},
    {"vanilla", 64, 2.647, {1.59, 1.51, 1.44, 1.39, 1.36, 1.34, 1.33, 1.33, 1.33}},
    {"MagicDec", 1, 3.891, {0.78, 0.79, 0.79, 0.81, 0.84, 0.90, 1.01, 1.20, 1.46}},
    {"MagicDec", 64, 3.891, {1.00, 1.19, 1.45, 1.76, 2.05, 2.28, 2.42, 2.50, 2.55}},
    {"SPIRe", 1, 3.401, {1.71, 1.71, 1.72, 1.75, 1.79, 1.86, 1.99, 2.18, 2.40}},
    {"SPIRe", 64, 3.401, {1.98, 2.17, 2.39, 2.61, 2.78, 2.89, 2.95, 2.99, 3.00}},
};

/// The paper's platform: one byte a value, 600 FLOP a byte (H100 SXM data sheet, dense fp8); only the ratio matters.
Platform paper_platform() {
    Platform result = platform("h100-sxm", "ideal");
    result.mode = CostMode::hoi;
    result.device.operational_intensity = FlopsPerByte(600.0);
    return result;
}

RoundSetup setup_for(const std::string& method, double accept_length) {
    RoundSetup setup;
    setup.target = model("spire-target");
    setup.precision = uniform_precision(NumberFormat::fp8);
    setup.platform = paper_platform();
    setup.acceptance = Acceptance::mean_length(accept_length, 4.0);
    setup.speculations = chains_up_to(4);
    const ContextReach eighth{unlimited, 1.0, 1.0 / 8.0};  // the draft cache is 1 + L/8
    if (method == "vanilla") {
        setup.drafter = IndependentDrafter{model("spire-vanilla-draft"), setup.precision};
    } else if (method == "MagicDec") {
        setup.drafter = SelfDrafter{eighth, {}, {}, false};
    } else {
        setup.drafter = SpireDrafter{2, eighth, true};
    }
    return setup;
}

double multiplier(const std::string& method, double accept_length, double batch, double context) {
    const RoundSetup setup = setup_for(method, accept_length);
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {4, batch, context}).throughput_multiplier;
}

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

}  // namespace

TEST_CASE("SPIRe Figure 4: all 54 modelled throughput multipliers") {
    for (const Series& series : figure_4) {
        for (std::size_t i = 0; i < 9; ++i) {
            INFO(series.method << " batch " << series.batch << " context " << contexts[i]);
            const double value = multiplier(series.method, series.accept_length, series.batch, contexts[i]);
            CHECK(rounded(value, 100.0) == Approx(series.values[i]).margin(1e-9));
        }
    }
}

TEST_CASE("SPIRe cost analysis: 6.40, 5.12 and 6.15 units of target training") {
    const TrainingCost cost{10.0, 0.25};
    const double spire = rounded(multiplier("SPIRe", 3.401, 64, 512), 100.0);
    const double magicdec = rounded(multiplier("MagicDec", 3.891, 64, 512), 100.0);
    CHECK(spire == Approx(2.78));
    CHECK(magicdec == Approx(2.05));
    CHECK(rounded(decoding_saved(cost, spire), 100.0) == Approx(6.40));
    CHECK(rounded(decoding_saved(cost, magicdec), 100.0) == Approx(5.12));
    CHECK(rounded(net_saving(cost, spire), 100.0) == Approx(6.15));
    // "at least 20 % over MagicDec"
    CHECK(net_saving(cost, spire) / decoding_saved(cost, magicdec) >= 1.20);
    // The drafter pays from 0.25 / (1 − 1/2.78) = 0.39 units of decoding on.
    CHECK(break_even_decoding(cost, 2.78).value() == Approx(0.25 / (1.0 - 1.0 / 2.78)));
    CHECK_FALSE(break_even_decoding(cost, 0.9));
}

TEST_CASE("SPIRe headline gains at batch 64, context 512") {
    const double spire = multiplier("SPIRe", 3.401, 64, 512);
    CHECK(spire / multiplier("vanilla", 2.647, 64, 512) - 1.0 >= 1.00);
    CHECK(spire / multiplier("MagicDec", 3.891, 64, 512) - 1.0 >= 0.35);
}

TEST_CASE("SPIRe Figure 3: longest power-of-two context at which verification can be compute-bound") {
    const auto power_of_two = [](double context) { return std::exp2(std::floor(std::log2(context))); };
    const Precision precision = uniform_precision(NumberFormat::fp8);
    const Device device = paper_platform().device;
    // The figure counts v = k = 4 tokens a sequence. 2·4·67,117,056 / (16,384·600) = 54.6; Llama-3-70B: 5570.
    CHECK(power_of_two(critical_context(critical_inputs(model("spire-target"), precision, device), 4.0)) == 32.0);
    CHECK(power_of_two(critical_context(critical_inputs(model("llama-3-70b"), precision, device), 4.0)) == 4096.0);
}

TEST_CASE("at the critical batch verification costs as much compute as memory, and beyond the critical context none does") {
    const Precision precision = uniform_precision(NumberFormat::fp8);
    const CriticalInputs inputs = critical_inputs(model("llama-3-70b"), precision, paper_platform().device);
    const double batch = critical_batch(inputs, 5.0, 2048.0).value();
    const double flops = batch * 2.0 * 5.0 * inputs.active_parameters;
    const double bytes = (inputs.weight_bytes + batch * 2048.0 * inputs.cache_per_token).value();
    CHECK(flops == Approx(600.0 * bytes).epsilon(1e-12));
    CHECK_FALSE(critical_batch(inputs, 5.0, critical_context(inputs, 5.0) * 1.001));
}

}  // namespace spire_test
