// What `treeline plan` proposes.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engines/engine.h"
#include "sweeps/measurement_plan.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// A plan with the recommendation that it is for.
struct PlanAnswer {
    sweeps::Answer answer;
    sweeps::MeasurementPlan plan;
    engines::Engine engine;
};

/// The runs, what each settles, and the commands for the engine.
std::string plan_table(const PlanAnswer& answer);
/// Format "treeline-plan", version 1.
nlohmann::ordered_json plan_json(const PlanAnswer& answer);
/// A line for each run.
std::string plan_csv(const PlanAnswer& answer);

}  // namespace treeline::reports
