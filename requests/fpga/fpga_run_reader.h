// The input of `treeline fpga`, from file and flags.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/key.h"
#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/fpga/fpga_run.h"

namespace treeline {

/// Reads fpga_keys (requests/keys/fpga_keys.h). `changes` replaces numbers of the design or board: those of change_rows().
/// Problems are left in the document; use the result only if there are none.
FpgaRun read_fpga_run(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware);

/// The keys that "changes" may hold.
std::vector<std::string> design_changes();
std::vector<json::KeyRow> change_rows();

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
