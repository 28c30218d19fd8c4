// Do fitted laws find the parameters that made the data, do held-out shapes stay out, and is more work never cheaper?
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "calibrate/kernel_fit.h"
#include "calibrate/kernel_fit_parts.h"
#include "hardware/calibration.h"
#include "setups.h"

namespace kernel_fit_test {

using namespace treeline;
using namespace treeline::calibrate;
using namespace treeline::testing;

namespace {

namespace parts = calibrate::detail;

constexpr double micro = 1e-6;

KernelFitOptions quick() {
    KernelFitOptions options;
    options.bootstraps = 20;
    return options;
}

/// Linear layers of 24 shapes at 16 row counts, timed by `law` with the relative noise of a few per cent that tables have.
KernelTable linear_table(const sim::Device& on, const sim::KernelLaw& law, double noise) {
    KernelTable table{sim::KernelClass::gemm, sim::NumberFormat::bf16, {}, {}, on.cache * 2.0, "made up", 0};
    const sim::Rates data_sheet = data_sheet_of(on, table.kernel, table.format);
    std::mt19937_64 random(7);
    std::normal_distribution<double> gauss(0.0, 1.0);  // times the noise, which may be none
    for (const double n : {8192.0, 12288.0, 16384.0, 28672.0, 49152.0, 65536.0}) {
        for (const double k : {8192.0, 12288.0, 16384.0, 32768.0}) {
            for (double m = 1.0; m <= 1024.0; m *= 1.587) {
                KernelSample sample = linear_sample(std::round(m), n, k, sim::NumberFormat::bf16, Seconds(1.0));
                sample.time = predicted(law, data_sheet, sample) * std::exp(noise * gauss(random));
                table.samples.push_back(sample);
            }
        }
    }
    return table;
}

KernelTable attention_table(const sim::Device& on, const sim::KernelLaw& law) {
    KernelTable table{sim::KernelClass::attention, sim::NumberFormat::bf16, {}, {}, on.cache, "made up", 0};
    const sim::Rates data_sheet = data_sheet_of(on, table.kernel, table.format);
    for (const double heads : {1.0, 2.0, 4.0, 8.0}) {
        for (double batch = 1.0; batch <= 1024.0; batch *= 4.0) {
            for (double context = 256.0; context <= 131072.0; context *= 4.0) {
                const AttentionShape shape{batch, 1.0, context, 8.0 * heads, heads, 128.0, 0.0};
                if (cache_bytes(shape, table.format) > on.cache) {
                    KernelSample sample = attention_sample(shape, table.format, Seconds(1.0));
                    sample.time = predicted(law, data_sheet, sample);
                    table.samples.push_back(sample);
                }
            }
        }
    }
    return table;
}

}  // namespace

TEST_CASE("the parameters that made a table of linear layers are found again", "[slow]") {
    const sim::Device h100 = device("h100-sxm");
    sim::KernelLaw truth;
    truth.startup = Seconds(6.0 * micro);
    truth.bandwidth_share = 0.85;
    truth.peak_share = 0.70;
    truth.overlap = 0.25;
    const KernelTable table = linear_table(h100, truth, 0.02);
    REQUIRE(problems(table).empty());
    const auto fit = calibrate::calibrate(table, data_sheet_of(h100, table.kernel, table.format), quick());
    REQUIRE(fit);
    CHECK(fit->law.startup.value() == Approx(6.0 * micro).epsilon(0.10));
    CHECK(fit->law.bandwidth_share == Approx(0.85).epsilon(0.02));
    CHECK(fit->law.peak_share == Approx(0.70).epsilon(0.02));
    CHECK(fit->law.overlap == Approx(0.25).epsilon(0.10));
    // The median of |N(0, 0.02)| is 0.6745 · 0.02 = 1.35 %, its 90th percentile 1.645 · 0.02 = 3.3 %.
    CHECK(fit->held_out.median == Approx(0.0135).epsilon(0.15));
    CHECK(fit->held_out.p90 == Approx(0.033).epsilon(0.15));
    CHECK(fit->sites == 24);
    for (const FittedKernelParameter& parameter : fit->parameters) {
        CHECK(parameter.low <= parameter.value);
        CHECK(parameter.high >= parameter.value);
        CHECK(parameter.high > parameter.low);
    }
}

TEST_CASE("a tile and a step in the rows are told from smooth growth", "[slow]") {
    const sim::Device h100 = device("h100-sxm");
    sim::KernelLaw truth;
    truth.startup = Seconds(5.0 * micro);
    truth.bandwidth_share = 0.9;
    truth.peak_share = 0.6;
    truth.row_tile = 128.0;
    const auto tiled = calibrate::calibrate(linear_table(h100, truth, 0.01),
                                            data_sheet_of(h100, sim::KernelClass::gemm, sim::NumberFormat::bf16), quick());
    REQUIRE(tiled);
    CHECK(tiled->law.row_tile == 128.0);
    CHECK(tiled->held_out.median < 0.01);

    truth.row_tile = 1.0;
    truth.step_rows = 64.0;
    truth.step_share = 0.3;
    const auto stepped = calibrate::calibrate(linear_table(h100, truth, 0.01),
                                              data_sheet_of(h100, sim::KernelClass::gemm, sim::NumberFormat::bf16), quick());
    REQUIRE(stepped);
    CHECK(stepped->law.step_rows == 64.0);
    CHECK(stepped->law.step_share == Approx(0.3).epsilon(0.05));
}

TEST_CASE("tiles that double with the rows, what fills them and quantised inputs are told apart", "[slow]") {
    const sim::Device h100 = device("h100-sxm");
    sim::KernelLaw truth;
    truth.bandwidth_share = 0.9;
    truth.peak_share = 0.6;
    truth.row_tile = 256.0;
    truth.least_tile = 16.0;
    truth.padding = 2.0;
    truth.per_activation = Seconds(3e-12);
    const auto fit = calibrate::calibrate(linear_table(h100, truth, 0.01),
                                          data_sheet_of(h100, sim::KernelClass::gemm, sim::NumberFormat::bf16), quick());
    REQUIRE(fit);
    CHECK(fit->law.row_tile == 256.0);
    CHECK(fit->law.padding == Approx(2.0).epsilon(0.05));
    CHECK(fit->law.per_activation.value() == Approx(3e-12).epsilon(0.1));
    CHECK(fit->held_out.median < 0.01);
}

TEST_CASE("the parameters that made a table of attention are found again, without those that it lacks") {
    const sim::Device h100 = device("h100-sxm");
    sim::KernelLaw truth;
    truth.startup = Seconds(15.0 * micro);
    truth.bandwidth_share = 0.88;
    truth.per_head = Seconds(20e-9);
    const KernelTable table = attention_table(h100, truth);
    const auto fit = calibrate::calibrate(table, data_sheet_of(h100, table.kernel, table.format), quick());
    REQUIRE(fit);
    CHECK(fit->law.startup.value() == Approx(15.0 * micro).epsilon(1e-3));
    CHECK(fit->law.per_head.value() == Approx(20e-9).epsilon(1e-3));
    CHECK(fit->law.bandwidth_share == Approx(0.88).epsilon(1e-3));
    CHECK(fit->law.per_context == Seconds(0.0));
    CHECK(fit->law.wide_head_share == 1.0);
    CHECK(fit->held_out.p90 < 1e-3);
}

TEST_CASE("on a CPU costs of few rows and of outputs are told from a smooth law") {
    sim::Device cpu = device("h100-sxm");
    cpu.kind = sim::DeviceKind::cpu;
    sim::KernelLaw truth;
    truth.peak_share = 0.8;
    truth.bandwidth_share = 0.9;
    truth.first_row = 40.0;
    truth.knots[0] = {16.0, 3.0};
    truth.per_output = Seconds(2e-9);
    KernelTable table = linear_table(cpu, truth, 0.005);
    table.on_cpu = true;
    const auto fit = calibrate::calibrate(table, data_sheet_of(cpu, table.kernel, table.format), quick());
    REQUIRE(fit);
    CHECK(fit->held_out.median < 0.005);
    CHECK(fit->law.row_tile == 1.0);
    const sim::Rates data_sheet = data_sheet_of(cpu, table.kernel, table.format);
    for (const double rows : {1.0, 4.0, 16.0, 100.0, 1000.0}) {
        const KernelSample unseen = linear_sample(rows, 20480.0, 10240.0, table.format, Seconds(1.0));
        CHECK(predicted(fit->law, data_sheet, unseen).value() ==
              Approx(predicted(truth, data_sheet, unseen).value()).epsilon(0.01));
    }
}

TEST_CASE("a parameter on its bound rejects the fit") {
    const sim::Device h100 = device("h100-sxm");
    sim::KernelLaw truth;  // no startup at all
    truth.bandwidth_share = 0.8;
    const KernelTable table = linear_table(h100, truth, 0.0);
    std::vector<std::size_t> all(table.samples.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = i;
    }
    const sim::Rates data_sheet = data_sheet_of(h100, table.kernel, table.format);
    sim::KernelLaw start;
    start.startup = Seconds(1.0 * micro);
    CHECK(fit_law(table, data_sheet, {{3}, {}}, all, start, {}));              // a bandwidth alone can be fitted
    CHECK_FALSE(fit_law(table, data_sheet, {{0, 3}, truth}, all, start, {}));  // startup goes to zero
    CHECK(sim::kernel_parameters()[0].name == "startup");
    CHECK(sim::kernel_parameters()[3].name == "bandwidth_share");
}

TEST_CASE("every law that selection may arrive at is one that can be read again") {
    const sim::Device h100 = device("h100-sxm");
    const KernelTable table = linear_table(h100, {}, 0.0);
    const parts::PreparedTable prepared = parts::prepared(table, data_sheet_of(h100, table.kernel, table.format));
    const std::vector<parts::KernelLawExtension> extensions = parts::extensions(table, prepared);
    REQUIRE(extensions.size() > 20);
    int forms = 0;
    const auto check = [&](const parts::ExtendedForm& extended) {
        sim::Calibration calibration;
        calibration.kernels.push_back({table.kernel, table.format, extended.form.fixed});
        for (const std::string& problem : problems_of(calibration)) {
            INFO(problem << ": row_tile " << extended.form.fixed.row_tile << ", least_tile " << extended.form.fixed.least_tile);
            CHECK(problem.find("tile") == std::string::npos);
        }
        ++forms;
    };
    for (const parts::ExtendedForm& beginning : parts::beginnings(table, prepared)) {
        check(beginning);
        for (const parts::KernelLawExtension& first : extensions) {
            const auto once = parts::extended(beginning.form, beginning.start, first);
            if (!once) {
                continue;
            }
            check(*once);
            for (const parts::KernelLawExtension& second : extensions) {
                if (const auto twice = parts::extended(once->form, once->start, second)) {
                    check(*twice);
                }
            }
        }
    }
    CHECK(forms > 1000);
}

TEST_CASE("one shape is not enough, and says so") {
    const sim::Device h100 = device("h100-sxm");
    KernelTable table = linear_table(h100, {}, 0.0);
    table.samples.resize(10);
    REQUIRE(problems(table).size() == 1);
    CHECK(problems(table).front().find("holds 1 shape of gemm, bf16") != std::string::npos);
    table = linear_table(h100, {}, 0.0);
    table.samples[5].time = Seconds(-1.0);
    CHECK(problems(table).front().find("above zero") != std::string::npos);
}

TEST_CASE("by the committed calibrations more tokens, sequences or context are never cheaper") {
    const std::vector<std::string> names = hardware::calibrated_devices(source_folder() / "hardware");
    REQUIRE(names.size() >= 3);
    for (const std::string& name : names) {
        const sim::Device on = device(name);
        REQUIRE(on.calibration);
        for (const sim::CalibratedKernel& kernel : on.calibration->kernels) {
            const sim::Rates data_sheet = data_sheet_of(on, kernel.kernel, kernel.format);
            const auto time = [&](const KernelSample& sample) { return predicted(kernel.law, data_sheet, sample).value(); };
            for (double step = 1.0; step < 4096.0; step += std::ceil(0.05 * step)) {
                const double next = step + std::ceil(0.05 * step);
                INFO(name << ", " << name_of(kernel.kernel) << ", " << step);
                if (kernel.kernel == sim::KernelClass::gemm) {
                    // Rows that fill a tile may cost more than rows: measured so. Whole tiles are compared then.
                    const double unit = kernel.law.padding > 1.0 ? kernel.law.row_tile : 1.0;
                    CHECK(time(linear_sample(next * unit, 4096, 4096, kernel.format, {})) >=
                          time(linear_sample(step * unit, 4096, 4096, kernel.format, {})));
                    CHECK(time(linear_sample(4, 16 * next, 4096, kernel.format, {})) >=
                          (1.0 - 1e-6) * time(linear_sample(4, 16 * step, 4096, kernel.format, {})));
                } else if (kernel.kernel == sim::KernelClass::scan) {
                    CHECK(time(recurrent_sample({next, 4, 24}, kernel.format, {})) >=
                          time(recurrent_sample({step, 4, 24}, kernel.format, {})));
                    CHECK(time(recurrent_sample({4, next, 24}, kernel.format, {})) >=
                          time(recurrent_sample({4, step, 24}, kernel.format, {})));
                } else if (kernel.kernel == sim::KernelClass::convolution) {
                    CHECK(time(convolution_sample(next, 1, 4096, 4, kernel.format, {})) >=
                          time(convolution_sample(step, 1, 4096, 4, kernel.format, {})));
                } else {
                    CHECK(time(attention_sample({next, 1, 1024, 32, 8}, kernel.format, {})) >=
                          time(attention_sample({step, 1, 1024, 32, 8}, kernel.format, {})));
                    CHECK(time(attention_sample({4, 1, 32 * next, 32, 8}, kernel.format, {})) >=
                          time(attention_sample({4, 1, 32 * step, 32, 8}, kernel.format, {})));
                }
            }
        }
    }
}

}  // namespace kernel_fit_test
