#include "reports/catalogue/hardware_output.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/measured_loads_text.h"
#include "sim/stack_parameters.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(double value) { return value > 0.0 ? Json(value) : Json(); }

FlopsPerSecond stated_peak(const sim::Device& device, sim::NumberFormat format) {
    const auto at = std::find(sim::all_number_formats.begin(), sim::all_number_formats.end(), format);
    return device.peak[static_cast<std::size_t>(at - sim::all_number_formats.begin())];
}

template <class Quantity>
std::string known(Quantity value) {
    return value > Quantity(0.0) ? text_of(value) : "-";
}

std::string price_per_hour(const sim::Device& device) {
    const double dollars = 3600.0 * device.price.value();
    return dollars > 0.0 ? text::dollars_text(dollars) : "-";
}

}  // namespace

std::string devices_table(const std::vector<sim::Device>& devices) {
    text::TextTable table({{"Device", text::Align::left},
                           {"memory"},
                           {"bandwidth"},
                           {"bf16"},
                           {"fp8"},
                           {"fp32"},
                           {"HOI (bf16)"},
                           {"power"},
                           {"price/h"},
                           {"links", text::Align::left},
                           {"title", text::Align::left}});
    for (const sim::Device& device : devices) {
        std::string links;
        for (const sim::Interconnect& link : device.interconnects) {
            links += (links.empty() ? "" : ", ") + link.name;
        }
        table.add({device.name, text_of(device.memory), text_of(device.bandwidth),
                   known(stated_peak(device, sim::NumberFormat::bf16)), known(stated_peak(device, sim::NumberFormat::fp8)),
                   known(stated_peak(device, sim::NumberFormat::fp32)), text_of(device.intensity_for(sim::NumberFormat::bf16)),
                   known(device.board_power), price_per_hour(device), links, device.title});
    }
    return table.text();
}

std::string stacks_table(const std::vector<sim::Stack>& stacks) {
    text::TextTable table({{"Software stack", text::Align::left},
                           {"host/launch"},
                           {"node"},
                           {"host/pass"},
                           {"host/draft pass"},
                           {"host/round"},
                           {"kernels/operation"},
                           {"title", text::Align::left}});
    for (const sim::Stack& stack : stacks) {
        table.add({stack.name, known(stack.launching.host_launch), known(stack.launching.node_cost),
                   known(stack.passes.host_per_pass), known(stack.passes.host_per_draft_pass),
                   known(stack.host[sim::HostDriver::round]), text::short_text(stack.launching.launch_factor), stack.title});
    }
    return table.text();
}

std::string expert_kernels_table(const std::vector<sim::ExpertKernels>& all) {
    text::TextTable table({{"Kernels of experts", text::Align::left},
                           {"weights"},
                           {"few rows"},
                           {"more readings"},
                           {"title", text::Align::left}});
    for (const sim::ExpertKernels& kernels : all) {
        table.add({kernels.name, std::string(name_of(kernels.weights)), text::short_text(kernels.few_rows),
                   text::short_text(kernels.more_readings), kernels.title});
    }
    return table.text();
}

std::string attention_kernels_table(const std::vector<sim::AttentionKernels>& all) {
    text::TextTable table({{"Kernels of attention", text::Align::left},
                           {"ns a cached token"},
                           {"while verifying"},
                           {"title", text::Align::left}});
    for (const sim::AttentionKernels& kernels : all) {
        table.add({kernels.name, text::short_text(1e9 * kernels.decode_walk.value()),
                   text::short_text(1e9 * kernels.verify_walk.value()), kernels.title});
    }
    return table.text();
}

