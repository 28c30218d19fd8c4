// What a sweep found: counts, its best points and its Pareto set.
#pragma once

#include <string>

#include "sweeps/sweep.h"
#include "sweeps/sweep_answer.h"

namespace treeline {

/// Counts, the lists, and what was left out.
std::string sweep_table(const SweepAnswer& answer);

/// ], "summary": {...}}: the end of a JSON file that began with sweep_json_head() and holds every point.
std::string sweep_json_tail(const SweepAnswer& answer);
/// {"format": "treeline-sweep-summary", "version": 1, ..., "summary": {...}}: the same without the points.
std::string sweep_summary_json(const SweepAnswer& answer);

/// The devices, listed once each, whose description lacks what a column needs: "a10g".
std::vector<std::string> devices_without(const SweepColumn& column, const SweepInput& input);

}  // namespace treeline
