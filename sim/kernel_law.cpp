#include "sim/kernel_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeline::sim {
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

bool shares_of_a_link(const CollectiveLaw& law) {
    return is_share(law.one_shot_share) && is_share(law.two_shot_share) && is_share(law.ring_share) && law.ring_scale_4 > 0.0 &&
           law.ring_scale_8 > 0.0;
}

/// Unused knots come last.
bool knots_ascend(const KernelLaw& law) {
    double before = 1.0;
    for (const RowKnot& knot : law.knots) {
        if (knot.rows != 0.0 && !(knot.rows > before)) {
            return false;
        }
        before = knot.rows == 0.0 ? std::numeric_limits<double>::infinity() : knot.rows;
    }
    return true;
}

/// The largest tile is one of those that start from the least.
bool tiles_double(const KernelLaw& law) {
    double tile = law.least_tile;
    for (int i = 0; i < most_tile_doublings && tile < law.row_tile; ++i) {
        tile *= 2.0;
    }
    return law.least_tile == 0.0 || tile == law.row_tile;
}

}  // namespace

namespace {

/// The class whose law stands in where a class was not measured itself.
std::optional<KernelClass> wider_class(KernelClass kernel) {
    switch (kernel) {
        case KernelClass::attention_ungrouped:
            return KernelClass::attention;
        case KernelClass::scan_unwritten:
        case KernelClass::scan_every:
        case KernelClass::tree_scan:
        case KernelClass::replay:
            return KernelClass::scan;
        case KernelClass::norm:
        case KernelClass::gated_norm:
        case KernelClass::activation:
        case KernelClass::rotary:
            return KernelClass::element_wise;
        case KernelClass::rejection:
        case KernelClass::top_choices:
            return KernelClass::sampling;
        case KernelClass::prompt_window:
            return KernelClass::prompt_attention;
        default:
            return std::nullopt;
    }
}

}  // namespace

const KernelLaw* Calibration::law(KernelClass kernel, NumberFormat format, std::string_view family) const {
    for (const NumberFormat candidate : stand_ins(format)) {
        const CalibratedKernel* first = nullptr;
        for (const CalibratedKernel& calibrated : kernels) {
            if (calibrated.kernel == kernel && calibrated.format == candidate) {
                if (calibrated.family == family) {
                    return &calibrated.law;
                }
                first = first == nullptr && !calibrated.family.starts_with(treeline_family) ? &calibrated : first;
            }
        }
        if (first != nullptr) {
            return &first->law;
        }
    }
    const std::optional<KernelClass> wider = wider_class(kernel);
    return wider ? law(*wider, format, kernel == KernelClass::prompt_window ? family : std::string_view()) : nullptr;
}

const KernelLaw* Calibration::own_law(KernelClass kernel, NumberFormat format) const {
    for (const NumberFormat candidate : stand_ins(format)) {
        for (const CalibratedKernel& calibrated : kernels) {
            if (calibrated.kernel == kernel && calibrated.format == candidate && calibrated.family == treeline_family) {
                return &calibrated.law;
            }
        }
    }
    const std::optional<KernelClass> wider = wider_class(kernel);
    return wider ? own_law(*wider, format) : nullptr;
}

const RecurrentVerificationLaw* Calibration::recurrent_verification_law(std::string_view family) const {
    const RecurrentVerificationLaw* shortest = nullptr;
    for (const RecurrentVerificationLaw& law : recurrent_verification) {
        if (law.family == family) {
            return &law;
        }
        if (!law.convolves && (shortest == nullptr || law.per_token < shortest->per_token)) {
            shortest = &law;
        }
    }
    return shortest;
}

const ChunkScanLaw* Calibration::chunk_scan_law(std::string_view family, bool by_channel) const {
    const auto law = std::find_if(chunk_scans.begin(), chunk_scans.end(), [&](const ChunkScanLaw& known) {
        return known.family == family && known.by_channel == by_channel;
    });
    return law != chunk_scans.end() ? &*law : nullptr;
}

namespace {

void add_problems(const std::vector<ChunkScanLaw>& laws, std::vector<std::string>& problems) {
    for (const ChunkScanLaw& law : laws) {
        if (!(law.overlap >= 0.0 && law.overlap <= 1.0)) {
            problems.push_back("chunk scans (" + law.family + ") need an overlap from 0 to 1");
        }
        if (std::count_if(laws.begin(), laws.end(), [&](const auto& other) {
                return other.family == law.family && other.by_channel == law.by_channel;
            }) > 1) {
            problems.push_back("chunk scans (" + law.family + ") are given twice for one rule");
        }
    }
}

void add_problems(const std::vector<RecurrentVerificationLaw>& laws, std::vector<std::string>& problems) {
    for (const RecurrentVerificationLaw& law : laws) {
        if (!is_share(law.bandwidth_share) || !(law.overlap >= 0.0 && law.overlap <= 1.0)) {
            problems.push_back("recurrent verification (" + law.family + ") needs a share of the bandwidth above 0 and up to " +
                               std::to_string(most_share) + ", and an overlap from 0 to 1");
        }
        if (std::count_if(laws.begin(), laws.end(), [&](const auto& other) { return other.family == law.family; }) > 1) {
            problems.push_back("recurrent verification (" + law.family + ") is given twice");
        }
    }
}

}  // namespace

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
        bool above = true;
        for (const KernelParameter& parameter : kernel_parameters()) {
            above = above && is_zero_or_above(parameter.get(law));
        }
        if (!above || law.row_tile < 1.0 || law.padding < 1.0 || law.workers < 1.0) {
            problems.push_back(what + " has a parameter below its least value, so that more work would take less time");
        }
        if (!shares_of_a_link(law.collective) || law.activation_share > most_share) {
            problems.push_back(what + " needs shares of the link and of the activations' bandwidth above 0");
        }
        if (!tiles_double(law)) {
            problems.push_back(what + " needs a row_tile of least_tile times a power of two up to 16");
        }
        if (!knots_ascend(law)) {
            problems.push_back(what + " needs knots above one row, each at more rows than the one before");
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (calibration.kernels[j].kernel == calibrated.kernel && calibration.kernels[j].format == calibrated.format &&
                calibration.kernels[j].family == calibrated.family) {
                problems.push_back(what + " is given twice");
            }
        }
    }
    add_problems(calibration.recurrent_verification, problems);
    add_problems(calibration.chunk_scans, problems);
    if (const auto& walk = calibration.attention_walk;
        walk && (!is_share(walk->bandwidth_share) || walk->per_token <= Seconds(0.0))) {
        problems.push_back("attention_walk needs a time of a token above 0, and a share of the bandwidth above 0 and up to " +
                           std::to_string(most_share));
    }
    return problems;
}

}  // namespace treeline::sim
