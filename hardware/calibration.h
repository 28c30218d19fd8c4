// Reads calibration files (hardware/calibrations/*.json), which `treeline calibrate` writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "json/reader.h"
#include "sim/kernel_law.h"

namespace treeline::hardware {

/// The calibration of an open document. Problems are noted in the reader.
sim::Calibration read_calibration(json::Reader& reader);

/// The calibration file that a device description names: a name stands for calibrations/<name>.json in the catalogue, text with
/// a '/' or that ends in ".json" for a path relative to the folder of `description`. Throws InputError: no such file, problems
/// of the file, a calibration of another device than `device`.
sim::Calibration load_calibration(const std::filesystem::path& catalogue, const std::filesystem::path& description,
                                  const std::string& name_or_path, const std::string& device);

/// Devices of the catalogue that have a calibration, sorted: those of calibrations/.
std::vector<std::string> calibrated_devices(const std::filesystem::path& catalogue);

}  // namespace treeline::hardware
