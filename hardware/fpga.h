// Reads descriptions of FPGA boards (hardware/fpga) and of accelerator designs (hardware/fpga/designs).
//
// Every number is an object with value, source and kind; quantities with a unit have that, too. hardware/fpga/README.md
// explains the keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "json/described.h"
#include "sim/fpga/board.h"
#include "sim/fpga/design.h"

namespace treeline::hardware {

/// Names in the catalogue, sorted. Throws InputError when there is no such folder.
std::vector<std::string> board_names(const std::filesystem::path& catalogue);
std::vector<std::string> design_names(const std::filesystem::path& catalogue);

/// The board or design of that name; text with a '/' or that ends in ".json" is the path of a description instead. Throws
/// InputError with every problem of the file, or, for an unknown name, with the nearest one and all that are known.
json::Described<sim::fpga::Board> load_board(const std::filesystem::path& catalogue, const std::string& name_or_path);
json::Described<sim::fpga::Design> load_design(const std::filesystem::path& catalogue, const std::string& name_or_path);

/// The same from an open document; `name` becomes the board's or design's name. Unknown keys are problems.
sim::fpga::Board read_board(json::Reader& reader, std::string name);
sim::fpga::Design read_design(json::Reader& reader, std::string name);

}  // namespace treeline::hardware
