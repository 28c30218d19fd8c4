// Design points with several shapes, and acceptance by count, as input files write them.
#pragma once

#include <string_view>
#include <vector>

#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "sweeps/adaptive/shape_prices.h"

namespace treeline::requests {

/// Reads design_point_keys (requests/keys/adaptive_keys.h).
sweeps::ShapesPoint read_shapes_point(json::Reader at, Descriptions& descriptions);
/// P(exactly 0, 1, … drafts accepted) under `key`. Rounded values may miss 1 by 0.001 and are scaled to it; a larger gap is a
/// problem.
std::vector<double> read_accepted_exactly(json::Reader& at, std::string_view key);

}  // namespace treeline::requests
