// treeline hardware: devices, software stacks, FPGA boards and designs as tables, or one of them in full.
#include <algorithm>
#include <memory>
#include <tuple>
#include <type_traits>

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
#include "requests/file_kind.h"
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

/// One kind of description: how it is found, read and shown.
template <class T>
struct Kind {
    const char* list;  ///< its key in JSON
    std::vector<std::string> (*names)(const std::filesystem::path& catalogue);
    json::Described<T> (*load)(const std::filesystem::path& catalogue, const std::string& name_or_path);
    Json (*to_json)(const T& value);
    std::string (*table)(const std::vector<T>& values);
};

/// In the order of the tables.
const std::tuple kinds = {
    Kind<sim::Device>{"devices", hardware::device_names, hardware::load_device, reports::device_json, reports::devices_table},
    Kind<sim::fpga::Design>{"designs", hardware::design_names, hardware::load_design, reports::design_json,
                            reports::designs_table},
    Kind<sim::fpga::Board>{"boards", hardware::board_names, hardware::load_board, reports::board_json, reports::boards_table},
    Kind<sim::Stack>{"stacks", hardware::stack_names, hardware::load_stack, reports::stack_json, reports::stacks_table},
    Kind<sim::ExpertKernels>{"expert_kernels", hardware::expert_kernel_names, hardware::load_expert_kernels,
                             reports::expert_kernels_json, reports::expert_kernels_table},
    Kind<sim::AttentionKernels>{"attention_kernels", hardware::attention_kernel_names, hardware::load_attention_kernels,
                                reports::attention_kernels_json, reports::attention_kernels_table}};

template <class Visit>
void for_each_kind(Visit visit) {
    std::apply([&](const auto&... kind) { (visit(kind), ...); }, kinds);
}

void list_hardware(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    Json json = {{"format", "treeline-hardware"}, {"version", 1}};
    for (const char* list : {"devices", "stacks", "expert_kernels", "attention_kernels", "boards", "designs"}) {
        json[list] = Json::array();
    }
    std::string tables;
    for_each_kind([&]<class T>(const Kind<T>& kind) {
        std::vector<T> values;
        for (const std::string& name : kind.names(catalogue)) {
            values.push_back(kind.load(catalogue, name).value);
            json[kind.list].push_back(kind.to_json(values.back()));
        }
        tables += kind.table(values) + "\n";
    });
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(tables + "`treeline hardware NAME` describes one, with the source of each number.\n");
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

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Names under which this kind is known: engines' plain names stand for their newest version.
template <class T>
std::vector<std::string> known_names(const Kind<T>& kind, const std::filesystem::path& catalogue) {
    std::vector<std::string> names = kind.names(catalogue);
    if constexpr (std::is_same_v<T, sim::Stack>) {
        const std::vector<std::string> engines = hardware::engines_of(names);
        names.insert(names.end(), engines.begin(), engines.end());
    }
    return names;
}

/// The list of the kind that a file describes.
std::string list_of_file(const std::string& path, const std::filesystem::path& catalogue) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    if (root.has("host_launch") || root.has("extends")) {
        return "stacks";
    }
    if (root.has("few_rows")) {
        return "expert_kernels";
    }
    if (root.has("verify_walk")) {
        return "attention_kernels";
    }
    requests::refuse_other_kinds(root.raw(), path, {requests::FileKind::device, requests::FileKind::board});
    const hardware::HardwareKind kind = hardware::hardware_kind_of(catalogue, path);
    return kind == hardware::HardwareKind::design ? "designs" : kind == hardware::HardwareKind::board ? "boards" : "devices";
}

/// The list of the kind that has this name, or another version of its engine; empty if none has.
std::string list_of_name(const std::string& name, const std::filesystem::path& catalogue) {
    std::string list;
    for_each_kind([&]<class T>(const Kind<T>& kind) {
        const std::vector<std::string> names = known_names(kind, catalogue);
        const bool version = std::is_same_v<T, sim::Stack> && contains(names, hardware::stack_version(name).engine);
        if (list.empty() && (version || contains(names, name))) {
            list = kind.list;
        }
    });
    return list;
}

void describe(const HardwareFlags& flags) {
    const std::filesystem::path catalogue = flags.common.find().hardware;
    std::string list =
        requests::looks_like_path(flags.name) ? list_of_file(flags.name, catalogue) : list_of_name(flags.name, catalogue);
    if (list.empty() && !hardware::device_called(catalogue, flags.name).empty()) {
        list = "devices";
    }
    std::vector<std::string> all;
    for_each_kind([&](const auto& kind) {
        if (list == kind.list) {
            const auto described = kind.load(catalogue, flags.name);
            deliver_description(flags, described, kind.to_json(described.value), kind.table({described.value}));
        }
        const std::vector<std::string> names = known_names(kind, catalogue);
        all.insert(all.end(), names.begin(), names.end());
    });
    if (list.empty()) {
        throw text::InputError({fmt::format("there is no device, software stack or kernel of experts \"{}\"{}", flags.name,
                                            text::other_names(flags.name, all, "treeline hardware"))});
    }
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
