// What an answer says of the loads that it was asked about, and of what a server holds, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "sweeps/recommend.h"

namespace treeline::reports {

/// Sequences that one server holds with and without the drafter, and what fills its memory with it.
nlohmann::ordered_json capacity_json(const sweeps::Capacity& capacity);

/// The loads, each with what the recommendation drafts there (null: off), then those that nobody serves and why.
nlohmann::ordered_json loads_json(const sweeps::Recommendation& found);

/// Null where the loads can be served.
nlohmann::ordered_json saturation_json(const sweeps::Recommendation& found);

}  // namespace treeline::reports
