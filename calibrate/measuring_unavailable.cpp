// In place of measure/ where Treeline is built without kernels (TREELINE_KERNELS=OFF).
#include "calibrate/measure/own_device.h"
#include "text/input_error.h"

namespace treeline::calibrate {

std::vector<KernelCase> kernel_cases(const CaseOptions& /*options*/, std::size_t /*probe_bytes*/) {
    throw text::InputError(
        {"this treeline was built without kernels, so it has no list of what it would measure (in a checkout, "
         "./run --all builds them)"});
}

OwnDevice own_device(const std::string& name) {
    throw text::InputError({"--device " + name + ": this treeline was built without kernels, so it measures no device; give " +
                            "tables that were measured elsewhere with --from (in a checkout, ./run --all builds them)"});
}

OwnMeasurement measure_missing(const OwnDevice& own, const OwnMeasurementRequest& /*request*/, MeasurementFiles& /*files*/) {
    static_cast<void>(own_device(own.device.on_gpu ? "cuda" : "cpu"));
    return {};
}

}  // namespace treeline::calibrate
