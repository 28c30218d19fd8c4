// treeline hardware: devices, software stacks, FPGA boards and designs as tables, or one of them in full.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/descriptions.h"
#include "cli/estimate/estimate.h"
#include "cli/fpga/fpga_catalogue.h"
#include "hardware/accelerators.h"
#include "hardware/catalogue.h"
#include "hardware/fpga.h"
#include "json/wording.h"
#include "reports/number_text.h"
#include "reports/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct HardwareFlags {
    CommonFlags common;
    std::string name;
};

FlopsPerSecond stated_peak(const Device& device, NumberFormat format) {
    const auto at = std::find(all_number_formats.begin(), all_number_formats.end(), format);
    return device.peak[static_cast<std::size_t>(at - all_number_formats.begin())];
}

template <class Quantity>
std::string known(Quantity value) {
    return value > Quantity(0.0) ? text_of(value) : "-";
}

std::string price_per_hour(const Device& device) {
    const double dollars = 3600.0 * device.price.value();
    return dollars > 0.0 ? dollars_text(dollars) : "-";
}

std::string devices_table(const std::vector<Device>& devices) {
    TextTable table({{"Device", Align::left},
                     {"memory"},
                     {"bandwidth"},
                     {"bf16"},
                     {"fp8"},
                     {"fp32"},
                     {"HOI (bf16)"},
                     {"power"},
                     {"price/h"},
                     {"links", Align::left},
                     {"title", Align::left}});
    for (const Device& device : devices) {
        std::string links;
        for (const Interconnect& link : device.interconnects) {
            links += (links.empty() ? "" : ", ") + link.name;
        }
        table.add({device.name, text_of(device.memory), text_of(device.bandwidth),
                   known(stated_peak(device, NumberFormat::bf16)), known(stated_peak(device, NumberFormat::fp8)),
                   known(stated_peak(device, NumberFormat::fp32)), text_of(device.intensity_for(NumberFormat::bf16)),
                   known(device.board_power), price_per_hour(device), links, device.title});
    }
    return table.text();
}

std::string stacks_table(const std::vector<Stack>& stacks) {
    TextTable table({{"Software stack", Align::left},
                     {"host/launch"},
                     {"node"},
                     {"host/pass"},
                     {"host/draft pass"},
                     {"host/round"},
                     {"kernels/operation"},
                     {"title", Align::left}});
    for (const Stack& stack : stacks) {
        table.add({stack.name, known(stack.host_launch), known(stack.node_cost), known(stack.host_per_pass),
                   known(stack.host_per_draft_pass), known(stack.host_per_round), short_text(stack.launch_factor),
                   stack.title});
    }
    return table.text();
}

Json device_json(const Device& device) {
    const auto or_null = [](double value) { return value > 0.0 ? Json(value) : Json(); };
    Json peaks = Json::object();
    for (const NumberFormat format : all_number_formats) {
        peaks[std::string(name_of(format))] = or_null(1e-12 * stated_peak(device, format).value());
    }
    Json links = Json::array();
    for (const Interconnect& link : device.interconnects) {
        links.push_back({{"name", link.name},
                         {"gb_per_second", 1e-9 * link.bandwidth.value()},
                         {"all_reduce_us", 1e6 * link.latency.value()}});
    }
    return {{"name", device.name},
            {"title", device.title},
            {"memory_gb", 1e-9 * device.memory.value()},
            {"bandwidth_gb_per_second", 1e-9 * device.bandwidth.value()},
            {"peak_tflop_per_second", std::move(peaks)},
            {"intensity_bf16_flop_per_byte", device.intensity_for(NumberFormat::bf16).value()},
            {"cache_mb", or_null(1e-6 * device.cache.value())},
            {"reserved_gb", 1e-9 * device.reserved.value()},
            {"board_power_w", or_null(device.board_power.value())},
            {"idle_power_w", or_null(device.idle_power.value())},
            {"price_dollars_per_hour", or_null(3600.0 * device.price.value())},
            {"interconnects", std::move(links)}};
}

Json stack_json(const Stack& stack) {
    return {{"name", stack.name},
            {"title", stack.title},
            {"host_launch_us", 1e6 * stack.host_launch.value()},
            {"node_cost_us", 1e6 * stack.node_cost.value()},
            {"host_per_pass_us", 1e6 * stack.host_per_pass.value()},
            {"host_per_draft_pass_us", 1e6 * stack.host_per_draft_pass.value()},
            {"host_per_round_us", 1e6 * stack.host_per_round.value()},
            {"launch_factor", stack.launch_factor}};
}

/// "quantity,value" lines of a description; nested objects join their keys by dots.
void append_facts(const Json& json, const std::string& prefix, std::string& text) {
    for (const auto& [key, value] : json.items()) {
        const std::string name = prefix.empty() ? key : prefix + "." + key;
        if (value.is_structured()) {
            append_facts(value, name, text);
        } else {
            text += csv_line({name, value.is_string() ? value.get<std::string>() : value.dump()});
        }
    }
}

