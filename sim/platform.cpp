#include "sim/platform.h"

#include <algorithm>

namespace treeline::sim {

const Interconnect* link_of(const Platform& platform) { return link_between(platform, platform.devices()); }

const Interconnect* link_between(const Platform& platform, double ranks) {
    if (ranks <= 1.0) {
        return nullptr;
    }
    for (const Interconnect& link : platform.device.interconnects) {
        if (link.joins(ranks) && (platform.interconnect.empty() || link.name == platform.interconnect)) {
            return &link;
        }
    }
    return nullptr;
}

double memory_utilisation_of(const Platform& platform, DrafterOnDevice drafter) {
    const Stack& stack = platform.stack;
    if (platform.memory_utilisation || stack.memory.memory_utilisation) {
        return platform.memory_utilisation ? *platform.memory_utilisation : *stack.memory.memory_utilisation;
    }
    const Bytes memory = platform.device.memory;
    for (const MemoryReserve& reserve : stack.memory.memory_reserves) {
        if (memory < reserve.below) {
            const Bytes kept = reserve.base + reserve.per_rank * platform.ranks + reserve.beside(drafter);
            return std::max(0.01, 1.0 - kept / memory);
        }
    }
    return 1.0;
}

}  // namespace treeline::sim
