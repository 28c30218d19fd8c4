// Verification: how one pass of the target scores a whole draft. A closed set of ways, each of which says what sequences the
// pass consists of; sim/layers/ decides which kernels its layers run.
#pragma once

#include "sim/enum_names.h"
#include "sim/trees/draft_tree.h"

namespace treeline::sim {

enum class Verification {
    unrolled,        ///< a sequence for each leaf, scanned by the fused multi-step kernel; a chain is one such sequence
    unrolled_chunk,  ///< the same sequences, scanned by the chunk scan that prompts use
    packed,          ///< one sequence for the whole tree: tree attention and tree scan
};
constexpr auto names_in(Verification) {
    using enum Verification;
    return enum_names<Verification>({{unrolled, "unrolled"}, {unrolled_chunk, "unrolled-chunk"}, {packed, "packed"}});
}

inline constexpr auto all_verifications = values_of<Verification>();

/// The verification pass of a draft, for each sequence of the batch.
struct VerifyShape {
    double sequences = 1.0;  ///< rows of the pass
    double tokens = 1.0;     ///< tokens of a row; the mean if paths differ in length
};

/// Packed: one row of all tokens. Unrolled: a row for each leaf, its path with the root. A full binary tree of 4 levels has 1
/// row of 15 tokens, or 8 rows of 4 (STree, arXiv 2505.14969, Figure 3).
VerifyShape verify_shape(Verification verification, const DraftTree& tree);

}  // namespace treeline::sim
