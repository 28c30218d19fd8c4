// The sections of the report's data, one function each (reports/page/README.md lists their members).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sweeps/recommend.h"

namespace treeline {

nlohmann::ordered_json schedule_rows(const Recommendation& recommendation);

/// Batch and context of each point of the traffic, so that charts can show what was requested.
nlohmann::ordered_json traffic_rows(const Traffic& traffic);

/// Best draft length and speed-up of the recommended variant over batches and contexts (powers of two).
nlohmann::ordered_json heatmap_rows(const CompiledRound& round, const Workload& workload, const Recommendation& recommendation);

/// Speed-up against draft length for each drafter on the recommended platform, at the smallest and largest batch of the
/// traffic.
nlohmann::ordered_json draft_length_rows(const Workload& workload, const Recommendation& recommendation);

/// Phases of a round at the typical point of the traffic, next to plain decoding.
nlohmann::ordered_json round_rows(const CompiledRound& round, const Workload& workload, const Candidate& best);

/// Operations of the round's passes on the device's roofline, at the typical point of the traffic.
nlohmann::ordered_json roofline_data(const CompiledRound& round, const RoundSetup& setup, const Workload& workload,
                                     const Candidate& best);

nlohmann::ordered_json pareto_rows(const Recommendation& recommendation);

/// Memory by part at the traffic point that needs most.
nlohmann::ordered_json memory_data(const CompiledRound& round, const Workload& workload, const Candidate& best);

/// All candidates within the limits, best first (at most 500 rows). The objective's column is next to the speed-up and is
/// marked.
nlohmann::ordered_json candidate_table(const Workload& workload, const Recommendation& recommendation);

}  // namespace treeline
