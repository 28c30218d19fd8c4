#include "calibrate/derived_laws.h"

#include <algorithm>

namespace treeline {
namespace {

/// Elements a second that a law streams, and FLOP/s that it reaches, on its device.
double streamed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.bandwidth_share * device.bandwidth.value() / bits_of(kernel.format);
}
double computed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.peak_share * device.peak_for(kernel.format).value();
}

/// Of a class that was measured in a wider format, too, and is slower than there.
bool nobody_would_pick(const CalibratedKernel& kernel, const Device& device) {
    const std::vector<CalibratedKernel>& all = device.calibration->kernels;
    return std::any_of(all.begin(), all.end(), [&](const CalibratedKernel& wider) {
        return wider.kernel == kernel.kernel && bits_of(wider.format) > bits_of(kernel.format) &&
               streamed(kernel, device) < streamed(wider, device) && computed(kernel, device) < computed(wider, device);
    });
}

}  // namespace

std::vector<CalibratedKernel> derived_laws(const Device& from, const Device& to, std::vector<std::string>* left_out) {
    std::vector<CalibratedKernel> laws;
    for (CalibratedKernel kernel : from.calibration->kernels) {
        if (nobody_would_pick(kernel, from)) {
            if (left_out != nullptr) {
                left_out->push_back(std::string(name_of(kernel.kernel)) + " in " + std::string(name_of(kernel.format)) +
                                    (kernel.family.empty() ? "" : " (" + kernel.family + ")"));
            }
            continue;
        }
        if (kernel.law.workers > 1.0 && kernel.law.workers == from.multiprocessors && to.multiprocessors > 0.0) {
            kernel.law.workers = to.multiprocessors;
        }
        kernel.law.ramp_bytes = kernel.law.ramp_bytes * (to.cache / from.cache);
        laws.push_back(std::move(kernel));
    }
    return laws;
}

}  // namespace treeline
