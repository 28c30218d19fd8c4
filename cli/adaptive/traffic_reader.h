// What `treeline traffic` simulates, as its input file states it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/descriptions.h"
#include "json/reader.h"
#include "sweeps/adaptive/continuous_batching.h"

namespace treeline {

/// A periodic-clearing queue's T and when it starts.
struct ClearingWindow {
    Seconds wait;
    WindowOpens opens = WindowOpens::with_last_clearing;
};

struct TrafficInput {
    std::string title, source;
    std::string priced;                        ///< the design point behind the round times; empty where the file gives them
    std::vector<SpeculationSetting> settings;  ///< one of them is plain decoding
    int capacity = 1;
    std::vector<double> arrivals_per_second;
    Requests requests;  ///< per_second aside
    std::optional<ClearingWindow> clearing;
    SimulationSize size;
};

/// {"title"?, "source"?, "arrivals_per_second": 4 or [1, 2, 4], "capacity": 32,
///  "output_tokens": 256 or {"mean": 256, "distribution": "fixed" or "geometric"}, "prefill_ms"?: 0,
///  "clearing"?: {"wait_ms", "opens"?: "last_clearing" or "first_request"},
///  "simulation"?: {"requests"?, "warm_up"?, "repetitions"?}}
/// and the settings with the times of their rounds, either
///  "batch": [1, 8, 32], "settings": [{"name", "round_ms": [one a batch], and nothing (plain decoding), "accepted_exactly":
///  [P(0), P(1), ...] or "shape" and "acceptance"; "source"?}]
/// or
///  "design_point": see read_shapes_point; plain decoding is a setting in any case.
/// Throws InputError with every problem.
TrafficInput read_traffic(json::Document& document, Descriptions& descriptions);

}  // namespace treeline
