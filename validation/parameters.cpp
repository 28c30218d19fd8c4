#include "validation/parameters.h"

#include <algorithm>
#include <array>

namespace treeline::validation {
namespace {

using Get = double (*)(const sim::Platform&);
using Set = void (*)(double, sim::Platform&);

struct Known {
    std::string_view name, unit;
    double base_units, low, high;
    Get get;
    Set set;
};

template <Seconds sim::Stack::*member>
constexpr Known host_time(std::string_view name, double low, double high) {
    return {name,
            "us",
            1e-6,
            low,
            high,
            [](const sim::Platform& platform) { return (platform.stack.*member).value(); },
            [](double value, sim::Platform& platform) { platform.stack.*member = Seconds(value); }};
}

/// Bounds are physical: a host does nothing under 10 ns, and no platform here idles for a second.
const std::array known = {
    Known{"memory_efficiency", "", 1.0, 0.05, 1.0, [](const sim::Platform& p) { return p.stack.memory_efficiency; },
          [](double value, sim::Platform& p) { p.stack.memory_efficiency = value; }},
    Known{"compute_efficiency", "", 1.0, 0.01, 1.0, [](const sim::Platform& p) { return p.stack.compute_efficiency; },
          [](double value, sim::Platform& p) { p.stack.compute_efficiency = value; }},
    Known{"scan_efficiency", "", 1.0, 0.001, 1.0, [](const sim::Platform& p) { return p.stack.scan_efficiency; },
          [](double value, sim::Platform& p) { p.stack.scan_efficiency = value; }},
    Known{"memory_per_graph", "MB", 1e6, 1e4, 1e10, [](const sim::Platform& p) { return p.stack.memory_per_graph.value(); },
          [](double value, sim::Platform& p) { p.stack.memory_per_graph = Bytes(value); }},
    host_time<&sim::Stack::host_launch>("host_launch", 1e-8, 1e-3),
    host_time<&sim::Stack::node_cost>("node_cost", 1e-8, 1e-3),
    host_time<&sim::Stack::eager_launch>("eager_launch", 1e-8, 1e-3),
    host_time<&sim::Stack::kernel_startup>("kernel_startup", 1e-8, 1e-4),
    host_time<&sim::Stack::scan_step>("scan_step", 1e-8, 1e-3),
    host_time<&sim::Stack::host_per_pass>("host_per_pass", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_sequence>("host_per_sequence", 1e-8, 0.1),
    host_time<&sim::Stack::host_per_verified_token>("host_per_verified_token", 1e-8, 0.1),
    host_time<&sim::Stack::host_per_draft_pass>("host_per_draft_pass", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_rollback>("host_per_rollback", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_round>("host_per_round", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_tree>("host_per_tree", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_sampling>("host_per_sampling", 1e-8, 1.0),
    host_time<&sim::Stack::host_per_draft_token>("host_per_draft_token", 1e-8, 0.1),
    host_time<&sim::Stack::host_per_tree_token>("host_per_tree_token", 1e-8, 0.1),
    Known{"host_speed", "", 1.0, 0.05, 20.0, [](const sim::Platform& p) { return p.device.host_speed; },
          [](double value, sim::Platform& p) { p.device.host_speed = value; }},
    Known{"reserved_memory", "GB", 1e9, 1e6, 40e9, [](const sim::Platform& p) { return p.device.reserved.value(); },
          [](double value, sim::Platform& p) { p.device.reserved = Bytes(value); }},
};

const Known& find(std::string_view name) {
    return *std::find_if(known.begin(), known.end(), [&](const Known& entry) { return entry.name == name; });
}

}  // namespace

std::vector<std::string> parameter_names() {
    std::vector<std::string> names;
    for (const Known& entry : known) {
        names.emplace_back(entry.name);
    }
    return names;
}

FreeParameter free_parameter(std::string_view name) {
    const Known& entry = find(name);
    return {std::string(name), entry.low, entry.high};
}

ParameterUnit unit_of(const FreeParameter& parameter) {
    const Known& entry = find(parameter.name);
    return {entry.unit, entry.base_units};
}

double value_of(const FreeParameter& parameter, const sim::Platform& platform) { return find(parameter.name).get(platform); }

void set_value(const FreeParameter& parameter, double value, sim::Platform& platform) {
    find(parameter.name).set(value, platform);
}

}  // namespace treeline::validation
