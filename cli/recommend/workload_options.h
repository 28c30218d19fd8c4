// The options that `recommend` and `report` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/inputs/workload_flags.h"

namespace CLI {
class App;
}

namespace treeline {

struct WorkloadOptions {
    std::string file;  ///< empty: the flags are the whole workload
    WorkloadFlags flags;
    std::string threads = "0";
    std::vector<std::string> engines;  ///< of --engine; empty: all, at their newest version
    bool print_input = false;
};

/// Declares FILE, the flags of a workload, --engine, --print-input and --threads. The options share ownership of `options`.
void add_workload_options(CLI::App& app, const std::shared_ptr<WorkloadOptions>& options);

}  // namespace treeline
