#include "validation/parameters.h"

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <variant>

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
        auto& speeds = in_calibrated_mode ? stack.kernels.calibrated.value().linear_speed : stack.kernels.linear_speed;
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

constexpr ParameterUnit microseconds = {"us", 1e-6}, nanoseconds = {"ns", 1e-9}, gigabytes_per_second = {"GB/s", 1e9};

double base(double value) { return value; }
template <class Quantity>
double base(Quantity value) {
    return value.value();
}

/// A member of kernels that somebody picked in place of the stack's own.
template <auto kernels, auto member>
OtherParameter of_kernels(const char* name, double high, ParameterUnit unit) {
    using Value = std::remove_cvref_t<decltype(sim::PickedKernels{}.*kernels.*member)>;
    return {{name, 0.0, high},
            unit,
            [](const sim::Platform& platform) { return base(platform.stack.picked.*kernels.*member); },
            [](sim::Platform& platform, double value) { platform.stack.picked.*kernels.*member = Value(value); }};
}

/// A member of a collective of all links of a device that have it; the value of the last one.
template <auto collective, auto member>
OtherParameter of_links(const char* name, double high, ParameterUnit unit, bool (*has)(const sim::Interconnect&)) {
    using Value = std::remove_cvref_t<decltype(sim::Interconnect{}.*collective.*member)>;
    return {{name, 0.0, high},
            unit,
            [has](const sim::Platform& platform) {
                double value = 0.0;
                for (const sim::Interconnect& link : platform.device.interconnects) {
                    value = has(link) ? base(link.*collective.*member) : value;
                }
                return value;
            },
            [has](sim::Platform& platform, double value) {
                for (sim::Interconnect& link : platform.device.interconnects) {
                    if (has(link)) {
                        link.*collective.*member = Value(value);
                    }
                }
            }};
}

bool has_one_step(const sim::Interconnect& link) { return link.own.limit > Bytes(0.0); }
bool has_two_steps(const sim::Interconnect& link) { return link.own.two_step_bandwidth > BytesPerSecond(0.0); }
bool any_link(const sim::Interconnect&) { return true; }

std::vector<OtherParameter> of_collectives() {
    using sim::Interconnect;
    using sim::OwnAllReduce;
    using sim::ProtocolCosts;
    constexpr double second = 1.0, terabytes_per_second = 1e13;
    OtherParameter one_step = of_links<&Interconnect::own, &OwnAllReduce::bandwidth>(
        "own_all_reduces.bandwidth", terabytes_per_second, gigabytes_per_second, has_one_step);
    one_step.set = [set = one_step.set](sim::Platform& platform, double value) {
        set(platform, value);
        for (Interconnect& link : platform.device.interconnects) {
            link.own = value > 0.0 ? link.own : OwnAllReduce{};  // at no bandwidth, the library's
        }
    };
    return {
        one_step,
        of_links<&Interconnect::own, &OwnAllReduce::two_step_latency>("own_all_reduces.two_step_latency", second, microseconds,
                                                                      has_two_steps),
        of_links<&Interconnect::own, &OwnAllReduce::two_step_bandwidth>(
            "own_all_reduces.two_step_bandwidth", terabytes_per_second, gigabytes_per_second, has_two_steps),
        of_links<&Interconnect::gather, &ProtocolCosts::latency>("gather.latency", second, microseconds, any_link),
        of_links<&Interconnect::gather, &ProtocolCosts::bandwidth>("gather.bandwidth", terabytes_per_second,
                                                                   gigabytes_per_second, any_link),
        of_links<&Interconnect::gather, &ProtocolCosts::bulk_latency>("gather.bulk_latency", second, microseconds, any_link),
        of_links<&Interconnect::gather, &ProtocolCosts::bulk_bandwidth>("gather.bulk_bandwidth", terabytes_per_second,
                                                                        gigabytes_per_second, any_link)};
}

