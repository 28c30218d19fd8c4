#include "validation/parameters.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/stack_parameters.h"

namespace treeline::validation {
namespace {

/// A number that is none of a stack's table (sim/stack_parameters.h).
struct OtherParameter {
    FreeParameter bounds;
    ParameterUnit unit;
    std::function<double(const sim::Platform&)> get;
    std::function<void(sim::Platform&, double)> set;
    bool of_experiments = false;  ///< an experiment's file may free it
};

/// "linear_speed.bf16.memory" of a stack, "calibrated.linear_speed.bf16.memory" in calibrated mode.
OtherParameter linear_speed(sim::NumberFormat format, bool in_calibrated_mode, bool of_memory) {
    const auto speed = [=](auto& platform) -> auto& {
        auto& stack = platform.stack;
        auto& speeds = in_calibrated_mode ? stack.calibrated.value().linear_speed : stack.linear_speed;
        auto& of_format = speeds[static_cast<std::size_t>(format)];
        return of_memory ? of_format.memory : of_format.compute;
    };
    return {{fmt::format("{}linear_speed.{}.{}", in_calibrated_mode ? "calibrated." : "", name_of(format),
                         of_memory ? "memory" : "compute"),
             0.01, 100.0},
            {"", 1.0},
            [speed](const sim::Platform& platform) { return speed(platform); },
            [speed](sim::Platform& platform, double value) { speed(platform) = value; }};
}

const std::vector<OtherParameter>& others() {
    static const std::vector<OtherParameter> all = [] {
        std::vector<OtherParameter> result = {
            {{"host_speed", 0.05, 20.0},
             {"", 1.0},
             [](const sim::Platform& platform) { return platform.device.host_speed; },
             [](sim::Platform& platform, double value) { platform.device.host_speed = value; },
             true},
            {{"reserved_memory", 1e6, 40e9},
             {"GB", 1e9},
             [](const sim::Platform& platform) { return platform.device.reserved.value(); },
             [](sim::Platform& platform, double value) { platform.device.reserved = Bytes(value); },
             true},
        };
        for (const sim::NumberFormat format : sim::all_number_formats) {
            for (const bool in_calibrated_mode : {false, true}) {
                for (const bool of_memory : {true, false}) {
                    result.push_back(linear_speed(format, in_calibrated_mode, of_memory));
                }
            }
        }
        return result;
    }();
    return all;
}

/// Null: it is a number of a stack.
const OtherParameter* other(std::string_view name) {
    const auto found =
        std::find_if(others().begin(), others().end(), [&](const OtherParameter& each) { return each.bounds.name == name; });
    return found == others().end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> parameter_names() {
    std::vector<std::string> names;
    for (const sim::StackParameter& parameter : sim::stack_parameters()) {
        if (parameter.may_be_fitted()) {
            names.emplace_back(parameter.name);
        }
    }
    for (const OtherParameter& parameter : others()) {
        if (parameter.of_experiments) {
            names.push_back(parameter.bounds.name);
        }
    }
    return names;
}

FreeParameter free_parameter(std::string_view name) {
    if (const OtherParameter* parameter = other(name)) {
        return parameter->bounds;
    }
    const sim::StackParameter& parameter = sim::stack_parameter(name);
    return {std::string(name), parameter.fit_low, parameter.fit_high};
}

bool has_parameter(std::string_view name) { return other(name) != nullptr || sim::has_stack_parameter(name); }

FreeParameter stated_parameter(std::string_view name) {
    if (other(name) != nullptr) {
        return free_parameter(name);
    }
    const sim::StackParameter& parameter = sim::stack_parameter(name);
    return {std::string(name), parameter.low, parameter.high};
}

ParameterUnit unit_of(const FreeParameter& parameter) {
    if (const OtherParameter* known = other(parameter.name)) {
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
    const OtherParameter* known = other(parameter.name);
    return known != nullptr ? known->get(platform) : sim::stack_parameter(parameter.name).get(platform.stack);
}

void set_value(const FreeParameter& parameter, double value, sim::Platform& platform) {
    if (const OtherParameter* known = other(parameter.name)) {
        known->set(platform, value);
    } else {
        sim::stack_parameter(parameter.name).set(platform.stack, value);
    }
}

}  // namespace treeline::validation
