// How far is the time per token of plain decoding from what serving engines measured: predicted from the stacks as described,
// from data sheets alone, and from calibrated kernels?
//
// Reads ../shared/data/serving/silicon_tpot.csv and, for mixtures, silicon_tpot_moe.csv (end-to-end runs of vLLM, SGLang and
// TensorRT-LLM without speculation, from ai-dynamo/aiconfigurator). Nothing is fitted here: each cost mode, the engine's stack
// profile, and tensor parallelism as stated. A row's TPOT includes the prompts of the other requests, which the steady state
// prices (RoundSetup::output_tokens). Rows that the data's README says to drop (queued: TTFT above 2 s; GB200) are dropped, as
// are answers under 1,024 tokens, where prompts outweigh decoding.
//
// Exits with 77 without the data and with 1 when the median error of the stacks exceeds the goal below, or data sheets do
// better.
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "serving_rows.h"
#include "shared_measurements.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

constexpr double largest_median_error = 0.10;

/// The stack's host times and launches alone: kernels that reach every figure of the data sheet.
Platform with_ideal_kernels(Platform platform) {
    platform.stack.memory_efficiency = platform.stack.compute_efficiency = 1.0;
    platform.stack.unhidden = 0.0;
    platform.stack.kernel_startup = Seconds(0.0);
    platform.stack.linear_speed = {};
    return platform;
}

/// What a prediction rests on.
enum class Basis { data_sheet, stack_efficiencies, earlier_laws, calibration };

/// The device with the laws of linear layers, decode attention, scans and convolutions alone.
Device without_own_laws(Device device) {
    std::erase_if(device.calibration->kernels, [](const CalibratedKernel& kernel) {
        using enum KernelClass;
        return kernel.kernel == all_reduce || kernel.kernel == experts || kernel.kernel == latent_attention ||
               kernel.kernel == latent_prompt || kernel.kernel == prompt_attention || kernel.kernel == prompt_window;
    });
    return device;
}

double predicted_ms(const ServingRow& row, Basis basis) {
    const bool calibrated = basis == Basis::calibration || basis == Basis::earlier_laws;
    RoundSetup setup = setup_of(row, calibrated ? CostMode::calibrated : CostMode::roofline);
    if (basis == Basis::data_sheet) {
        setup.platform = with_ideal_kernels(setup.platform);
    }
    if (basis == Basis::earlier_laws) {
        setup.platform.device = without_own_laws(setup.platform.device);
    }
    return 1e3 * evaluate(compile_round(setup), point_of(row)).time_per_token.value();
}

struct Errors {
    std::vector<double> signed_errors;  ///< predicted / measured − 1

    [[nodiscard]] std::vector<double> absolute() const {
        std::vector<double> values;
        for (const double e : signed_errors) {
            values.push_back(std::abs(e));
        }
        return values;
    }
};

void print(const std::string& name, const Errors& errors) {
    fmt::print("{:<34} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name,
               errors.signed_errors.size(), 100.0 * quantile(errors.absolute(), 0.5), 100.0 * quantile(errors.absolute(), 0.9),
               100.0 * quantile(errors.signed_errors, 0.5));
}

/// Prints every group and all rows; returns the median error of all.
double print_all(const std::vector<ServingRow>& rows, Basis basis, bool by_ranks = false) {
    std::map<std::string, Errors> groups;
    Errors all;
    for (const ServingRow& row : rows) {
        const double error = predicted_ms(row, basis) / row.tpot_ms - 1.0;
        groups[by_ranks ? fmt::format("{} ranks", row.ranks) : row.system + ", " + row.precision + ", " + row.backend]
            .signed_errors.push_back(error);
        all.signed_errors.push_back(error);
    }
    for (const auto& [name, errors] : groups) {
        print(name, errors);
    }
    print("all", all);
    return quantile(all.absolute(), 0.5);
}

}  // namespace

int main() {
    const auto measured = shared_measurements("data/serving/silicon_tpot.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<ServingRow> rows = read_serving_rows(*measured);
    std::erase_if(rows, [](const ServingRow& row) { return !usable(row); });
    fmt::print("TPOT without speculation, roofline mode; nothing is fitted to these rows in any mode\n");
    const double stacks = print_all(rows, Basis::stack_efficiencies);
    fmt::print("\nThe same with kernels that reach the data sheet\n");
    const double data_sheet = print_all(rows, Basis::data_sheet);
    fmt::print("\nCalibrated mode (laws of measured kernels; H200 and B200 derived from H100)\n");
    const double calibrated = print_all(rows, Basis::calibration);
    fmt::print("\nThe same by ranks, and without laws of all-reduces, experts, prompts and latent attention\n");
    print_all(rows, Basis::calibration, true);
    print_all(rows, Basis::earlier_laws, true);
    if (const auto of_mixtures = shared_measurements("data/serving/silicon_tpot_moe.csv")) {
        std::vector<ServingRow> mixtures = read_serving_rows(*of_mixtures);
        std::erase_if(mixtures, [](const ServingRow& row) { return !usable(row) || !is_plain_mixture(row); });
        fmt::print("\nMixtures under tensor parallelism alone: roofline, calibrated, and without those laws\n");
        print_all(mixtures, Basis::stack_efficiencies);
        print_all(mixtures, Basis::calibration);
        print_all(mixtures, Basis::earlier_laws);
        fmt::print("\nThe same by ranks: calibrated, and without those laws\n");
        print_all(mixtures, Basis::calibration, true);
        print_all(mixtures, Basis::earlier_laws, true);
    }
    return stacks <= largest_median_error && stacks < data_sheet && calibrated < data_sheet ? 0 : 1;
}
