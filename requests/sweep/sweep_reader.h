// The input of `treeline sweep`.
#pragma once

#include <string>
#include <vector>

#include "requests/descriptions.h"
#include "sweeps/sweep_answer.h"

namespace treeline::requests {

/// Reads the keys of requests/keys/sweep_keys.h. Throws InputError with every problem.
sweeps::SweepInput read_sweep(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
