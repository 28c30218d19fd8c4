// A name of the catalogue as the hardware of a platform: a GPU or CPU, or an accelerator design on an FPGA board.
#pragma once

#include <filesystem>
#include <string>

#include "json/described.h"
#include "sim/platform.h"

namespace treeline::hardware {

enum class HardwareKind { device, board, design };

/// What a name of the catalogue is; of a path, what its file describes. Throws InputError for an unknown name, with the nearest
/// one and all that are known, and for a file that cannot be read.
HardwareKind hardware_kind_of(const std::filesystem::path& catalogue, const std::string& name_or_path);

/// The platform that `name_or_path` stands for: a device, whose stack and mode are still to be chosen; a design, on the board
/// that it names; or a board with `design` (empty for the other two). Throws InputError with every problem of the files, for a
/// board without a design, and for a design on anything but a board.
json::Described<sim::Platform> load_hardware(const std::filesystem::path& catalogue, const std::string& name_or_path,
                                             const std::string& design);

}  // namespace treeline::hardware
