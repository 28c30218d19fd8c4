#include "requests/traffic_kind.h"

namespace treeline::requests {

sim::TrafficKind read_traffic_kind(json::Reader& at, sim::TrafficKind otherwise) {
    sim::TrafficKind traffic = std::move(otherwise);
    if (std::optional<json::Reader> categories = at.optional_object(traffic_kind_keys::categories)) {
        traffic.categories.clear();
        for (const std::string& category : categories->keys()) {
            traffic.categories.emplace_back(category, categories->number(category, 1e-6, 1e6));
        }
        categories->finish();
    }
    if (at.has(traffic_kind_keys::temperature)) {
        traffic.temperature = read(at, traffic_kind_keys::temperature);
    }
    if (at.has(traffic_kind_keys::thinking)) {
        traffic.thinking = read(at, traffic_kind_keys::thinking);
    }
    return traffic;
}

}  // namespace treeline::requests
