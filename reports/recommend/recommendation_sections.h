// The sections of --explain of a recommendation that are written elsewhere than where they are listed.
#pragma once

#include <string>

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// What is left out, each with its reason; also of an answer without a recommendation.
std::string excluded_text(const sweeps::Answer& answer);

/// Runners-up with their regret, every rollback and way of verifying, and what is left out.
std::string candidates_section(const sweeps::Answer& answer);

/// What each device can do at its best.
std::string devices_section(const sweeps::Answer& answer);

/// Speed for each user against output of each device.
std::string pareto_section(const sweeps::Answer& answer);

}  // namespace treeline::reports
