// What to know of requests that are longer than the model was made for, and of accelerators that serve them one by one.
#pragma once

#include <string>

#include "sweeps/estimate.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// A sentence where a prompt and its answer, or a context, hold more tokens than the target's positions are made for
/// (sim::Model::max_context); empty where they do not, or where that is not known.
std::string context_note(const sweeps::RecommendInput& input);
std::string context_note(const sweeps::PointInput& input);

/// That tokens/s do not grow with the batch on an accelerator, however many sequences its memory holds; empty on anything else.
std::string one_by_one_note(const sim::Platform& platform);

}  // namespace treeline::reports
