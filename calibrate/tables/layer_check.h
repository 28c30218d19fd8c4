// Does a calibration predict what it was not fitted to? Measured times and those that it predicts.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "calibrate/tables/measured_rows.h"
#include "sim/device.h"

namespace treeline::calibrate {

/// A whole layer that was measured and predicted.
struct CheckRow {
    std::string family, what;
    Seconds measured, predicted;
};

/// The whole layers among measured rows, predicted by the device's calibration. Throws InputError if a row belongs to none of
/// held_out_layers().
std::vector<CheckRow> checked_layers(const std::vector<MeasuredFile>& files, const sim::Device& device);

/// Of anything with members `measured` and `predicted`.
template <class Rows>
KernelErrors errors_of_checks(const Rows& rows) {
    std::vector<double> residuals;
    for (const auto& row : rows) {
        residuals.push_back(std::log(row.predicted / row.measured));
    }
    return errors_of(residuals);
}

}  // namespace treeline::calibrate
