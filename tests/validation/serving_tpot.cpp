// How far is the time per token of plain decoding from what serving engines measured: predicted from the stacks as described,
// from data sheets alone, and from calibrated kernels?
//
// Reads ../shared/data/serving/silicon_tpot.csv and, for mixtures, silicon_tpot_moe.csv (end-to-end runs of vLLM, SGLang and
// TensorRT-LLM without speculation, from ai-dynamo/aiconfigurator) as `treeline validate --serving` does, with its rules on
// what is left out. Nothing is fitted here, but stacks of engines were fitted to the dense rows: `treeline_fit engine` leaves
// families of them out.
//
// Exits with 77 without the data and with 1 when the median error of the stacks exceeds the goal below, or data sheets do
// better.
#include <map>

#include <fmt/format.h>

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "validation/score.h"
#include "validation/serving/families.h"
#include "validation/serving/predict.h"

using namespace treeline;
using namespace treeline::validation;
using namespace treeline::testing;

namespace {

constexpr double largest_median_error = 0.05;

/// What a prediction rests on.
struct Basis {
    const char* what;
    sim::CostMode mode;
    ServingParts parts;
};

/// Host times and launches of the stacks alone: kernels that reach every figure of the data sheet.
ServingParts with_ideal_kernels(ServingParts parts) {
    for (auto& [name, stack] : parts.stacks) {
        stack.kernels.memory_efficiency = stack.kernels.compute_efficiency = 1.0;
        stack.kernels.unhidden = 0.0;
        stack.kernels.kernel_startup = Seconds(0.0);
        stack.kernels.linear_speed = {};
    }
    return parts;
}

/// Devices with the laws of linear layers, decode attention, scans and convolutions alone.
ServingParts without_own_laws(ServingParts parts) {
    for (auto& [name, device] : parts.devices) {
        if (device.calibration) {
            std::erase_if(device.calibration->kernels, [](const sim::CalibratedKernel& kernel) {
                using enum sim::KernelClass;
                return kernel.kernel == all_reduce || kernel.kernel == experts || kernel.kernel == latent_attention ||
                       kernel.kernel == latent_prompt || kernel.kernel == prompt_attention || kernel.kernel == prompt_window;
            });
        }
    }
    return parts;
}

void print(const std::string& name, const ErrorSummary& errors) {
    fmt::print("{:<34} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name, errors.rows,
               100.0 * errors.median, 100.0 * errors.p90, 100.0 * errors.bias);
}

/// Prints every group and all rows; returns the median error of all.
double print_all(const std::vector<MeasuredPoint>& points, const Basis& basis) {
    std::map<std::string, std::vector<RowError>> groups;
    std::vector<RowError> all;
    for (const MeasuredPoint& point : points) {
        const RowError error{point.measured, predicted_time_per_token(point, basis.parts, basis.mode)};
        const auto group = [&](Grouping grouping) { return group_of(point, basis.parts, grouping); };
        groups[group(Grouping::device) + ", " + group(Grouping::format) + ", " + group(Grouping::engine)].push_back(error);
        groups["ranks: " + group(Grouping::ranks)].push_back(error);
        all.push_back(error);
    }
    fmt::print("\n{}\n", basis.what);
    for (const auto& [name, errors] : groups) {
        print(name, summary_of(errors));
    }
    print("all", summary_of(all));
    return summary_of(all).median;
}

std::vector<MeasuredPoint> points_in(const std::filesystem::path& path, const ServingParts& parts) {
    std::vector<std::string> notes;
    return points_of(requests::read_serving_rows(path, notes), parts).points;
}

}  // namespace

int main() {
    const auto measured = shared_measurements("data/serving/silicon_tpot.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const Basis stacks = {
        "Stacks as described, roofline mode; those of engines were fitted to these rows (`treeline_fit engine` leaves families "
        "out)",
        sim::CostMode::roofline, parts};
    const Basis data_sheets = {"Kernels that reach the data sheet", sim::CostMode::roofline, with_ideal_kernels(parts)};
    const Basis calibrated = {"Calibrated mode (laws of measured kernels; H200 and B200 derived from H100)",
                              sim::CostMode::calibrated, parts};
    const Basis earlier = {"The same without laws of all-reduces, experts, prompts and latent attention",
                           sim::CostMode::calibrated, without_own_laws(parts)};
    const std::vector<MeasuredPoint> dense = points_in(*measured, parts);
    const double of_stacks = print_all(dense, stacks);
    const double of_data_sheets = print_all(dense, data_sheets);
    const double of_calibration = print_all(dense, calibrated);
    print_all(dense, earlier);
    if (const auto of_mixtures = shared_measurements("data/serving/silicon_tpot_moe.csv")) {
        fmt::print("\n== Mixtures of experts\n");
        const std::vector<MeasuredPoint> mixtures = points_in(*of_mixtures, parts);
        for (const Basis* basis : {&stacks, &calibrated, &earlier}) {
            print_all(mixtures, *basis);
        }
    }
    return of_stacks <= largest_median_error && of_stacks < of_data_sheets && of_calibration < of_data_sheets ? 0 : 1;
}
