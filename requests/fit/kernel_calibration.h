// `treeline calibrate --from` and `--derive-from`: laws of a device's kernels from tables that were measured before.
#pragma once

#include <string>
#include <vector>

#include "calibrate/tables/calibration_answer.h"
#include "requests/catalogue.h"

namespace treeline::requests {

struct KernelCalibrationInput {
    std::string device;             ///< name of the catalogue, or path of a description
    std::vector<std::string> from;  ///< measured tables: files, or folders of them (calibrate/tables/kernel_tables.h)
    std::string derive_from;        ///< calibrated device whose laws stand in for what was not measured; empty: none
    std::string source;             ///< where the measurements come from; empty: the names of the files
    calibrate::KernelFitOptions options;
};

/// Fits a law to each table; those that none fits are left out, and named (CalibrationAnswer::left_out). Throws InputError with
/// every problem: no such device, tables that cannot be read, none that a law fits, or neither tables nor a device to derive
/// from.
calibrate::CalibrationAnswer calibrate_kernels(const KernelCalibrationInput& input, const Catalogue& catalogue);

}  // namespace treeline::requests
