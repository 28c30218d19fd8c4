// One round of speculation on the accelerator: draft level by level, verify the tree, return to the accepted state.
#pragma once

#include "sim/fpga/pass.h"
#include "sim/fpga/tree_work.h"

namespace treeline::fpga {

/// How the verification reaches the states of a tree.
enum class TreeStates {
    fifo,     ///< they stay on chip, in the FIFO
    off_chip  ///< each parent's state is read and each node's written through memory, uncompressed and beside the pass
};

struct RoundOptions {
    Backtracking plan = Backtracking::hybrid;
    TreeStates tree_states = TreeStates::fifo;
};

struct RoundCost {
    PassCost plain;   ///< one token without speculation
    PassCost verify;  ///< equals `plain` for a tree without nodes
    Seconds draft;    ///< all drafting passes
    double draft_passes = 0.0;
    Bytes draft_bytes;
    Seconds time;
    double accept_length = 1.0;  ///< τ, bonus token included
    double tokens_per_second = 0.0;
    double speedup = 1.0;                   ///< against plain decoding on the same design
    double break_even_accept_length = 1.0;  ///< round / plain pass
    Watts power;                            ///< 0 where board or design state none
    double tokens_per_joule = 0.0;          ///< likewise
};

/// The verification of a tree: L tokens, R = τ replayed where the plan replays (root and accepted nodes of the last round).
PassWork verify_work(const TreeWork& tree, double accept_length, const RoundOptions& options);

/// One drafting pass. Nodes of a level are independent, so none waits for another.
PassWork draft_work(const DraftStep& step, double accept_length, Backtracking plan);

/// Watts at a rate of tokens; 0 where board or design do not state what it takes.
Watts power_at(const Board& board, const Design& design, double tokens_per_second);

/// The design must have been checked (problems_of, fifo_problem, excess_of). `accept_length` ≥ 1; a tree without nodes yields
/// one token whatever it says, and needs no drafter.
RoundCost round_cost(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                     const TreeWork& tree, double accept_length, const RoundOptions& options);

/// The same without explanation, for searches: seconds of one round.
Seconds round_time(const Board& board, const Design& design, const MambaShape& target, const MambaShape& drafter,
                   const TreeWork& tree, double accept_length, const RoundOptions& options);

}  // namespace treeline::fpga
