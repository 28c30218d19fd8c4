// A run of an accelerator, from file and flags.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "json/key.h"
#include "json/reader.h"
#include "requests/descriptions.h"
#include "requests/flag_values.h"
#include "sweeps/fpga/fpga_run.h"

namespace treeline::requests {

/// Reads fpga_keys (requests/keys/fpga_keys.h). `changes` replaces numbers of the design or board: those of change_rows().
/// Problems are left in the document; use the result only if there are none.
sweeps::FpgaRun read_fpga_run(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware);

/// The keys that "changes" may hold.
std::vector<std::string> design_changes();
std::vector<json::KeyRow> change_rows();

/// The flags of a run, each with the key that it sets.
const std::vector<KeyFlag>& fpga_flags();

struct FpgaFlags {
    std::string file;
    FlagTexts texts;                   ///< of fpga_flags()
    std::vector<std::string> changes;  ///< "lanes=64"
    bool no_overlap = false;
};

/// Whether a file holds a run, an exploration or a result of one: it names a design.
bool describes_a_run(const std::string& file);

/// The run in the flags' file with the keys that flags override.
FlagJson run_of(const FpgaFlags& flags);

/// Reads, checks and returns the run that the flags describe. Throws InputError with every problem.
sweeps::FpgaRun read_fpga_run(const FpgaFlags& flags, const Catalogue& catalogue);

}  // namespace treeline::requests
