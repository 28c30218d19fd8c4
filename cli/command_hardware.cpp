// treeline hardware: devices, software stacks, FPGA boards and designs as tables, or one of them in full.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "hardware/accelerators.h"
#include "hardware/catalogue.h"
#include "hardware/fpga.h"
#include "hardware/stack_versions.h"
#include "reports/catalogue/hardware_output.h"
#include "reports/fpga/fpga_catalogue.h"
#include "reports/provenance_output.h"
#include "requests/descriptions.h"
#include "text/table.h"
#include "text/wording.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct HardwareFlags {
    CommonFlags common;
    std::string name;
};

template <class T>
void deliver_description(const HardwareFlags& flags, const Described<T>& described, Json json, const std::string& table) {
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(table + "\n" + provenance_table(described.provenance));
        case Format::json:
            json["inputs"] = provenance_json(with_known_names(described.provenance, flags.common.find()));
            return flags.common.deliver(json.dump(2) + "\n");
        case Format::csv: {
            std::string text = csv_line({"quantity", "value"});
            append_facts_csv(json, "", text);
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
                    append_facts_csv(entry, entry.at("name").get<std::string>(), text);
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
    const std::vector<std::string> engines = engines_of(stacks);  // each stands for its newest version
    const bool path = looks_like_path(flags.name);
    const bool names_stack = std::count(stacks.begin(), stacks.end(), flags.name) > 0 ||
                             std::count(engines.begin(), engines.end(), stack_version(flags.name).engine) > 0;
    if (path ? describes_a_stack(flags.name) : names_stack) {
        const Described<Stack> stack = load_stack(catalogue, flags.name);
        return deliver_description(flags, stack, stack_json(stack.value), stacks_table({stack.value}));
    }
    std::vector<std::string> all = hardware_names(catalogue);
    if (path || std::count(all.begin(), all.end(), flags.name) > 0) {
        return describe_hardware(flags, catalogue);
    }
    all.insert(all.end(), stacks.begin(), stacks.end());
    all.insert(all.end(), engines.begin(), engines.end());
    const std::string hint = did_you_mean_name(flags.name, all);
    throw InputError({fmt::format("there is no device or software stack \"{}\"{}", flags.name,
                                  hint.empty() ? "; known are " + listed(all, "and") : hint)});
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
