// The answer to a workload, and how it is shown.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/recommend/workload_reader.h"
#include "engines/engine_flags.h"
#include "sweeps/recommend.h"
#include "sweeps/uncertainty.h"

namespace treeline {

struct Answer {
    WorkloadInput input;
    RecommendationResult result;
    std::optional<GainInterval> interval;            ///< of the recommended configuration, when it speculates
    std::vector<Engine> engines = newest_engines();  ///< whose flags are shown
};

Answer answer(WorkloadInput input, unsigned threads);

/// What to do, in one sentence.
std::string sentence_of(const Answer& answer);

std::string recommendation_table(const Answer& answer);
/// Format "treeline-recommendation", version 1; "input" repeats the workload file.
nlohmann::ordered_json recommendation_json(const Answer& answer, const nlohmann::ordered_json& input);
/// One line for each candidate that keeps the limits, best first.
std::string recommendation_csv(const Answer& answer);

/// The recommended variant; only with a recommendation.
const Variant& recommended_variant(const Answer& answer);
/// Target, drafter, platform and so on as name and value.
std::vector<std::pair<std::string, std::string>> configuration_of(const Answer& answer);

}  // namespace treeline
