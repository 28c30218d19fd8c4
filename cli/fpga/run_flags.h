// Flags of an accelerator beside those of a design point.
#pragma once

#include "requests/fpga/fpga_run_reader.h"

namespace CLI {
class App;
}

namespace treeline {

/// --set and --no-overlap.
void add_change_flags(CLI::App& app, FpgaFlags& flags);

}  // namespace treeline
