// Does a calibration foretell what it was not fitted to? Measured times beside those that it predicts.
#pragma once

#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "cli/calibrate/measured_rows.h"
#include "sim/device.h"

namespace treeline {

/// One thing that was measured and predicted. Anything that runs our kernels can be checked so (a decoder's round, say).
struct CheckRow {
    std::string family, what;
    Seconds measured, predicted;
};

/// The whole layers among measured rows, predicted by the device's calibration. Throws InputError where a row is of none of the
/// layers that held_out_layers() has.
std::vector<CheckRow> checked_layers(const std::vector<MeasuredFile>& files, const Device& device);

KernelErrors errors_of(const std::vector<CheckRow>& rows);
std::string check_text(const std::vector<CheckRow>& rows);

}  // namespace treeline
