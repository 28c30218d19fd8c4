// A published number of an FPGA accelerator: everything that determines its prediction. Design and board are part of the point,
// since their fitted numbers are in their descriptions (hardware/fpga/designs) and not in a fit of this run.
#pragma once

#include <optional>
#include <string>

#include "sim/fpga/ablation.h"
#include "sim/fpga/resources.h"

namespace treeline::validation {

struct FpgaPoint {
    sim::fpga::Board board;
    sim::fpga::Design design;
    sim::fpga::MambaShape target, drafter;  ///< drafter: all zero without one
    sim::DraftTree tree;                    ///< without nodes: plain decoding
    double accept_length = 1.0;
    sim::fpga::RoundOptions options;
    std::optional<sim::fpga::AblationStage> stage;  ///< then this says how it verifies and backtracks
};

/// The round of the design, or of its ablation stage.
sim::fpga::RoundCost round_of(const FpgaPoint& point);

/// What the design takes of its board, all units and buffers.
sim::fpga::Resources resources_of(const FpgaPoint& point);

}  // namespace treeline::validation
