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

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;

struct HardwareFlags {
    CommonFlags common;
    std::string name;
};

template <class T>
void deliver_description(const HardwareFlags& flags, const json::Described<T>& described, Json json, const std::string& table) {
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(table + "\n" + reports::provenance_table(described.provenance));
        case Format::json:
            json["inputs"] = reports::provenance_json(requests::with_known_names(described.provenance, flags.common.find()));
            return flags.common.deliver(json.dump(2) + "\n");
        case Format::csv: {
            std::string text = text::csv_line({"quantity", "value"});
            reports::append_facts_csv(json, "", text);
            return flags.common.deliver(text);
        }
    }
}

void list_hardware(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    std::vector<sim::Device> devices;
    std::vector<sim::Stack> stacks;
    std::vector<sim::ExpertKernels> expert_kernels;
    std::vector<sim::fpga::Board> boards;
    std::vector<sim::fpga::Design> designs;
    Json json = {{"format", "treeline-hardware"}, {"version", 1}};
    for (const char* list : {"devices", "stacks", "expert_kernels", "boards", "designs"}) {
        json[list] = Json::array();
    }
    for (const std::string& name : hardware::device_names(catalogue)) {
        devices.push_back(hardware::load_device(catalogue, name).value);
        json["devices"].push_back(reports::device_json(devices.back()));
    }
    for (const std::string& name : hardware::stack_names(catalogue)) {
        stacks.push_back(hardware::load_stack(catalogue, name).value);
        json["stacks"].push_back(reports::stack_json(stacks.back()));
    }
    for (const std::string& name : hardware::expert_kernel_names(catalogue)) {
        expert_kernels.push_back(hardware::load_expert_kernels(catalogue, name).value);
        json["expert_kernels"].push_back(reports::expert_kernels_json(expert_kernels.back()));
    }
    for (const std::string& name : hardware::board_names(catalogue)) {
        boards.push_back(hardware::load_board(catalogue, name).value);
        json["boards"].push_back(reports::board_json(boards.back()));
    }
    for (const std::string& name : hardware::design_names(catalogue)) {
        designs.push_back(hardware::load_design(catalogue, name).value);
        json["designs"].push_back(reports::design_json(designs.back()));
    }
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(reports::devices_table(devices) + "\n" + reports::designs_table(designs) + "\n" +
                                        reports::boards_table(boards) + "\n" + reports::stacks_table(stacks) + "\n" +
                                        reports::expert_kernels_table(expert_kernels) +
                                        "\n`treeline hardware NAME` describes one, with the source of each number.\n");
        case Format::json:
            return flags.common.deliver(json.dump(2) + "\n");
        case Format::csv: {
            std::string text = text::csv_line({"name", "quantity", "value"});
            for (const char* list : {"devices", "boards", "designs"}) {
                for (const Json& entry : json[list]) {
                    reports::append_facts_csv(entry, entry.at("name").get<std::string>(), text);
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

bool describes_kernels(const std::string& path) {
    json::Document document = json::Document::load(path);
    return document.root().has("few_rows");
}

void describe_hardware(const HardwareFlags& flags, const std::filesystem::path& catalogue) {
    switch (hardware::hardware_kind_of(catalogue, flags.name)) {
        case hardware::HardwareKind::device: {
            const json::Described<sim::Device> device = hardware::load_device(catalogue, flags.name);
            return deliver_description(flags, device, reports::device_json(device.value),
                                       reports::devices_table({device.value}));
        }
        case hardware::HardwareKind::board: {
            const json::Described<sim::fpga::Board> board = hardware::load_board(catalogue, flags.name);
            return deliver_description(flags, board, reports::board_json(board.value), reports::boards_table({board.value}));
        }
        case hardware::HardwareKind::design: {
            const json::Described<sim::fpga::Design> design = hardware::load_design(catalogue, flags.name);
            return deliver_description(flags, design, reports::design_json(design.value),
                                       reports::designs_table({design.value}));
        }
    }
}

void describe(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    const std::vector<std::string> stacks = hardware::stack_names(catalogue);
    const std::vector<std::string> engines = hardware::engines_of(stacks);  // each stands for its newest version
    const bool path = requests::looks_like_path(flags.name);
    const bool names_stack = std::count(stacks.begin(), stacks.end(), flags.name) > 0 ||
                             std::count(engines.begin(), engines.end(), hardware::stack_version(flags.name).engine) > 0;
    if (path ? describes_a_stack(flags.name) : names_stack) {
        const json::Described<sim::Stack> stack = hardware::load_stack(catalogue, flags.name);
        return deliver_description(flags, stack, reports::stack_json(stack.value), reports::stacks_table({stack.value}));
    }
    const std::vector<std::string> kernels = hardware::expert_kernel_names(catalogue);
    if (path ? describes_kernels(flags.name) : std::count(kernels.begin(), kernels.end(), flags.name) > 0) {
        const json::Described<sim::ExpertKernels> described = hardware::load_expert_kernels(catalogue, flags.name);
        return deliver_description(flags, described, reports::expert_kernels_json(described.value),
                                   reports::expert_kernels_table({described.value}));
    }
    std::vector<std::string> all = hardware::hardware_names(catalogue);
    if (path || std::count(all.begin(), all.end(), flags.name) > 0) {
        return describe_hardware(flags, catalogue);
    }
    all.insert(all.end(), stacks.begin(), stacks.end());
    all.insert(all.end(), engines.begin(), engines.end());
    all.insert(all.end(), kernels.begin(), kernels.end());
    const std::string hint = text::did_you_mean_name(flags.name, all);
    throw text::InputError({fmt::format("there is no device, software stack or kernel of experts \"{}\"{}", flags.name,
                                        hint.empty() ? "; known are " + text::listed(all, "and") : hint)});
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

}  // namespace treeline::cli
