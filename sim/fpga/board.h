// An FPGA board, as far as a design can exceed or exhaust it.
#pragma once

#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::fpga {

/// What a design takes of a device, or what a device has. A BRAM36 counts as two BRAM18, the unit that published tables of the
/// field use.
struct Resources {
    double dsps = 0.0;
    double luts = 0.0;
    double bram18s = 0.0;
    double urams = 0.0;
};

struct Board {
    std::string name;   ///< catalogue name ("vck190")
    std::string title;  ///< as people write it
    Resources resources;
    Bytes memory;                 ///< of the memory that holds weights and states
    BytesPerSecond bandwidth;     ///< of that memory, as designs on this board reach it at best
    double clock_hz = 0.0;        ///< where a design states none
    Watts static_power;           ///< with the device configured and its clock off; 0 = unknown
    JoulesPerByte memory_energy;  ///< of a byte that memory delivers or takes
    DollarsPerSecond price;       ///< 0 = unknown
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Board& board);

}  // namespace treeline::fpga
