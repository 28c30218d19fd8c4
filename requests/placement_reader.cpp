#include "requests/placement_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/setup_keys.h"
#include "sim/placement.h"

namespace treeline::requests {

void read_placement(json::Reader& target, Descriptions& descriptions, sim::Model& model) {
    if (!target.has(target_keys::placement)) {
        return;
    }
    descriptions.note_placement();
    json::Reader at = target.object(target_keys::placement);
    const bool experts = read(at, placement_keys::experts) == "host", weights = read(at, placement_keys::weights) == "host";
    sim::Placement placement;
    if (at.has(placement_keys::layers)) {
        placement.layers = read_or<sim::Count>(at, placement_keys::layers, 1);
        const auto there = static_cast<sim::Count>(model.order.size());
        if (there > 0 && *placement.layers > there) {
            at.problem(placement_keys::layers, fmt::format("is {}, but {} has {} layers; leave it out to place all of them",
                                                           *placement.layers, model.name, there));
        }
    }
    if (at.has(placement_keys::gpu_layers)) {
        placement.layers = read_or<sim::Count>(at, placement_keys::gpu_layers, 0);
        placement.on_device = true;
        if (!weights || at.has(placement_keys::layers)) {
            at.problem(placement_keys::gpu_layers, "goes with \"weights\": \"host\" and without \"layers\"");
        }
    }
    if (experts == weights) {
        at.problem("", experts ? "names experts and weights: one of them is enough"
                               : "names nothing that lies on the host: give \"experts\": \"host\" or \"weights\": \"host\"");
    }
    at.finish();
    placement.residence = experts ? sim::Residence::experts_on_host : weights ? sim::Residence::host : sim::Residence::device;
    model = sim::placed(std::move(model), placement);
    if (experts && !model.name.empty() && sim::layers_on_host(model) == 0) {
        target.problem(target_keys::placement, fmt::format("names experts, but {} has none", model.name));
    }
}

std::string placement_text(const sim::Model& model) {
    const sim::Count layers = sim::layers_on_host(model);
    const bool whole = std::any_of(model.kinds.begin(), model.kinds.end(),
                                   [](const sim::LayerKind& kind) { return kind.residence == sim::Residence::host; });
    return layers == 0 ? ""
                       : fmt::format("{}{} layer{} on the host", whole ? "" : "experts of ", layers, layers > 1 ? "s" : "");
}

std::shared_ptr<const sim::Platform> read_host(json::Reader& platform, Descriptions& descriptions) {
    return descriptions.host(platform, platform_keys::host, "desktop-ddr5");
}

FlagJson placement_of_flag(const std::string& text) {
    if (text.starts_with("{")) {
        return value_of_flag(text);
    }
    const std::size_t colon = text.find(':');
    const std::string what = text.substr(0, colon);
    FlagJson placement = FlagJson::object();
    placement[what == "gpu-layers" || what == "weights" ? "weights" : "experts"] = "host";
    if (what != "experts" && what != "weights" && what != "gpu-layers") {
        throw text::InputError(
            {fmt::format("flags: --placement must be experts, experts:38, weights:12 or gpu-layers:20, not "
                         "\"{}\"",
                         text)});
    }
    if (colon != std::string::npos) {
        placement[what == "gpu-layers" ? "gpu_layers" : "layers"] = value_of_flag(text.substr(colon + 1));
    }
    return placement;
}

}  // namespace treeline::requests
