// What the report shows about accelerators besides the recommendation: the charts of `treeline estimate`.
#pragma once

#include <vector>

#include "reports/figure.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// One section for each accelerator among the devices of the recommendation, with its best candidate: cycles and units over
/// time, the FIFO, the techniques, power and the board's resources.
std::vector<FigureSection> accelerator_sections(const sweeps::Answer& answer);

}  // namespace treeline::reports
