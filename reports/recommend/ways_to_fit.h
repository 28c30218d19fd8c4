// What would make a workload fit that no configuration holds in memory.
#pragma once

#include <string>

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// "it fits with --precision fp8 or on 16 devices (--tensor-parallel 16)": smaller formats of the checkpoint that the device
/// and its engine have, and more devices, on the first platform of the workload. Empty where memory is not what is missing, or
/// where nothing of this helps.
std::string ways_to_fit(const sweeps::Answer& answer);

}  // namespace treeline::reports
