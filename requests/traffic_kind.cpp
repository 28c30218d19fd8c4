#include "requests/traffic_kind.h"

#include <cmath>

namespace treeline::requests {
namespace {

/// Nothing without any above 0.
std::optional<double> middle_of(const std::vector<sweeps::WeightedValue>& values) {
    double sum = 0.0, total = 0.0;
    for (const sweeps::WeightedValue& value : values) {
        if (value.value > 0.0) {
            sum += value.share * std::log(value.value);
            total += value.share;
        }
    }
    return total > 0.0 ? std::optional(std::exp(sum / total)) : std::nullopt;
}

}  // namespace

void set_loads(sim::TrafficKind& traffic, const std::vector<sweeps::WeightedValue>& batches,
               const std::vector<sweeps::WeightedValue>& contexts) {
    traffic.batch = middle_of(batches);
    traffic.context = middle_of(contexts);
    traffic.several_loads = batches.size() > 1 || contexts.size() > 1;
}

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
