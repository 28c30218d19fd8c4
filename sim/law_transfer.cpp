#include "sim/law_transfer.h"

namespace treeline {
namespace {

bool same_kind_of_link(const Device& a, const Device& b) {
    return !a.interconnects.empty() && !b.interconnects.empty() && a.interconnects.front().name == b.interconnects.front().name;
}

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
    Calibration result{other.name,
                       "as on " + measured.name + ", as shares of the data sheet (" + measured.calibration->source + ")",
                       "derived",
                       {}};
    for (const CalibratedKernel& kernel : measured.calibration->kernels) {
        if (kernel.kernel != KernelClass::all_reduce || same_kind_of_link(measured, other)) {
            result.kernels.push_back(kernel);
            result.kernels.back().law = transferred(kernel.law, measured, other);
        }
    }
    return result;
}

}  // namespace treeline
