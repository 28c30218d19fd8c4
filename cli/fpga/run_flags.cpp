#include "cli/fpga/run_flags.h"

#include <CLI/CLI.hpp>

namespace treeline {

void add_change_flags(CLI::App& app, FpgaFlags& flags) {
    app.add_option("--set", flags.changes,
                   "Override a number of the design; repeatable: lanes=64, state_bits=16, tile_outputs=32, ...")
        ->type_name("KEY=NUMBER");
    app.add_flag("--no-overlap", flags.no_overlap, "Let Linear and SSM unit work in turn");
}

}  // namespace treeline
