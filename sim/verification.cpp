#include "sim/verification.h"

namespace treeline {

std::string_view name_of(Verification verification) {
    switch (verification) {
        case Verification::unrolled:
            return "unrolled";
        case Verification::unrolled_chunk:
            return "unrolled-chunk";
        case Verification::packed:
            return "packed";
    }
    return "";
}

std::optional<Verification> verification_named(std::string_view name) {
    for (const Verification verification : all_verifications) {
        if (name_of(verification) == name) {
            return verification;
        }
    }
    return std::nullopt;
}

VerifyShape verify_shape(Verification verification, const DraftTree& tree) {
    if (verification == Verification::packed || tree.nodes() == 0) {
        return {1.0, static_cast<double>(tree.verified_tokens())};
    }
    const double leaves = tree.leaves();
    return {leaves, tree.unrolled_tokens() / leaves};
}

}  // namespace treeline
