// The sections of the report's data, one function each (reports/page/README.md lists their members).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sweeps/recommend.h"

namespace treeline::reports {

nlohmann::ordered_json schedule_rows(const sweeps::Recommendation& recommendation);

/// Batch and context of each point of the traffic, so that charts can show what was requested.
nlohmann::ordered_json traffic_rows(const sweeps::Traffic& traffic);

/// Best draft length and speed-up of the recommended variant over batches and contexts (powers of two).
nlohmann::ordered_json heatmap_rows(const sim::CompiledRound& round, const sweeps::Workload& workload,
                                    const sweeps::Recommendation& recommendation);

/// Speed-up against draft length for each drafter on the recommended platform, at the smallest and largest batch of the
/// traffic.
nlohmann::ordered_json draft_length_rows(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation);

/// Phases of a round at the typical point of the traffic, next to plain decoding.
nlohmann::ordered_json round_rows(const sim::CompiledRound& round, const sweeps::Workload& workload,
                                  const sweeps::Candidate& best);

/// Operations of the round's passes on the device's roofline, at the typical point of the traffic.
nlohmann::ordered_json roofline_data(const sim::CompiledRound& round, const sweeps::Variant& variant,
                                     const sweeps::Workload& workload, const sweeps::Candidate& best);

nlohmann::ordered_json pareto_rows(const sweeps::Recommendation& recommendation);

/// Memory by part at the traffic point that needs most.
nlohmann::ordered_json memory_data(const sim::CompiledRound& round, const sweeps::Workload& workload,
                                   const sweeps::Candidate& best);

/// All candidates within the limits, best first (at most 500 rows). The objective's column is next to the speed-up and is
/// marked.
nlohmann::ordered_json candidate_table(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation);

}  // namespace treeline::reports
