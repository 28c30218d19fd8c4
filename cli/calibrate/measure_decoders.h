// Runs the decoders that a calibration is checked against.
#pragma once

#include <string>
#include <vector>

#include "calibrate/held_out_decoder.h"
#include "cli/calibrate/measurement_files.h"

namespace treeline {

/// A configuration as a row of the table `decoder`: its name and columns; it is not a kernel that is prepared.
KernelCase decoder_case(const HeldOutDecoder& decoder);

struct MeasuredDecoders {
    std::size_t measured = 0, before = 0;   ///< now, and found in the files
    std::size_t repeated = 0, drifted = 0;  ///< run again, since conditions were not those of the kernels; never were
    std::vector<std::string> skipped;       ///< sentences: what the device has no room for
};

/// Runs what the files do not hold yet, in random order, and writes each as it is done. What ran under other conditions than
/// the kernels in the files is run again at the end, as long as that takes no more than half of the time that the first runs
/// took. Throws KernelError where the device fails.
MeasuredDecoders measure_missing_decoders(const MeasuredDevice& device, bool quick, std::size_t sentinel_bytes,
                                          MeasurementFiles& files, const ConditionLimits& limits = {});

}  // namespace treeline
