// The trees that engines can run in place of one that they cannot express.
#pragma once

#include <string>
#include <vector>

#include "sim/trees/tree_shape.h"

namespace treeline::sim {

/// The best tree that an engine can express.
struct EngineTree {
    std::string engine;
    TreeShape shape;  ///< the engine's own settings
    DraftTree tree;
    double accept_length = 0.0;
    bool same = false;       ///< it is exactly the requested tree
    bool can_draft = false;  ///< the engine can draft the requested tree, too

    /// Share of the tree's τ that is lost; negative if the engine has a better one.
    [[nodiscard]] double loss(double tree_accept_length) const { return 1.0 - accept_length / tree_accept_length; }
};

/// For vLLM and llama.cpp (chains), SGLang and TensorRT-LLM (frontier trees, every top-k up to 64) the tree of the largest τ
/// that has no more nodes and no more levels than `tree`; of equals `tree` itself. Frontier trees are treated as static
/// (sim/trees/frontier_tree.h). Empty for a tree without nodes or deeper than 256 levels.
std::vector<EngineTree> best_engine_trees(const DraftTree& tree, const RankAcceptance& acceptance);

}  // namespace treeline::sim
