// Acceptance by chance: timing that does not depend on the text.
#pragma once

#include <vector>

#include "decoder/decode.h"
#include "numerics/random.h"

namespace treeline::decoder {

/// The accepted path of one sequence and round, as tokens of the tree from the root on.
std::vector<int> accepted_by_chance(const sim::DraftTree& tree, const GivenAcceptance& given, numerics::Random& random);

}  // namespace treeline::decoder
