#include "sweeps/choices.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/traits.h"

namespace treeline::sweeps {
namespace {

/// A link slower than the device's fastest that was taken because that one does not reach so far says so.
std::string link_text(const sim::Platform& platform, const sim::Interconnect& link) {
    const sim::Interconnect& fastest = platform.device.interconnects.front();
    return fastest.joins(platform.devices())
               ? link.name
               : fmt::format("{}, as {} joins {:.0f} devices", link.name, fastest.name, fastest.domain);
}

}  // namespace

std::string default_stack(const sim::Device& device) {
    if (device.kind == sim::DeviceKind::cpu) {
        return "cpu";
    }
    return !device.usual_stack.empty() ? device.usual_stack : device.metal ? "llama.cpp" : std::string(sim::general_stack);
}

sim::CostMode default_mode(const sim::Platform& platform) {
    return platform.device.calibration && platform.stack.kernels.calibrated ? sim::CostMode::calibrated
                                                                            : sim::CostMode::roofline;
}

std::string label_of(const sim::Stack& stack) {
    std::vector<std::string> stated;
    for (const std::string& kernels : {stack.picked.expert_kernels.name, stack.picked.attention_kernels.name}) {
        if (!kernels.empty()) {
            stated.push_back(kernels);
        }
    }
    if (stack.serving.states_prefill) {
        stated.push_back(std::string(name_of(stack.serving.prefill)) + " prefill");
    }
    if (stack.serving.states_budget) {
        stated.push_back(fmt::format("{:.0f} tokens a step", stack.serving.step_tokens));
    }
    const std::string name = stack.stands_for.empty() ? stack.name : fmt::format("{} (as {})", stack.stands_for, stack.name);
    return name + (stated.empty() ? "" : fmt::format(" with {}", fmt::join(stated, " and ")));
}

std::string label_of(const sim::Platform& platform) {
    std::string label = platform.device.name;
    if (platform.devices() > 1.0) {
        const sim::Interconnect* link = sim::link_of(platform);
        const std::string cuts = platform.parallel == sim::Parallelism{} ? "" : text_of(platform.ranks, platform.parallel);
        const std::string linked = link != nullptr ? link_text(platform, *link) : "";
        const std::string both = linked + (linked.empty() || cuts.empty() ? "" : "; ") + cuts;
        label = fmt::format("{:.0f} x {}{}", platform.devices(), label, both.empty() ? "" : " (" + both + ")");
    }
    if (platform.accelerator) {
        return label;
    }
    std::string stack = platform.mode == sim::CostMode::hoi ? "" : ", " + label_of(platform.stack);
    if (platform.memory_utilisation) {
        stack += fmt::format(", {:.4g} of the memory", *platform.memory_utilisation);
    }
    return label + stack + (platform.mode == default_mode(platform) ? "" : fmt::format(", {} mode", name_of(platform.mode)));
}

}  // namespace treeline::sweeps
