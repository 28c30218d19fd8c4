#include "sweeps/choices.h"

#include <fmt/format.h>

namespace treeline {
namespace {

/// A link slower than the device's fastest that was taken because that one does not reach so far says so.
std::string link_text(const Platform& platform, const Interconnect& link) {
    const Interconnect& fastest = platform.device.interconnects.front();
    return fastest.joins(platform.devices())
               ? link.name
               : fmt::format("{}, as {} joins {:.0f} devices", link.name, fastest.name, fastest.domain);
}

}  // namespace

std::string default_stack(const Device& device) { return device.kind == DeviceKind::cpu ? "cpu" : "cuda-graph"; }

std::string label_of(const Platform& platform) {
    std::string label = platform.device.name;
    if (platform.devices() > 1.0) {
        const Interconnect* link = link_of(platform);
        const std::string cuts = platform.parallel == Parallelism{} ? "" : text_of(platform.ranks, platform.parallel);
        const std::string linked = link != nullptr ? link_text(platform, *link) : "";
        const std::string both = linked + (linked.empty() || cuts.empty() ? "" : "; ") + cuts;
        label = fmt::format("{:.0f} x {}{}", platform.devices(), label, both.empty() ? "" : " (" + both + ")");
    }
    if (platform.accelerator) {
        return label;
    }
    const std::string stack = platform.mode == CostMode::hoi ? "" : ", " + platform.stack.name;
    return label + stack + (platform.mode == CostMode::roofline ? "" : fmt::format(", {} mode", name_of(platform.mode)));
}

}  // namespace treeline
