// Models of the catalogue, as `treeline models` shows them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/described.h"
#include "sim/model.h"

namespace treeline::reports {

/// What matters for a model's cost: layers, parameters, bytes of weights, cache and state.
nlohmann::ordered_json model_summary_json(const sim::Model& model);
std::string models_table(const std::vector<sim::Model>& models);

/// One model in full, with the sources of its numbers.
nlohmann::ordered_json model_json(const json::Described<sim::Model>& described);
std::string model_table(const json::Described<sim::Model>& described);

}  // namespace treeline::reports
