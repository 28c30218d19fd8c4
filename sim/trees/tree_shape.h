// The ways to state a draft tree, as values. Each becomes a DraftTree.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sim/trees/draft_tree.h"
#include "sim/trees/rank_acceptance.h"

namespace treeline::sim {

/// k draft tokens, one after the other.
struct ChainShape {
    int draft_tokens = 0;
};

/// Nodes of each level. They are spread over the nodes of the level before as evenly as possible: with w nodes on w' parents,
/// each parent has w / w' children (rounded down) and the first w mod w' parents one more.
struct WidthsShape {
    std::vector<int> widths;
};

/// Every node of level i − 1 (level 0 is the root) has children[i − 1] children: the trees (N1, …, Nd) of Mamba drafters
/// (arXiv 2506.01206), with N1·…·Ni nodes on level i.
struct BranchingShape {
    std::vector<int> children;
};

/// Children of each node, level by level (the first level is the root alone), in the order of the nodes; nodes past the end
/// of a level's list have none.
struct ChildTableShape {
    std::vector<std::vector<int>> children;
};

/// Parents of tokens 1, 2, …; 0 is the root.
struct ParentsShape {
    std::vector<int> parents;
};

/// All children twice, `levels` levels with the root counted as the first (as STree counts): 2^levels − 1 packed tokens.
struct BinaryShape {
    int levels = 0;
};

/// `drafts` independent chains of `draft_tokens` each.
struct SequencesShape {
    int drafts = 0;
    int draft_tokens = 0;
};

/// Beam search (grow_beam_tree).
struct BeamShape {
    int beams = 0;
    int steps = 0;
};

/// SGLang's EAGLE trees: steps, top-k and draft tokens, which count the root (grow_frontier_tree). Limits: draft tokens − 1 ≤
/// the pool of candidates; top-k 1 is a chain with draft tokens = steps + 1.
struct SglangShape {
    int steps = 0;
    int top_k = 0;
    int draft_tokens = 0;
};

/// vLLM: chains only.
struct VllmShape {
    int num_speculative_tokens = 0;
};

/// TensorRT-LLM's dynamic trees, total tokens without the root (grow_frontier_tree). Limit of its documentation (features,
/// speculative decoding): max_draft_len ≤ max_total_draft_tokens ≤ top-k · max_draft_len.
struct TensorRtShape {
    int max_draft_len = 0;
    int max_top_k = 0;
    int max_total_draft_tokens = 0;
};

/// The best tree within limits on nodes, levels and children per node (sim/trees/optimal_tree.h).
struct OptimalShape {
    int nodes = 0;
    int depth = 0;
    int children = 0;  ///< 0: as many as there are ranks
};

using TreeShape = std::variant<ChainShape, WidthsShape, BranchingShape, ChildTableShape, ParentsShape, BinaryShape,
                               SequencesShape, BeamShape, SglangShape, VllmShape, TensorRtShape, OptimalShape>;

/// Every violated constraint as a sentence; empty when the shape can be built.
std::vector<std::string> problems(const TreeShape& shape);

/// Whether the tree depends on which candidates are better (beams, SGLang, TensorRT-LLM, optimal).
bool depends_on_acceptance(const TreeShape& shape);

/// Whether an engine runs its code for trees: its settings let a node have several children, even where the best candidates of
/// a round happen to form a chain.
bool lets_branch(const TreeShape& shape);

/// The tree of a shape without problems(). `acceptance` matters only where depends_on_acceptance().
DraftTree build_tree(const TreeShape& shape, const RankAcceptance& acceptance);

}  // namespace treeline::sim
