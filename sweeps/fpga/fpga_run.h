// What one asks of an accelerator: a design on a board, a target, and how it speculates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/draft_acceptance.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"
#include "sim/round.h"
#include "text/provenance.h"

namespace treeline::sweeps {

/// A Mamba-2 model by name, with its dimensions.
struct FpgaModel {
    std::string name;
    sim::fpga::MambaShape shape;
};

struct FpgaRun {
    std::string title, source;
    sim::fpga::Board board;
    sim::fpga::Design design;
    std::vector<std::string> changes;  ///< keys of the design that the input replaced: "lanes 64 instead of 32"
    FpgaModel target;
    std::optional<FpgaModel> drafter;  ///< nothing: plain decoding
    std::string tree_label;
    sim::DraftTree tree;  ///< without nodes: plain decoding
    double accept_length = 1.0;
    std::string accept_source;
    std::optional<sim::DraftAcceptance> acceptance;  ///< where the input gives one: lengths of other shapes follow from it
    sim::fpga::RoundOptions options;
    std::vector<text::Provenance> provenance;

    [[nodiscard]] bool speculates() const { return drafter.has_value() && tree.nodes() > 0; }
};

/// What an accelerator runs at a design point: `setup` is one of an accelerator, and accept_length is 1 without drafts.
FpgaRun run_at(const sim::RoundSetup& setup, const sim::Speculation& speculation, double accept_length);

/// Every reason why the run cannot be priced: a design that exceeds its board, a FIFO that deadlocks. One sentence each.
std::vector<std::string> problems_of(const FpgaRun& run);

}  // namespace treeline::sweeps
