// One round of speculation on the accelerator: draft level by level, verify the tree, return to the accepted state.
#pragma once

#include "sim/enum_names.h"
#include "sim/fpga/pass.h"
#include "sim/fpga/tree_work.h"

namespace treeline::sim::fpga {

/// How the verification reaches the states of a tree.
enum class TreeStates {
    fifo,     ///< they stay on chip, in the FIFO
    off_chip  ///< through memory, uncompressed and beside the pass: each node reads its parent's, and those that a child reads
              ///< are written (under the naive plan all of them, as any may be accepted)
};
constexpr auto names_in(TreeStates) {
    using enum TreeStates;
    return enum_names<TreeStates>({{fifo, "fifo"}, {off_chip, "off-chip"}});
}

struct RoundOptions {
    Backtracking plan = Backtracking::hybrid;
    TreeStates tree_states = TreeStates::fifo;
};

/// The totals of a round that matter for power.
struct RoundWork {
    Seconds time;
    Bytes bytes;            ///< moved between memory and chip
    double products = 0.0;  ///< of the Linear unit
};

/// Watts by cause; all zero if board or design do not state what they draw.
struct PowerParts {
    Watts leakage;   ///< Board::static_power
    Watts clocked;   ///< DSPs and the fabric around them, busy or not
    Watts memory;    ///< bytes moved
    Watts products;  ///< work done

    [[nodiscard]] Watts total() const { return leakage + clocked + memory + products; }
};

struct RoundCost {
    PassCost plain;   ///< one token without speculation
    PassCost verify;  ///< equals `plain` for a tree without nodes
    Seconds draft;    ///< all drafting passes
    double draft_passes = 0.0;
    Bytes draft_bytes;
    RoundWork totals;
    Seconds time;
    double accept_length = 1.0;  ///< τ, bonus token included
    double tokens_per_second = 0.0;
    double speedup = 1.0;                   ///< against plain decoding on the same design
    double break_even_accept_length = 1.0;  ///< round / plain pass
    PowerParts power;
    double tokens_per_joule = 0.0;  ///< 0 where the power is unknown
};

/// The verification of a tree: L tokens, R = τ replayed where the plan replays (root and accepted nodes of the last round).
PassWork verify_work(const TreeWork& tree, double accept_length, const RoundOptions& options);

/// One drafting pass. Nodes of a level are independent, so none waits for another.
PassWork draft_work(const DraftStep& step, double accept_length, Backtracking plan);

/// Whether board and design state the power that they draw.
bool knows_power(const Board& board, const Design& design);

/// Power of a design that repeats such rounds. `totals.time` must be above zero.
PowerParts power_of(const Board& board, const Design& design, const RoundWork& totals);

/// The design must have been checked (problems_of, fifo_problem, excess_of). `accept_length` ≥ 1; a tree without nodes yields
/// one token whatever it says, and needs no drafter.
RoundCost round_cost(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options);

/// The totals alone, for searches.
RoundWork round_work(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options);

}  // namespace treeline::sim::fpga
