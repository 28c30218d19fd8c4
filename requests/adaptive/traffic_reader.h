// The input file of `treeline traffic`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/reader.h"
#include "requests/descriptions.h"
#include "sweeps/adaptive/traffic_study.h"

namespace treeline {

/// {"title"?, "source"?, "arrivals_per_second": 4 or [1, 2, 4], "capacity": 32,
///  "output_tokens": 256 or {"mean": 256, "distribution": "fixed" or "geometric"}, "prefill_ms"?: 0,
///  "clearing"?: {"wait_ms", "opens"?: "last_clearing" or "first_request"},
///  "simulation"?: {"requests"?, "warm_up"?, "repetitions"?}}
/// and the settings with the times of their rounds, either
///  "batch": [1, 8, 32], "settings": [{"name", "round_ms": [one per batch], and nothing (plain decoding), "accepted_exactly":
///  [P(0), P(1), ...] or "shape" and "acceptance"; "source"?}]
/// or
///  "design_point": see read_shapes_point; plain decoding is a setting in any case.
/// Throws InputError with every problem.
TrafficInput read_traffic(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
