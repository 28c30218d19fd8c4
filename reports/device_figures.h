// The devices of a workload compared, in words and charts: GPUs together with FPGA accelerators.
#pragma once

#include <optional>
#include <string>

#include "reports/figure.h"
#include "sweeps/recommend.h"

namespace treeline::reports {

/// What the recommended device is best at, and how much of its rate and its tokens per joule each other device reaches. Empty
/// if there is only one device.
std::string device_sentence(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation);

/// Tokens/s per device against tokens/J at each batch, with the Pareto set marked, and the most tokens/J of each device by
/// batch. Nothing if there is only one device, or if no device's energy is known.
std::optional<FigureSection> device_section(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation);

}  // namespace treeline::reports
