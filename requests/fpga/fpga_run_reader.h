// The input of `treeline fpga`, from file and flags.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/fpga/fpga_run.h"

namespace treeline {

/// Reads {"design": name or path, "board"?: name or path (default: the design's own), "changes"?: {...}, "target": model,
/// "drafter"?: model, "shape"?: tree, "accept_length"?: number, "accept_source"?, "acceptance"?: {...}, "plan"?: "hybrid",
/// "tree_states"?: "fifo", "overlap"?: true, "title"?, "source"?}. Models are names or paths. `changes` replaces numbers of the
/// design or board: those of design_changes(). Problems are left in the document; use the result only if there are none.
FpgaRun read_fpga_run(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware);

/// The keys that "changes" may hold.
std::vector<std::string> design_changes();

/// Flags of `treeline fpga` and the key of the run that each sets.
struct FpgaFlags {
    std::string file;
    std::string design, board, target, drafter, tree, accept_length, acceptance, plan, tree_states;
    std::vector<std::string> changes;  ///< "lanes=64"
    bool no_overlap = false;
};

/// The run in the flags' file with the keys that flags override.
nlohmann::ordered_json run_of(const FpgaFlags& flags);

/// Reads, checks and returns the run that the flags describe. Throws InputError with every problem.
FpgaRun read_fpga_run(const FpgaFlags& flags, const Catalogue& catalogue);

}  // namespace treeline
