// The input of `treeline recommend` and `treeline report`.
#pragma once

#include <string>
#include <vector>

#include "requests/descriptions.h"
#include "requests/setup_reader.h"
#include "sweeps/recommend_answer.h"

namespace treeline::requests {

/// Reads the keys of requests/keys/workload_keys.h. Throws InputError with every problem.
sweeps::RecommendInput read_workload(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
