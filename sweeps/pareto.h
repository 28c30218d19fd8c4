// The Pareto set of tokens/s/user against tokens/s/device.
#pragma once

#include <cstdint>
#include <vector>

namespace treeline::sweeps {

struct Tradeoff {
    double per_user = 0.0;    ///< tokens/s that one user sees
    double per_device = 0.0;  ///< tokens/s that one device yields
    std::uint64_t id = 0;     ///< whatever the caller counts
};

/// The points that no other point beats in both, kept while points arrive. Of equal points the one with the lowest id stays, so
/// the set does not depend on the order of arrival. Most points are turned away by one binary search.
class ParetoFront {
public:
    /// True when the point joined the front (points that it beats have left).
    bool insert(const Tradeoff& point);
    /// By falling tokens/s/user and rising tokens/s/device.
    [[nodiscard]] const std::vector<Tradeoff>& points() const { return points_; }

private:
    std::vector<Tradeoff> points_;
};

/// The front of all these points.
std::vector<Tradeoff> pareto_front(const std::vector<Tradeoff>& points);

}  // namespace treeline::sweeps
