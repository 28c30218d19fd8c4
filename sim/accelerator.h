// An accelerator for Mamba-2 on an FPGA board as a device among others: what it looks like beside GPUs, and why it may be
// unable to run something. The cycle model is in sim/fpga/; a round of it is compiled in sim/accelerator_round.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/device.h"
#include "sim/fpga/board.h"
#include "sim/fpga/design.h"
#include "sim/fpga/tree_work.h"
#include "sim/stack.h"

namespace treeline::sim {

struct Accelerator {
    fpga::Board board;
    fpga::Design design;
};

/// Board and design as a device: the design's name ("DESIGN on BOARD" where it was made for another board), the board's memory
/// and bandwidth, two operations a multiplier and cycle as the peak of every format, and the power that it draws whatever the
/// rate (0 if board or design do not state it).
Device device_of(const Accelerator& accelerator);

/// Takes the place of a software stack: the design's own controller. It costs nothing beyond its cycles, verifies every node
/// once, and returns to the accepted state by one of the plans that backtracking_of() knows.
Stack on_chip_stack();

/// The backtracking plan of a rollback policy: replay: hybrid (the target replays accepted tokens from activations cached on
/// chip, the drafter stores its states); snapshot: store-states; recompute: recompute (target and drafter both replay). None
/// for the others.
std::optional<fpga::Backtracking> backtracking_of(Rollback rollback);

/// "weights of 4.05 bits, states of 8.50 bits": the formats of the design, whatever precision a run asks for.
std::string formats_of(const fpga::Design& design);

/// Every violated constraint of board and design as a sentence; empty when usable.
std::vector<std::string> problems_of(const Accelerator& accelerator);

}  // namespace treeline::sim
