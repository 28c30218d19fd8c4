#include "kernels/packed_tree.h"

namespace treeline::kernels {

PackedTree packed_tree(const sim::DraftTree& tree) {
    PackedTree packed;
    for (int token = 0; token < tree.verified_tokens(); ++token) {
        packed.parent.push_back(tree.parent(token));
        packed.level.push_back(tree.level(token));
    }
    packed.mask = tree.ancestor_mask();
    return packed;
}

}  // namespace treeline::kernels
