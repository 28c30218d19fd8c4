// The verbs of `treeline fpga`.
#pragma once

#include "cli/commands.h"
#include "requests/fpga/fpga_run_reader.h"

namespace treeline {

/// A verb of `treeline fpga`. To add one: a function that adds it and a line in add_fpga.
struct FpgaVerb {
    CLI::App* app = nullptr;
    Run run;
};

/// The flags that name a run, as every verb that prices or simulates one has them.
void add_fpga_run_flags(CLI::App& app, FpgaFlags& flags);
FpgaVerb add_fpga_simulate(CLI::App& fpga);

}  // namespace treeline
