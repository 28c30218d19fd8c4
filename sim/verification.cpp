#include "sim/verification.h"

namespace treeline::sim {

VerifyShape verify_shape(Verification verification, const DraftTree& tree) {
    if (verification == Verification::packed || tree.nodes() == 0) {
        return {1.0, static_cast<double>(tree.verified_tokens())};
    }
    const double leaves = tree.leaves();
    return {leaves, tree.unrolled_tokens() / leaves};
}

}  // namespace treeline::sim