Json device_json(const sim::Device& device) {
    Json peaks = Json::object();
    for (const sim::NumberFormat format : sim::all_number_formats) {
        peaks[std::string(name_of(format))] = or_null(1e-12 * stated_peak(device, format).value());
    }
    Json links = Json::array();
    for (const sim::Interconnect& link : device.interconnects) {
        links.push_back({{"name", link.name},
                         {"gb_per_second", 1e-9 * link.bandwidth.value()},
                         {"all_reduce_us", 1e6 * link.latency.value()}});
    }
    return {{"name", device.name},
            {"title", device.title},
            {"memory_gb", 1e-9 * device.memory.value()},
            {"bandwidth_gb_per_second", 1e-9 * device.bandwidth.value()},
            {"peak_tflop_per_second", std::move(peaks)},
            {"intensity_bf16_flop_per_byte", device.intensity_for(sim::NumberFormat::bf16).value()},
            {"cache_mb", or_null(1e-6 * device.cache.value())},
            {"reserved_gb", 1e-9 * device.reserved.value()},
            {"board_power_w", or_null(device.board_power.value())},
            {"idle_power_w", or_null(device.idle_power.value())},
            {"active_power_w", or_null(device.active_power.value())},
            {"price_dollars_per_hour", or_null(3600.0 * device.price.value())},
            {"interconnects", std::move(links)}};
}

/// The key of a stack's number in its unit, and what a base unit is in it.
std::pair<std::string, double> in_output(const sim::StackParameter& parameter) {
    const std::string name(parameter.name);
    switch (parameter.unit) {
        case sim::StackUnit::seconds:
            return {name + "_us", 1e6};
        case sim::StackUnit::bytes:
            return {name + "_bytes", 1.0};
        case sim::StackUnit::ratio:
            break;
    }
    return {name, 1.0};
}

Json row_curve_json(const sim::RowCurve& curve) {
    return {{"of", name_of(curve.of)},
            {"weights", name_of(curve.weights)},
            {"devices", name_of(curve.devices)},
            {"few_rows", curve.few_rows},
            {"few_rows_speed", or_null(curve.few_rows_speed)},
            {"reads_per_row", or_null(curve.reads_per_row)},
            {"tile", or_null(curve.tile)},
            {"matrix_tile", or_null(curve.matrix_tile)},
            {"speed", or_null(curve.speed)},
            {"hides", curve.hides}};
}

/// With every number that is stated, or must be, and the loads that a fit kept.
Json stack_json(const sim::Stack& stack) {
    Json json = {{"name", stack.name}, {"title", stack.title}, {"engine", stack.engine.empty() ? Json() : Json(stack.engine)}};
    const sim::Stack plain;
    for (const sim::StackParameter& parameter : sim::stack_parameters()) {
        const double value = parameter.get(stack);
        if (parameter.is_required() || (!std::isnan(value) && value != parameter.get(plain))) {
            const auto [key, factor] = in_output(parameter);
            json[key] = text::rounded(factor * value, 9);
        }
    }
    for (const sim::RowCurve& curve : stack.kernels.row_curves) {
        json["row_curves"].push_back(row_curve_json(curve));
    }
    for (const sim::NumberCondition& condition : stack.conditions) {
        json["where"][condition.number] = {{"models", condition.models}, {"not_on", condition.not_on}};
    }
    if (!stack.measured.measured_loads.loads.empty()) {
        json["measured_loads"] = measured_loads_json(stack.measured.measured_loads);
    }
    return json;
}

Json expert_kernels_json(const sim::ExpertKernels& kernels) {
    return {{"name", kernels.name},
            {"title", kernels.title},
            {"weights", std::string(name_of(kernels.weights))},
            {"few_rows", kernels.few_rows},
            {"more_readings", kernels.more_readings},
            {"flags", Json(kernels.flags)}};
}

Json attention_kernels_json(const sim::AttentionKernels& kernels) {
    return {{"name", kernels.name},
            {"title", kernels.title},
            {"decode_walk_ns", 1e9 * kernels.decode_walk.value()},
            {"verify_walk_ns", 1e9 * kernels.verify_walk.value()},
            {"flags", Json(kernels.flags)}};
}

/// "quantity,value" lines of a description; nested objects join their keys by dots.
void append_facts_csv(const Json& json, const std::string& prefix, std::string& text) {
    for (const auto& [key, value] : json.items()) {
        const std::string name = prefix.empty() ? key : prefix + "." + key;
        if (value.is_structured()) {
            append_facts_csv(value, name, text);
        } else {
            text += text::csv_line({name, value.is_string() ? value.get<std::string>() : value.dump()});
        }
    }
}

}  // namespace treeline::reports
