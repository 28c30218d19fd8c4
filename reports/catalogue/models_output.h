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

/// A published drafter in a list.
struct DrafterRow {
    std::string name, measured_with;  ///< the latter is a model's name
    int draft_tokens = 0;             ///< the longest chain that was measured; 0 = trees alone were
    double accept_length = 0.0;       ///< with it, over all kinds of requests
    std::vector<std::string> categories;
};
std::string drafters_table(const std::vector<DrafterRow>& drafters);
nlohmann::ordered_json drafters_json(const std::vector<DrafterRow>& drafters);

/// One model in full, with the sources of its numbers and the drafters that are known for it.
nlohmann::ordered_json model_json(const json::Described<sim::Model>& described, const std::vector<DrafterRow>& drafters);
std::string model_table(const json::Described<sim::Model>& described, const std::vector<DrafterRow>& drafters);

}  // namespace treeline::reports
