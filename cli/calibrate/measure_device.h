// treeline calibrate on the machine's own device: measures its kernels, fits, and writes a description that can be used at
// once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/tables/calibration_answer.h"

namespace treeline::cli {

struct MeasureRequest {
    std::string device;
    bool quick = false;
    bool check = false;  ///< run decoders as well; predict them, and the whole layers that were measured with the kernels
    std::filesystem::path folder;
    calibrate::KernelFitOptions fit;
    std::optional<double> minutes;  ///< that measuring may take
    bool lock_clock = false;        ///< ask a GPU's driver for a fixed clock
};

struct MeasureResult {
    calibrate::CalibrationAnswer answer;
    std::filesystem::path description;  ///< of the device, in the folder
    std::string summary;                ///< bandwidths, launches, what was skipped and why, as text
};

/// Measures what the folder does not hold yet, then fits everything in it and writes the device's description and its
/// calibration next to the measurements. Progress and warnings go to standard error. Throws InputError if there is no such
/// device, or if it fails (the message names the call; earlier measurements stay).
MeasureResult measure_device(const MeasureRequest& request);

/// What such runs left, on this machine or another one.
struct ResultsRequest {
    std::vector<std::string> results;  ///< their folders, all of one device
    std::filesystem::path folder;      ///< that takes all of it; may be one of them
    calibrate::KernelFitOptions fit;
};

/// Whether a folder is what a measuring run leaves, or the measurements within that.
bool holds_results(const std::string& path);

/// Merges results (of a case measured twice, what is known better counts), fits them, and writes description and calibration.
/// What was measured of whole layers and decoders is predicted. Throws InputError: another device, no results.
MeasureResult calibrate_results(const ResultsRequest& request);

}  // namespace treeline::cli
