// Points of a sweep by their numbers, priced once more.
#pragma once

#include "sweeps/sweep.h"

namespace treeline::sweeps {

/// Each variant is compiled once.
class Repriced {
public:
    void want(std::uint64_t order) { orders_.push_back(order); }
    void price(const DesignSpace& space);
    /// Only what was wanted.
    [[nodiscard]] const SweepPoint& at(std::uint64_t order) const;

private:
    std::vector<std::uint64_t> orders_;
    std::vector<SweepPoint> points_;
};

}  // namespace treeline::sweeps
