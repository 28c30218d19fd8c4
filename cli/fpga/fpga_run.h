// What `treeline fpga` is asked: an accelerator design on a board, a target, and how it speculates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/descriptions.h"
#include "json/reader.h"
#include "sim/draft_acceptance.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"

namespace treeline {

/// Columns of text beside tables.
inline constexpr std::size_t page_width = 110;

/// A Mamba-2 model by name, with its dimensions.
struct FpgaModel {
    std::string name;
    fpga::MambaShape shape;
};

struct FpgaRun {
    std::string title, source;
    fpga::Board board;
    fpga::Design design;
    std::vector<std::string> changes;  ///< keys of the design that the input replaced: "lanes 64 instead of 32"
    FpgaModel target;
    std::optional<FpgaModel> drafter;  ///< nothing: plain decoding
    std::string tree_label;
    DraftTree tree;  ///< without nodes: plain decoding
    double accept_length = 1.0;
    std::string accept_source;
    std::optional<DraftAcceptance> acceptance;  ///< where the input gives one: lengths of other shapes follow from it
    fpga::RoundOptions options;
    std::vector<Provenance> provenance;

    [[nodiscard]] bool speculates() const { return drafter.has_value() && tree.nodes() > 0; }
};

/// Reads {"design": name or path, "board"?: name or path (default: the design's own), "changes"?: {...}, "target": model,
/// "drafter"?: model, "shape"?: tree, "accept_length"?: number, "accept_source"?, "acceptance"?: {...}, "plan"?: "hybrid",
/// "tree_states"?: "fifo", "overlap"?: true, "title"?, "source"?}. Models are names or paths. `changes` replaces numbers of the
/// design or board: those of design_changes(). Problems are left in the document; what is returned is only fit for use when it
/// has none.
FpgaRun read_fpga_run(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware);

/// The keys that "changes" may hold.
std::vector<std::string> design_changes();

/// Every reason why the run cannot be priced: a design that exceeds its board, a FIFO that deadlocks. One sentence each.
std::vector<std::string> problems_of(const FpgaRun& run);

/// One word each.
std::string_view name_of(fpga::TreeStates states);
const std::vector<fpga::Backtracking>& all_backtracking_plans();

/// Flags of `treeline fpga` and the key of the run that each sets.
struct FpgaFlags {
    std::string file;
    std::string design, board, target, drafter, tree, accept_length, acceptance, plan, tree_states;
    std::vector<std::string> changes;  ///< "lanes=64"
    bool no_overlap = false;
};

/// The run in the flags' file with the keys that flags give replaced.
nlohmann::ordered_json run_of(const FpgaFlags& flags);

/// Reads, checks and returns the run that the flags describe. Throws InputError with every problem.
FpgaRun read_fpga_run(const FpgaFlags& flags, const Catalogue& catalogue);

}  // namespace treeline
