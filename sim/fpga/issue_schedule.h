// When the tokens of a draft tree enter the SSM unit of an FPGA accelerator.
//
// The unit is one pipeline that takes tokens in breadth-first order. A token's state leaves the pipeline `pipeline_depth`
// cycles after it entered and waits in a FIFO for its first child; siblings reuse what the first one popped. A child that comes
// too early stalls the pipeline (parent-to-child hazard). Interleaving several independent tiles of the state fills those
// cycles.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/trees/draft_tree.h"

namespace treeline::sim::fpga {

/// The parent of a token that starts from the state at the beginning of the pass.
inline constexpr int committed_state = -1;

struct IssueRules {
    int pipeline_depth = 4;       ///< δ: cycles from the issue of a token to the push of its state
    int interleave = 1;           ///< state tiles that take turns: a token enters for all of them before the next token does
    int initiation_interval = 1;  ///< cycles between two issues, as the tools achieved it
};

/// The issue of one group of `interleave` tiles through all tokens.
struct IssueSchedule {
    std::vector<int> issue;     ///< cycle at which the first tile of each token enters
    int cycles = 0;             ///< S: the next group may enter so many cycles after this one
    int stall_cycles = 0;       ///< of those, lost to parent-to-child hazards
    int fifo_high_water = 0;    ///< most tiles queued after any clock edge
    int fifo_depth_needed = 0;  ///< depth of the shallowest FIFO that does not deadlock
    int blocked_token = -1;     ///< the token whose push needs that depth; -1 where nothing is queued
    int waiting_child = -1;     ///< the token whose pop would have made room, issued no earlier than that push
};

/// Issue of node i: e_0 = 0; e_i = max(e_{i-1} + interleave · II, e_parent + δ + 1 where i pops the FIFO). parents[i] < i or
/// committed_state, siblings next to each other (breadth-first order). A push at cycle t needs a slot that was popped before t
/// (t_write[k] ≥ t_read[k − depth] + 1). A pipeline that waits for a slot is frozen as a whole, so the pop that it waits for
/// never comes: a FIFO is deep enough for this very schedule or it deadlocks.
IssueSchedule issue_schedule(std::span<const int> parents, const IssueRules& rules);

/// IssueSchedule::cycles of groups of 1 … rules.interleave tiles: what is left over of a block goes in a smaller group.
std::vector<double> issue_cycles_by_group(std::span<const int> parents, const IssueRules& rules);

/// Parents of the verified tokens of a tree: its root starts from the committed state.
std::vector<int> verified_parents(const DraftTree& tree);

/// Tiles queued after each cycle 0 … of one group, until the last pop.
std::vector<int> fifo_occupancy(std::span<const int> parents, const IssueRules& rules);

/// Cycles of `tokens` replayed one after the other ahead of a tree, a group of tiles: each waits for its predecessor. Linear in
/// tokens, which may be a mean.
inline double replay_cycles(double tokens, const IssueRules& rules) {
    const int step = rules.interleave * rules.initiation_interval;
    return tokens * (step > rules.pipeline_depth + 1 ? step : rules.pipeline_depth + 1);
}

/// Why a FIFO of `depth` tiles cannot run this schedule, as a sentence; empty if it can.
std::string fifo_problem(const IssueSchedule& schedule, int depth);

}  // namespace treeline::sim::fpga
