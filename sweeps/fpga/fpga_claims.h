// SpecMamba's claims as experiments on a run: draft sizes, ablation, state formats, DDR against HBM, trees against sequences.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sweeps/fpga/fpga_run.h"

namespace treeline::sweeps {

/// A text, a number, or nothing where it is not known.
using ClaimCell = std::variant<std::monostate, double, std::string>;

/// What one experiment found. Cells of `rows` are in the order of `columns`.
struct FpgaClaim {
    std::string id, title;
    std::string finding;  ///< one or two sentences
    std::vector<std::string> columns;
    std::vector<std::vector<ClaimCell>> rows;
};

struct ClaimedStorage {
    std::string label;
    sim::fpga::NumberStorage storage;
};

/// A published acceptance of one draft structure.
struct ClaimedStructure {
    std::string data, label;
    sim::DraftTree tree;
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

std::vector<FpgaClaim> fpga_claims(const FpgaClaimsInput& input);

}  // namespace treeline::sweeps
