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

sweeps::TargetChoice find_target(const std::string& model, const requests::Catalogue& catalogue) {
    sweeps::TargetChoice choice;
    choice.model = models::load_model(catalogue.models, model).value;
    choice.precision = choice.model.precision;
    choice.precision_label = sweeps::as_published;
    choice.label = choice.model.name;
    return choice;
}

sim::Platform find_platform(const std::string& device, const std::string& stack, int ranks,
                            const requests::Catalogue& catalogue) {
    sim::Platform platform = hardware::load_hardware(catalogue.hardware, device, {}).value;
    if (!platform.accelerator) {
        platform.stack =
            hardware::load_stack(catalogue.hardware, stack.empty() ? sweeps::default_stack(platform.device) : stack).value;
    } else if (!stack.empty()) {
        throw text::InputError({platform.device.name + " is an accelerator, which has no software stack"});
    }
    platform.ranks = ranks;
    platform.mode = platform.accelerator ? platform.mode : sweeps::default_mode(platform);
    return platform;
}

std::string models_json(const requests::Catalogue& catalogue) {
    const auto load = [&](const std::string& name) { return models::load_model(catalogue.models, name); };
    return list_of(models::all_model_names(catalogue.models), load, reports::model_summary_json).dump();
}

std::string hardware_json(const requests::Catalogue& catalogue) {
    const std::filesystem::path& folder = catalogue.hardware;
    const auto of = [&](auto load) { return [&folder, load](const std::string& name) { return load(folder, name); }; };
    return Json{{"devices", list_of(hardware::device_names(folder), of(hardware::load_device), reports::device_json)},
                {"stacks", list_of(hardware::stack_names(folder), of(hardware::load_stack), reports::stack_json)},
                {"expert_kernels", list_of(hardware::expert_kernel_names(folder), of(hardware::load_expert_kernels),
                                           reports::expert_kernels_json)},
                {"attention_kernels", list_of(hardware::attention_kernel_names(folder), of(hardware::load_attention_kernels),
                                              reports::attention_kernels_json)},
                {"boards", list_of(hardware::board_names(folder), of(hardware::load_board), reports::board_json)},
                {"designs", list_of(hardware::design_names(folder), of(hardware::load_design), reports::design_json)}}
        .dump();
}

}  // namespace treeline
