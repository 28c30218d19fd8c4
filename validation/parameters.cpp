#include "validation/parameters.h"

#include <algorithm>
#include <array>

#include "sim/stack_parameters.h"

namespace treeline::validation {
namespace {

/// A number of a device that a fit may set; those of stacks are in sim/stack_parameters.h.
struct DeviceParameter {
    FreeParameter bounds;
    ParameterUnit unit;
    double (*get)(const sim::Device&);
    void (*set)(sim::Device&, double);
};

const std::array of_devices = {
    DeviceParameter{{"host_speed", 0.05, 20.0},
                    {"", 1.0},
                    [](const sim::Device& device) { return device.host_speed; },
                    [](sim::Device& device, double value) { device.host_speed = value; }},
    DeviceParameter{{"reserved_memory", 1e6, 40e9},
                    {"GB", 1e9},
                    [](const sim::Device& device) { return device.reserved.value(); },
                    [](sim::Device& device, double value) { device.reserved = Bytes(value); }},
};

/// Null: it is a number of a stack.
const DeviceParameter* of_device(std::string_view name) {
    const auto found = std::find_if(of_devices.begin(), of_devices.end(),
                                    [&](const DeviceParameter& each) { return each.bounds.name == name; });
    return found == of_devices.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> parameter_names() {
    std::vector<std::string> names;
    for (const sim::StackParameter& parameter : sim::stack_parameters()) {
        if (parameter.may_be_fitted()) {
            names.emplace_back(parameter.name);
        }
    }
    for (const DeviceParameter& parameter : of_devices) {
        names.push_back(parameter.bounds.name);
    }
    return names;
}

FreeParameter free_parameter(std::string_view name) {
    if (const DeviceParameter* parameter = of_device(name)) {
        return parameter->bounds;
    }
    const sim::StackParameter& parameter = sim::stack_parameter(name);
    return {std::string(name), parameter.fit_low, parameter.fit_high};
}

ParameterUnit unit_of(const FreeParameter& parameter) {
    if (const DeviceParameter* known = of_device(parameter.name)) {
        return known->unit;
    }
    switch (sim::stack_parameter(parameter.name).unit) {
        case sim::StackUnit::seconds:
            return {"us", 1e-6};
        case sim::StackUnit::bytes:
            return {"MB", 1e6};
        case sim::StackUnit::ratio:
            break;
    }
    return {"", 1.0};
}

double value_of(const FreeParameter& parameter, const sim::Platform& platform) {
    const DeviceParameter* known = of_device(parameter.name);
    return known != nullptr ? known->get(platform.device) : sim::stack_parameter(parameter.name).get(platform.stack);
}

void set_value(const FreeParameter& parameter, double value, sim::Platform& platform) {
    if (const DeviceParameter* known = of_device(parameter.name)) {
        known->set(platform.device, value);
    } else {
        sim::stack_parameter(parameter.name).set(platform.stack, value);
    }
}

}  // namespace treeline::validation
