// A draft tree as work of the accelerator: what the verification issues, and the passes that draft it.
#pragma once

#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/fpga/issue_schedule.h"
#include "sim/trees/draft_tree.h"

namespace treeline::sim::fpga {

/// How recurrent states return to the last accepted token.
enum class Backtracking {
    hybrid,        ///< the drafter stores states under cover of its weights, the target replays (SpecMamba)
    store_states,  ///< every node's state is written out under cover of the weight stream, by target and drafter
    recompute,     ///< target and drafter cache activations and replay accepted tokens
    naive          ///< every node's state is copied out, uncompressed and beside the pass, by target and drafter
};
constexpr auto names_in(Backtracking) {
    using enum Backtracking;
    return enum_names<Backtracking>(
        {{hybrid, "hybrid"}, {store_states, "store-states"}, {recompute, "recompute"}, {naive, "naive"}});
}

/// Whether the target recomputes accepted tokens.
constexpr bool replays(Backtracking plan) { return plan == Backtracking::hybrid || plan == Backtracking::recompute; }

/// Identical drafting passes. A pass runs the nodes of one level, each from its parent's state.
struct DraftStep {
    double tokens = 1.0;    ///< nodes of the level
    double parents = 1.0;   ///< distinct parents among them
    double replayed = 0.0;  ///< tokens replayed first, where the plan replays
    double runs = 1.0;      ///< such passes in a round
    bool first = false;     ///< runs the root: replays what the last round accepted
};

struct TreeWork {
    double verified_tokens = 1.0;  ///< L, root included
    double nodes = 0.0;
    double depth = 0.0;                ///< drafting passes of a round
    double parents = 1.0;              ///< distinct parents of verified tokens, the committed state included
    IssueSchedule schedule;            ///< of the verification, a whole group of interleaved tiles
    std::vector<double> issue_cycles;  ///< of the verification (issue_cycles_by_group())
    std::vector<DraftStep> draft;
};

/// Without nodes: plain decoding. Levels 0 … depth − 1 are run to draft levels 1 … depth.
TreeWork tree_work(const DraftTree& tree, const IssueRules& rules, Backtracking plan);

}  // namespace treeline::sim::fpga
