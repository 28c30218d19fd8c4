// How `treeline study policies` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/adaptive/policies.h"

namespace treeline::reports {

/// The answer in one sentence.
std::string sentence_of(const sweeps::PoliciesAnswer& answer);
std::string policies_table(const sweeps::PoliciesAnswer& answer);
/// Format "treeline-policies", version 1.
nlohmann::ordered_json policies_json(const sweeps::PoliciesAnswer& answer);
/// A self-contained page with a chart.
std::string policies_html(const sweeps::PoliciesAnswer& answer);
/// A line for each policy at each batch.
std::string policies_csv(const sweeps::PoliciesAnswer& answer);

}  // namespace treeline::reports
