// This machine's own devices: found, and measured by the protocol of docs/calibration.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "calibrate/tables/measurement_files.h"
#include "calibrate/tables/run_records.h"

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
    std::vector<MissingCase> missing;  ///< all that is not there: what was skipped, and what the time did not suffice for
    GpuLimits limits;
    bool clock_is_locked = false;

    /// What intervals are widened by for a machine in use.
    [[nodiscard]] double widening() const;
};

/// What to measure, and who is told about it.
struct OwnMeasurementRequest {
    bool quick = false;
    bool decoders = false;                           ///< small speculative decoders as well
    std::optional<double> minutes;                   ///< that it may take at most, from the call on; nothing: as usual
    bool lock_clock = false;                         ///< ask a GPU's driver for a fixed clock
    std::function<void(const std::string&)> warn;    ///< a sentence
    std::function<void(double, double)> progressed;  ///< seconds measured, seconds planned
};

/// Measures what the files do not hold yet, and saves every case as soon as it has a first sample. A case that fails is left
/// out. Throws DeviceLost if nothing else works after a failure, and KernelError if there is no room to measure anything; what
/// was measured before is kept.
OwnMeasurement measure_missing(const OwnDevice& own, const OwnMeasurementRequest& request, MeasurementFiles& files);

}  // namespace treeline::calibrate