const std::vector<OtherParameter>& others() {
    static const std::vector<OtherParameter> all = [] {
        std::vector<OtherParameter> result = {
            {{"host_speed", 0.05, 20.0},
             {"", 1.0},
             [](const sim::Platform& platform) { return platform.device.host_speed; },
             [](sim::Platform& platform, double value) { platform.device.host_speed = value; },
             true},
            {{"kernel_gap", 0.0, 1e-3},
             microseconds,
             [](const sim::Platform& platform) { return platform.device.kernel_gap.value(); },
             [](sim::Platform& platform, double value) { platform.device.kernel_gap = Seconds(value); }},
            {{"reserved_memory", 1e6, 40e9},
             {"GB", 1e9},
             [](const sim::Platform& platform) { return platform.device.reserved.value(); },
             [](sim::Platform& platform, double value) { platform.device.reserved = Bytes(value); },
             true},
            of_kernels<&sim::PickedKernels::attention_kernels, &sim::AttentionKernels::decode_walk>("decode_walk", 1e-3,
                                                                                                    nanoseconds),
            of_kernels<&sim::PickedKernels::attention_kernels, &sim::AttentionKernels::verify_walk>("verify_walk", 1e-3,
                                                                                                    nanoseconds),
            of_kernels<&sim::PickedKernels::expert_kernels, &sim::ExpertKernels::more_readings>("more_readings", 100.0,
                                                                                                {"", 1.0})};
        for (OtherParameter& parameter : of_collectives()) {
            result.push_back(std::move(parameter));
        }
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

/// A number of a target or its traffic.
struct SetupParameter {
    FreeParameter bounds;
    double (*get)(const sim::RoundSetup&);
    void (*set)(sim::RoundSetup&, double);
};

/// Calls visit(mixture) for each of the target.
template <class Setup, class Visit>
void for_each_mixture(Setup& setup, Visit visit) {
    for (auto& kind : setup.target.kinds) {
        for (auto& block : kind.blocks) {
            if (auto* experts = std::get_if<sim::MixtureOfExperts>(&block.kind)) {
                visit(*experts);
            }
        }
    }
}

const std::array of_setups = {
    SetupParameter{{"routing_skew", 0.0, 3.0},
                   [](const sim::RoundSetup& setup) {
                       double skew = 0.0;
                       for_each_mixture(setup, [&](const sim::MixtureOfExperts& experts) { skew = experts.routing_skew; });
                       return skew;
                   },
                   [](sim::RoundSetup& setup, double value) {
                       for_each_mixture(setup, [&](sim::MixtureOfExperts& experts) { experts.routing_skew = value; });
                   }},
    SetupParameter{{"expert_pool", 0.01, 1.0},
                   [](const sim::RoundSetup& setup) { return setup.expert_pool; },
                   [](sim::RoundSetup& setup, double value) { setup.expert_pool = value; }}};

/// Null: it is a number of a platform.
const SetupParameter* of_setup(std::string_view name) {
    const auto found =
        std::find_if(of_setups.begin(), of_setups.end(), [&](const SetupParameter& each) { return each.bounds.name == name; });
    return found == of_setups.end() ? nullptr : &*found;
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

bool has_parameter(std::string_view name) {
    return of_setup(name) != nullptr || other(name) != nullptr || sim::has_stack_parameter(name);
}

FreeParameter stated_parameter(std::string_view name) {
    if (const SetupParameter* parameter = of_setup(name)) {
        return parameter->bounds;
    }
    if (const OtherParameter* parameter = other(name)) {
        return parameter->bounds;
    }
    const sim::StackParameter& parameter = sim::stack_parameter(name);
    return {std::string(name), parameter.low, parameter.high};
}

ParameterUnit unit_of(const FreeParameter& parameter) {
    if (of_setup(parameter.name) != nullptr) {
        return {"", 1.0};
    }
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

double value_of(const FreeParameter& parameter, const sim::RoundSetup& setup) {
    const SetupParameter* known = of_setup(parameter.name);
    return known != nullptr ? known->get(setup) : value_of(parameter, setup.platform);
}

void set_value(const FreeParameter& parameter, double value, sim::RoundSetup& setup) {
    if (const SetupParameter* known = of_setup(parameter.name)) {
        known->set(setup, value);
    } else {
        set_value(parameter, value, setup.platform);
    }
}

}  // namespace treeline::validation
