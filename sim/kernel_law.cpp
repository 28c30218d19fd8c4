#include "sim/kernel_law.h"

#include <cmath>

namespace treeline {
namespace {

/// Formats whose law may stand in, the nearest first.
std::vector<NumberFormat> stand_ins(NumberFormat format) {
    using enum NumberFormat;
    switch (format) {
        case fp4:
        case int4:
        case int8:
        case fp8:
            return {format, fp8, int8, bf16, fp16, fp32};
        case fp16:
        case bf16:
            return {format, bf16, fp16, fp32, fp8};
        case fp32:
            break;
    }
    return {fp32, bf16, fp16, fp8};
}

bool is_share(double value) { return std::isfinite(value) && value > 0.0 && value <= most_share; }
bool is_zero_or_above(double value) { return std::isfinite(value) && value >= 0.0; }

}  // namespace

std::string_view name_of(KernelClass kernel) {
    switch (kernel) {
        case KernelClass::gemm:
            return "gemm";
        case KernelClass::attention:
            return "attention";
        case KernelClass::attention_ungrouped:
            return "attention-ungrouped";
        case KernelClass::scan:
            return "scan";
        case KernelClass::tree_scan:
            return "tree-scan";
        case KernelClass::replay:
            return "replay";
        case KernelClass::convolution:
            return "convolution";
        case KernelClass::element_wise:
            return "element-wise";
        case KernelClass::sampling:
            return "sampling";
    }
    return "";
}

std::optional<KernelClass> kernel_class_named(std::string_view name) {
    for (const KernelClass kernel : all_kernel_classes) {
        if (name_of(kernel) == name) {
            return kernel;
        }
    }
    return std::nullopt;
}

const std::array<KernelParameter, 13>& kernel_parameters() {
    static const std::array<KernelParameter, 13> all = {{
        {"startup", "us", "launch, first loads, uneven ends", 1e6, 0.0, 1e-8, 1.0,
         [](const KernelLaw& law) { return law.startup.value(); },
         [](KernelLaw& law, double value) { law.startup = Seconds(value); }},
        {"launch", "us", "startup of a tiny kernel", 1e6, 0.0, 1e-8, 1.0,
         [](const KernelLaw& law) { return law.launch.value(); },
         [](KernelLaw& law, double value) { law.launch = Seconds(value); }},
        {"ramp_bytes", "MB", "traffic up to which launch turns into startup", 1e-6, 0.0, 0.0, 1e12,
         [](const KernelLaw& law) { return law.ramp_bytes.value(); },
         [](KernelLaw& law, double value) { law.ramp_bytes = Bytes(value); }},
        {"bandwidth_share", "1", "share of the data sheet's bandwidth", 1.0, 1.0, 1e-3, most_share,
         [](const KernelLaw& law) { return law.bandwidth_share; },
         [](KernelLaw& law, double value) { law.bandwidth_share = value; }},
        {"peak_share", "1", "share of the data sheet's peak", 1.0, 1.0, 1e-3, most_share,
         [](const KernelLaw& law) { return law.peak_share; }, [](KernelLaw& law, double value) { law.peak_share = value; }},
        {"overlap", "1", "part of the shorter of memory and compute time that is not hidden", 1.0, 0.0, 1e-3, 1.0,
         [](const KernelLaw& law) { return law.overlap; }, [](KernelLaw& law, double value) { law.overlap = value; }},
        {"per_input", "ns", "startup for each input of the layer", 1e9, 0.0, 1e-12, 1.0,
         [](const KernelLaw& law) { return law.per_input.value(); },
         [](KernelLaw& law, double value) { law.per_input = Seconds(value); }},
        {"per_head", "ns", "startup for each key-value head of each sequence", 1e9, 0.0, 1e-11, 1.0,
         [](const KernelLaw& law) { return law.per_head.value(); },
         [](KernelLaw& law, double value) { law.per_head = Seconds(value); }},
        {"per_context", "ns", "least time for each cached token", 1e9, 0.0, 1e-11, 1.0,
         [](const KernelLaw& law) { return law.per_context.value(); },
         [](KernelLaw& law, double value) { law.per_context = Seconds(value); }},
        {"wide_head_share", "1", "of the bandwidth for heads wider than 128", 1.0, 1.0, 1e-3, 2.0,
         [](const KernelLaw& law) { return law.wide_head_share; },
         [](KernelLaw& law, double value) { law.wide_head_share = value; }},
        {"row_tile", "rows", "rows are computed in whole tiles of so many", 1.0, 1.0, 0.0, 4096.0,
         [](const KernelLaw& law) { return law.row_tile; }, [](KernelLaw& law, double value) { law.row_tile = value; }},
        {"step_rows", "rows", "beyond so many rows weights are read less well", 1.0, 0.0, 0.0, 1e6,
         [](const KernelLaw& law) { return law.step_rows; }, [](KernelLaw& law, double value) { law.step_rows = value; }},
        {"step_share", "1", "by this many times weights / data-sheet bandwidth", 1.0, 0.0, 1e-3, 10.0,
         [](const KernelLaw& law) { return law.step_share; }, [](KernelLaw& law, double value) { law.step_share = value; }},
    }};
    return all;
}

const KernelLaw* Calibration::law(KernelClass kernel, NumberFormat format) const {
    for (const NumberFormat candidate : stand_ins(format)) {
        for (const CalibratedKernel& calibrated : kernels) {
            if (calibrated.kernel == kernel && calibrated.format == candidate) {
                return &calibrated.law;
            }
        }
    }
    switch (kernel) {
        case KernelClass::attention_ungrouped:
            return law(KernelClass::attention, format);
        case KernelClass::tree_scan:
        case KernelClass::replay:
            return law(KernelClass::scan, format);
        default:
            return nullptr;
    }
}

std::vector<std::string> problems_of(const Calibration& calibration) {
    std::vector<std::string> problems;
    if (calibration.kernels.empty()) {
        problems.emplace_back("kernels must hold at least one law");
    }
    for (std::size_t i = 0; i < calibration.kernels.size(); ++i) {
        const CalibratedKernel& calibrated = calibration.kernels[i];
        const KernelLaw& law = calibrated.law;
        const std::string what =
            "the law of " + std::string(name_of(calibrated.kernel)) + " in " + std::string(name_of(calibrated.format));
        if (!is_share(law.bandwidth_share) || !is_share(law.peak_share) ||
            !(law.wide_head_share > 0.0 && law.wide_head_share <= 2.0)) {
            problems.push_back(what + " needs shares of bandwidth and peak above 0 and up to " + std::to_string(most_share));
        }
        for (const double value :
             {law.startup.value(), law.per_input.value(), law.per_head.value(), law.overlap, law.launch.value(),
              law.ramp_bytes.value(), law.per_context.value(), law.row_tile - 1.0, law.step_rows, law.step_share}) {
            if (!is_zero_or_above(value)) {
                problems.push_back(what + " has a parameter below its least value, so that more work would take less time");
                break;
            }
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (calibration.kernels[j].kernel == calibrated.kernel && calibration.kernels[j].format == calibrated.format) {
                problems.push_back(what + " is given twice");
            }
        }
    }
    return problems;
}

}  // namespace treeline
