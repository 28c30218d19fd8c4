#include "sim/platform.h"

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

}  // namespace treeline::sim
