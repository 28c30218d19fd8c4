#include "treeline/catalogue.h"

#include <nlohmann/json.hpp>

#include "hardware/accelerators.h"
#include "hardware/fpga.h"
#include "reports/catalogue/hardware_output.h"
#include "reports/catalogue/models_output.h"
#include "reports/fpga/fpga_catalogue.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

/// A list of descriptions: `json` of each that `load` makes of a name.
template <class Load, class ToJson>
Json list_of(const std::vector<std::string>& names, Load load, ToJson json) {
    Json list = Json::array();
    for (const std::string& name : names) {
        list.push_back(json(load(name).value));
    }
    return list;
}

}  // namespace

TargetChoice find_target(const std::string& model, const Catalogue& catalogue) {
    TargetChoice choice;
    choice.model = load_model(catalogue.models, model).value;
    choice.precision = choice.model.precision;
    choice.precision_label = "as published";
    choice.label = choice.model.name;
    return choice;
}

Platform find_platform(const std::string& device, const std::string& stack, int ranks, const Catalogue& catalogue) {
    Platform platform = load_hardware(catalogue.hardware, device, {}).value;
    if (!platform.accelerator) {
        platform.stack = load_stack(catalogue.hardware, stack.empty() ? default_stack(platform.device) : stack).value;
    } else if (!stack.empty()) {
        throw InputError({platform.device.name + " is an accelerator, which has no software stack"});
    }
    platform.ranks = ranks;
    platform.mode = platform.accelerator ? platform.mode : default_mode(platform);
    return platform;
}

std::string models_json(const Catalogue& catalogue) {
    const auto load = [&](const std::string& name) { return load_model(catalogue.models, name); };
    return list_of(model_names(catalogue.models), load, model_summary_json).dump();
}

std::string hardware_json(const Catalogue& catalogue) {
    const std::filesystem::path& folder = catalogue.hardware;
    const auto of = [&](auto load) { return [&folder, load](const std::string& name) { return load(folder, name); }; };
    return Json{{"devices", list_of(device_names(folder), of(load_device), device_json)},
                {"stacks", list_of(stack_names(folder), of(load_stack), stack_json)},
                {"boards", list_of(board_names(folder), of(load_board), board_json)},
                {"designs", list_of(design_names(folder), of(load_design), design_json)}}
        .dump();
}

}  // namespace treeline
