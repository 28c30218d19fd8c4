// This machine's own devices: found, and measured by the protocol of docs/calibration.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "calibrate/tables/measurement_files.h"

namespace treeline::calibrate {

/// "cpu", "cuda" or "cuda:1": not the name of a device in the catalogue, but this machine's.
bool names_own_device(const std::string& device);

struct OwnDevice {
    MeasuredDevice device;
    Machine machine;
};

/// The device of that name. Throws InputError if there is none.
OwnDevice own_device(const std::string& name);

/// Load per core beyond which a machine is not idle.
inline constexpr double most_load = 0.15;

struct OwnMeasurement {
    ProtocolRun run;
    double load = 0.0;       ///< per core, before the first measurement
    std::size_t before = 0;  ///< kernels and decoders that were there already
    std::vector<Skipped> skipped;

    /// What intervals are widened by for a machine in use.
    [[nodiscard]] double widening() const;
};

/// What to measure, and who is told about it.
struct OwnMeasurementRequest {
    bool quick = false;
    bool decoders = false;                           ///< small speculative decoders as well
    std::function<void(const std::string&)> warn;    ///< a sentence
    std::function<void(double, double)> progressed;  ///< seconds measured, seconds planned
};

/// Measures what the files do not hold yet, pass by pass into them. Throws KernelError where a kernel fails; what was measured
/// before is kept.
OwnMeasurement measure_missing(const OwnDevice& own, const OwnMeasurementRequest& request, MeasurementFiles& files);

}  // namespace treeline::calibrate
