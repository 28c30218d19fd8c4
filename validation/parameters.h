// Numbers of a platform that a fit may set: what software adds to a device, and how much of its peaks kernels reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/round_types.h"

namespace treeline::validation {

/// A number of a platform by name.
struct FreeParameter {
    std::string name;
    double low = 0.0, high = 0.0;  ///< what is physically possible, in base units
};

/// The most for one platform, so that a fit explains more than it was given.
inline constexpr std::size_t most_free_parameters = 4;

/// Every name that an experiment may free. All are above zero, and are fitted by their logarithms.
std::vector<std::string> parameter_names();
/// The parameter of that name with its physical bounds; `name` must be among them.
FreeParameter free_parameter(std::string_view name);

/// Whether there is a number of that name: one above, any of a stack's table (sim/stack_parameters.h), or one of those that
/// fits name beside them (parameters.cpp): "linear_speed.bf16.memory", "calibrated.linear_speed.fp8.compute" (of a stack with
/// calibrated numbers), collectives of a device's links, kernels that somebody picked, how a target's experts are chosen.
bool has_parameter(std::string_view name);
/// The number of that name with the range of what a description may state; there must be one.
FreeParameter stated_parameter(std::string_view name);

/// "us", "GB", "GB/s" or "", and the base units in one of them.
struct ParameterUnit {
    std::string_view name;
    double base_units = 1.0;
};
ParameterUnit unit_of(const FreeParameter& parameter);

/// Its value on a platform, and a platform with another value.
double value_of(const FreeParameter& parameter, const sim::Platform& platform);
void set_value(const FreeParameter& parameter, double value, sim::Platform& platform);
/// The same of a whole setup, whose target and traffic have numbers, too.
double value_of(const FreeParameter& parameter, const sim::RoundSetup& setup);
void set_value(const FreeParameter& parameter, double value, sim::RoundSetup& setup);

}  // namespace treeline::validation
