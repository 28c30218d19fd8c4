// The report's section on how long requests wait: TTFT and queue against load.
#pragma once

#include <optional>

#include "reports/figure.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// With and without the recommended drafter, up to twice the largest load that was asked. Nothing where batches are stated.
std::optional<FigureSection> load_section(const sweeps::Answer& answer);

}  // namespace treeline::reports
