// What to know of requests that are longer than the model was made for.
#pragma once

#include <string>

#include "sweeps/estimate.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// A sentence where a prompt and its answer, or a context, hold more tokens than the target's positions are made for
/// (sim::Model::max_context); empty where they do not, or where that is not known.
std::string context_note(const sweeps::RecommendInput& input);
std::string context_note(const sweeps::PointInput& input);

}  // namespace treeline::reports
