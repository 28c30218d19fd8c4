// What a sweep found: counts, its best points and its Pareto set.
#pragma once

#include <string>

#include "sweeps/sweep.h"
#include "sweeps/sweep_answer.h"

namespace treeline::reports {

/// Counts, the lists, and what was left out.
std::string sweep_table(const sweeps::SweepAnswer& answer);

/// ], "summary": {...}}: the end of a JSON file that began with sweep_json_head() and holds every point.
std::string sweep_json_tail(const sweeps::SweepAnswer& answer);
/// {"format": "treeline-sweep-summary", "version": 1, ..., "summary": {...}}: the same without the points.
std::string sweep_summary_json(const sweeps::SweepAnswer& answer);

}  // namespace treeline::reports
