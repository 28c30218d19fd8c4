// SpecMamba's claims as experiments on a run: draft sizes, ablation, state formats, DDR against HBM, trees against sequences.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/fpga/fpga_run.h"

namespace treeline {

/// What one experiment found. Cells of `rows` are texts, numbers or null, in the order of `columns`.
struct FpgaClaim {
    std::string id, title;
    std::string finding;  ///< one or two sentences
    std::vector<std::string> columns;
    std::vector<std::vector<nlohmann::ordered_json>> rows;
};

struct ClaimedStorage {
    std::string label;
    fpga::NumberStorage storage;
};

/// A published acceptance of one draft structure.
struct ClaimedStructure {
    std::string data, label;
    DraftTree tree;
    double accept_length = 1.0;
};

struct FpgaClaimsInput {
    FpgaRun run;
    std::vector<FpgaModel> drafters;
    std::vector<ClaimedStorage> states;
    std::vector<FpgaRun> designs;  ///< the same models on other designs
    std::vector<ClaimedStructure> structures;
    std::string structures_source;
};

/// Reads {"run": run, "drafters": [models], "states": [{"label", "bits", "scale_bits"?, "group"?}], "designs": [names],
/// "structures": {"source", "bonus_token_counted": false, "rows": [{"data", "label", "shape", "accepted"}]}}. Throws InputError
/// with every problem.
FpgaClaimsInput read_fpga_claims(json::Document& document, Descriptions& descriptions, const std::filesystem::path& hardware);

std::vector<FpgaClaim> fpga_claims(const FpgaClaimsInput& input);

std::string claims_table(const FpgaClaimsInput& input, const std::vector<FpgaClaim>& claims);
/// Format "treeline-fpga-claims", version 1.
nlohmann::ordered_json claims_json(const FpgaClaimsInput& input, const std::vector<FpgaClaim>& claims);
/// One line a row: the experiment's id, then its cells.
std::string claims_csv(const std::vector<FpgaClaim>& claims);

}  // namespace treeline
