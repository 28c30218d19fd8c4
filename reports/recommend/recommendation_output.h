// How `treeline recommend` and `treeline report` show what they found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engines/engine_flags.h"
#include "sweeps/recommend_answer.h"

namespace treeline {

/// What to do, in one sentence.
std::string sentence_of(const Answer& answer);

std::string recommendation_table(const Answer& answer, const std::vector<Engine>& engines);
/// `engines`: those whose flags are shown.
/// Format "treeline-recommendation", version 1; "input" repeats the workload file.
nlohmann::ordered_json recommendation_json(const Answer& answer, const nlohmann::ordered_json& input,
                                           const std::vector<Engine>& engines);
/// The data of the report's page (reports/html.h), studies included. If nothing meets the limits, the page says why.
nlohmann::ordered_json report_page_data(const Answer& answer, const std::vector<Engine>& engines);
/// One line per candidate that meets the limits, best first.
std::string recommendation_csv(const Answer& answer);

/// Target, drafter, platform and so on as name and value.
std::vector<std::pair<std::string, std::string>> configuration_of(const Answer& answer);

}  // namespace treeline
