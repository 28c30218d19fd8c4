// The devices of a workload against each other, in words and charts: GPUs beside FPGA accelerators.
#pragma once

#include <optional>
#include <string>

#include "reports/figure.h"
#include "sweeps/recommend.h"

namespace treeline {

/// What the recommended device is best at, and what each other one reaches of its rate and its tokens per joule. Empty where
/// there is one device only.
std::string device_sentence(const Workload& workload, const Recommendation& recommendation);

/// Tokens/s of a device against tokens/J at each batch, with the Pareto set marked, and the most tokens/J of each device by
/// batch. Nothing where there is one device only, or where no device's energy is known.
std::optional<FigureSection> device_section(const Workload& workload, const Recommendation& recommendation);

}  // namespace treeline
