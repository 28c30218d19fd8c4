#include "engines/host_weights.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engines/definition.h"
#include "text/number_text.h"

namespace treeline::engines {
namespace {

std::string layers_text(const sim::Placement& placement) {
    const sim::Count layers = placement.layers.value_or(1);
    return layers == 1 ? "layer" : fmt::format("{} layers", layers);
}

}  // namespace

std::string placement_flag(const sim::Placement& placement) {
    return fmt::format("--placement {}:{}", placement.residence == sim::Residence::experts_on_host ? "experts" : "weights",
                       placement.layers.value_or(1));
}

std::string computed_there(const sim::Placement& placement, Bytes on_host) {
    return fmt::format(" With {}its first {} in the host's memory it fits, where that has room for {}: {}",
                       placement.residence == sim::Residence::experts_on_host ? "the routed experts of " : "",
                       layers_text(placement), text_of(on_host), placement_flag(placement));
}

std::string offload_flag(Bytes too_much) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    return fmt::format("--cpu-offload-gb {:.0f}", std::ceil(too_much.value() / gibibyte));
}

std::string way_to_fit(const std::optional<Engine>& engine, const sim::Placement& placement, Bytes too_much, Bytes on_host) {
    const std::optional<EngineName> places =
        engine ? engine->name
               : engine_whose(all_definitions(), [](const Definition& each) { return each.dialect.places_weights; });
    return definition_of(*places).dialect.way_to_fit({placement, too_much, on_host});
}

}  // namespace treeline::engines
