// Devices of the input on which nothing runs.
#pragma once

#include <string>
#include <vector>

#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// A sentence for each device, once, that the answer has no candidate on, while it has some on others: which, and why.
std::vector<std::string> left_out_devices(const sweeps::Answer& answer);

}  // namespace treeline::reports
