// The Pareto set of tokens/s/user against tokens/s/device.
#pragma once

#include <cstddef>
#include <vector>

namespace treeline {

struct Tradeoff {
    double per_user = 0.0;    ///< tokens/s that one user sees
    double per_device = 0.0;  ///< tokens/s that one device yields
    std::size_t id = 0;       ///< whatever the caller counts
};

/// The points that no other point beats in both, by falling tokens/s/user. Of equal points the one with the lowest id stays.
/// O(n log n); the result does not depend on the order of the input.
std::vector<Tradeoff> pareto_front(std::vector<Tradeoff> points);

}  // namespace treeline
