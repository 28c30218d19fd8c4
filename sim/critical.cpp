#include "sim/critical.h"

namespace treeline::sim {

CriticalInputs critical_inputs(const Model& model, const Precision& precision, const Device& device) {
    CriticalInputs inputs;
    inputs.active_parameters = static_cast<double>(active_body_parameters(model));
    for (const Operation& operation : operations_of(model, precision, {})) {
        if (operation.part == ModelPart::body) {
            inputs.weight_bytes += operation.stored * operation.count;
        }
    }
    for (const CacheTerm& cache : caches_of(model, precision, 1.0)) {
        inputs.cache_per_token += cache.per_token;
    }
    inputs.intensity = device.intensity_for(precision.math);
    return inputs;
}

double critical_context(const CriticalInputs& inputs, double tokens) {
    const Flops cached = inputs.cache_per_token * inputs.intensity;
    return cached > Flops(0.0) ? 2.0 * tokens * inputs.active_parameters / cached.value() : unlimited;
}

std::optional<double> critical_batch(const CriticalInputs& inputs, double tokens, double context) {
    const Flops spare = Flops(2.0 * tokens * inputs.active_parameters) - context * inputs.cache_per_token * inputs.intensity;
    if (spare <= Flops(0.0)) {
        return std::nullopt;
    }
    return inputs.weight_bytes * inputs.intensity / spare;
}

double decoding_saved(const TrainingCost& cost, double throughput_multiplier) {
    return cost.decoding_budget * (1.0 - 1.0 / throughput_multiplier);
}

double net_saving(const TrainingCost& cost, double throughput_multiplier) {
    return decoding_saved(cost, throughput_multiplier) - cost.draft_training;
}

std::optional<double> break_even_decoding(const TrainingCost& cost, double throughput_multiplier) {
    if (throughput_multiplier <= 1.0) {
        return std::nullopt;
    }
    return cost.draft_training / (1.0 - 1.0 / throughput_multiplier);
}

}  // namespace treeline::sim
