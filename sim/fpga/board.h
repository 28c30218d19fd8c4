// An FPGA board: the limits that a design can run into.
#pragma once

#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::sim::fpga {

/// What a design takes, or what a device has. A BRAM36 counts as two BRAM18, the unit of published tables.
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
    BytesPerSecond bandwidth;     ///< of that memory, at the best that designs on this board reach
    double clock_hz = 0.0;        ///< for designs that state none
    Watts static_power;           ///< with the device configured and its clock off; 0 = unknown
    JoulesPerByte memory_energy;  ///< of a byte that memory delivers or takes
    DollarsPerSecond price;       ///< 0 = unknown
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Board& board);

}  // namespace treeline::sim::fpga
