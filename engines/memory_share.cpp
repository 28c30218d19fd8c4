#include "engines/memory_share.h"

#include <algorithm>
#include <cmath>

namespace treeline::engines {
namespace {

/// What the engine takes of a device with this share of it (memory_utilisation_of), whatever the limit.
Bytes taken_with(sim::RoundSetup setup, std::optional<double> share) {
    setup.platform.memory_limit.reset();
    if (share) {
        setup.platform.memory_utilisation = share;
    }
    return sim::compile_round(setup).memory.capacity;
}

}  // namespace

std::optional<double> share_within_limit(const sim::RoundSetup& setup) {
    const std::optional<Bytes> limit = setup.platform.memory_limit;
    if (!limit || setup.platform.accelerator || taken_with(setup, std::nullopt) <= *limit) {
        return std::nullopt;
    }
    constexpr double low = 0.1, high = 0.2;
    const Bytes at_low = taken_with(setup, low), at_high = taken_with(setup, high);
    const double share = low + (high - low) * ((*limit - at_low) / (at_high - at_low));
    return std::max(0.001, std::floor(1e3 * share) / 1e3);
}

}  // namespace treeline::engines