std::string inputs_table(const std::vector<Provenance>& provenance) {
    TextTable table({{"Described value", Align::left}, {"value", Align::left}, {"kind", Align::left}, {"source", Align::left}});
    for (const Provenance& entry : provenance) {
        const std::size_t colon = entry.path.find(": ");
        table.add(
            {colon == std::string::npos ? entry.path : entry.path.substr(colon + 2), entry.text, entry.kind, entry.source});
    }
    return table.text();
}

template <class T>
void deliver_description(const HardwareFlags& flags, const Described<T>& described, Json json, const std::string& table) {
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(table + "\n" + inputs_table(described.provenance));
        case Format::json:
            json["inputs"] = provenance_json(with_known_names(described.provenance, flags.common.find()));
            return flags.common.deliver(json.dump(2) + "\n");
        case Format::csv: {
            std::string text = csv_line({"quantity", "value"});
            append_facts(json, "", text);
            return flags.common.deliver(text);
        }
    }
}

void list_hardware(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    std::vector<Device> devices;
    std::vector<Stack> stacks;
    std::vector<fpga::Board> boards;
    std::vector<fpga::Design> designs;
    Json json = {{"format", "treeline-hardware"}, {"version", 1}};
    for (const char* list : {"devices", "stacks", "boards", "designs"}) {
        json[list] = Json::array();
    }
    for (const std::string& name : device_names(catalogue)) {
        devices.push_back(load_device(catalogue, name).value);
        json["devices"].push_back(device_json(devices.back()));
    }
    for (const std::string& name : stack_names(catalogue)) {
        stacks.push_back(load_stack(catalogue, name).value);
        json["stacks"].push_back(stack_json(stacks.back()));
    }
    for (const std::string& name : board_names(catalogue)) {
        boards.push_back(load_board(catalogue, name).value);
        json["boards"].push_back(board_json(boards.back()));
    }
    for (const std::string& name : design_names(catalogue)) {
        designs.push_back(load_design(catalogue, name).value);
        json["designs"].push_back(design_json(designs.back()));
    }
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(devices_table(devices) + "\n" + designs_table(designs) + "\n" + boards_table(boards) +
                                        "\n" + stacks_table(stacks) +
                                        "\n`treeline hardware NAME` describes one, with the source of each number.\n");
        case Format::json:
            return flags.common.deliver(json.dump(2) + "\n");
        case Format::csv: {
            std::string text = csv_line({"name", "quantity", "value"});
            for (const char* list : {"devices", "boards", "designs"}) {
                for (const Json& entry : json[list]) {
                    append_facts(entry, entry.at("name").get<std::string>(), text);
                }
            }
            return flags.common.deliver(text);
        }
    }
}

bool describes_a_stack(const std::string& path) {
    json::Document document = json::Document::load(path);
    return document.root().has("host_launch");
}

void describe_hardware(const HardwareFlags& flags, const std::filesystem::path& catalogue) {
    switch (hardware_kind_of(catalogue, flags.name)) {
        case HardwareKind::device: {
            const Described<Device> device = load_device(catalogue, flags.name);
            return deliver_description(flags, device, device_json(device.value), devices_table({device.value}));
        }
        case HardwareKind::board: {
            const Described<fpga::Board> board = load_board(catalogue, flags.name);
            return deliver_description(flags, board, board_json(board.value), boards_table({board.value}));
        }
        case HardwareKind::design: {
            const Described<fpga::Design> design = load_design(catalogue, flags.name);
            return deliver_description(flags, design, design_json(design.value), designs_table({design.value}));
        }
    }
}

void describe(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    const std::vector<std::string> stacks = stack_names(catalogue);
    const bool path = looks_like_path(flags.name);
    if (path ? describes_a_stack(flags.name) : std::count(stacks.begin(), stacks.end(), flags.name) > 0) {
        const Described<Stack> stack = load_stack(catalogue, flags.name);
        return deliver_description(flags, stack, stack_json(stack.value), stacks_table({stack.value}));
    }
    std::vector<std::string> all = hardware_names(catalogue);
    if (path || std::count(all.begin(), all.end(), flags.name) > 0) {
        return describe_hardware(flags, catalogue);
    }
    all.insert(all.end(), stacks.begin(), stacks.end());
    const std::string hint = json::did_you_mean(flags.name, all);
    throw InputError({fmt::format("there is no device or software stack \"{}\"{}", flags.name,
                                  hint.empty() ? "; known are " + json::listed(all, "and") : hint)});
}

}  // namespace

Run add_hardware(CLI::App& app) {
    auto flags = std::make_shared<HardwareFlags>();
    app.add_option("NAME", flags->name,
                   "A device, software stack, FPGA board or design: catalogue name or description (default: list all)");
    add_common_flags(app, flags->common);
    app.footer("Examples:\n  treeline hardware\n  treeline hardware h100-sxm\n  treeline hardware vllm --format json");
    return [flags] {
        static_cast<void>(flags->common.chosen_format());
        flags->name.empty() ? list_hardware(*flags) : describe(*flags);
    };
}

}  // namespace treeline
