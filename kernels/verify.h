// After the LM head: what a drafter proposes, and which drafted tokens are accepted. Both verifications walk the tree from the
// root, child by child.
#pragma once

#include "kernels/element.h"
#include "kernels/packed_tree.h"

namespace treeline::kernels {

/// What a verification leaves, in memory of the kernels' device.
struct Accepted {
    int* count = nullptr;  ///< [sequences]: accepted draft tokens
    /// [sequences][deepest level + 1]: the tree's tokens on the accepted path, the root first; -1 behind its end.
    int* path = nullptr;
    int* next_id = nullptr;  ///< [sequences]: vocabulary id of the token produced after the path (correction or bonus)
};

/// Greedy verification: a child is accepted if its id is the argmax of its parent's logits (the lowest id of several).
struct GreedyVerification {
    int sequences = 1;
    int vocabulary = 1;
    TreeView tree;
    int deepest_level = 0;           ///< of the tree
    const int* draft_ids = nullptr;  ///< [sequences][tree.tokens]; the root's is not read
    ConstRows logits;                ///< vocabulary wide, a row for each token
    int* argmax = nullptr;           ///< [sequences][tree.tokens]: written on the way
    Accepted accepted;
};

/// Verification by rejection sampling, which leaves the target's distribution as it is. At a token with target distribution p
/// and draft distribution q, children are tried in the order of rank: child x is accepted with probability min(1, p(x) / q(x)),
/// else p becomes the normalised max(p - q, 0). If no child is accepted, the next token is drawn from p. A chain is the method
/// of Leviathan et al. (arXiv 2211.17192); several children, drawn independently from q, that of SpecInfer (arXiv 2305.09781).
struct RejectionVerification {
    int sequences = 1;
    int vocabulary = 1;
    TreeView tree;
    int deepest_level = 0;
    const int* draft_ids = nullptr;  ///< [sequences][tree.tokens]
    ConstRows target_logits;         ///< fp32, vocabulary wide, a row for each token
    ConstRows draft_logits;          ///< fp32: what the children of each token were drawn from; leaves' rows count for nothing
    float temperature = 1.0F;        ///< of both
    /// [sequences][tree.tokens + 1] in [0, 1): the trial of each token (not of the root), then the draw of the next id.
    const float* uniform = nullptr;
    float* row_statistics = nullptr;  ///< scratch: [sequences][tree.tokens][4]
    Accepted accepted;
};

/// What a drafter proposes after each token: the ids of the largest logits of a row, the largest first (of equal ones the
/// lowest id).
struct TopChoices {
    int rows = 1;
    int vocabulary = 1;
    int choices = 1;  ///< at most 64, and at most the vocabulary
    ConstRows logits;
    int* ids = nullptr;  ///< [rows][choices]
};

/// As check(const Scan&).
void check(const TopChoices& choices);
void check(const GreedyVerification& verification);
void check(const RejectionVerification& verification);

}  // namespace treeline::kernels
