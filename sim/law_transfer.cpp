#include "sim/law_transfer.h"

#include <algorithm>

namespace treeline::sim {
namespace {

bool same_kind_of_link(const Device& a, const Device& b) {
    return !a.interconnects.empty() && !b.interconnects.empty() && a.interconnects.front().name == b.interconnects.front().name;
}

/// Elements a second that a law streams, and FLOP/s that it reaches, on its device.
double streamed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.bandwidth_share * device.bandwidth.value() / bits_of(kernel.format);
}
double computed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.peak_share * device.peak_for(kernel.format).value();
}

/// Slower than the same class in a wider format, in elements and in FLOPs.
bool nobody_would_pick(const CalibratedKernel& kernel, const Device& device) {
    const std::vector<CalibratedKernel>& all = device.calibration->kernels;
    return std::any_of(all.begin(), all.end(), [&](const CalibratedKernel& wider) {
        return wider.kernel == kernel.kernel && bits_of(wider.format) > bits_of(kernel.format) &&
               streamed(kernel, device) < streamed(wider, device) && computed(kernel, device) < computed(wider, device);
    });
}

/// What such laws missed where they can be checked: each of A100, H100 and L40S from each other (validation/kernel_times).
constexpr const char* transfer_error =
    "Carried over so between A100, H100 and L40S, laws of linear layers, decode attention, experts and scans missed by 16 % "
    "(median) and 39 % (90th percentile), between the two that have the same kind of multiprocessor by 8 and 24 %; of prompts "
    "by 23 and 78 %, all-reduces 21 and 47 %, latent attention by more than its time";

KernelLaw transferred(KernelLaw law, const Device& measured, const Device& other) {
    law.ramp_bytes = law.ramp_bytes * (other.cache / measured.cache);
    if (measured.multiprocessors > 0.0 && other.multiprocessors > 0.0) {
        const double share = measured.multiprocessors / other.multiprocessors;
        law.per_head = law.per_head * share;
        law.per_activation = law.per_activation * share;
        if (law.workers == measured.multiprocessors) {
            law.workers = other.multiprocessors;
        }
    }
    return law;
}

}  // namespace

Calibration transferred_laws(const Device& measured, const Device& other) {
    Calibration result{other.name, "", "derived", {}};
    std::string left_out;
    for (const CalibratedKernel& kernel : measured.calibration->kernels) {
        if (nobody_would_pick(kernel, measured)) {
            left_out += (left_out.empty() ? "; left out, as slower than in a wider format: " : ", ") +
                        std::string(name_of(kernel.kernel)) + " in " + std::string(name_of(kernel.format)) +
                        (kernel.family.empty() ? "" : " (" + kernel.family + ")");
        } else if (kernel.kernel != KernelClass::all_reduce || same_kind_of_link(measured, other)) {
            result.kernels.push_back(kernel);
            result.kernels.back().law = transferred(kernel.law, measured, other);
        }
    }
    result.source = "as on " + measured.name + ", as shares of the data sheet (" + measured.calibration->source + ")" +
                    left_out + ". " + transfer_error;
    return result;
}

}  // namespace treeline::sim
