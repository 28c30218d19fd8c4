// How `treeline recommend` and `treeline report` show what they found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engines/engine_flags.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// What to do, in one sentence.
std::string sentence_of(const sweeps::Answer& answer);

std::string recommendation_table(const sweeps::Answer& answer);
/// Format "treeline-recommendation", version 1; "input" repeats the workload file.
nlohmann::ordered_json recommendation_json(const sweeps::Answer& answer, const nlohmann::ordered_json& input);
/// The data of the report's page (reports/html.h), studies included. If nothing meets the limits, the page says why.
/// `others` are flags of further engines, shown beside those of the one that was priced.
nlohmann::ordered_json report_page_data(const sweeps::Answer& answer, const std::vector<engines::EngineFlags>& others = {});
/// One line per candidate that meets the limits, best first.
std::string recommendation_csv(const sweeps::Answer& answer);

/// Target, drafter, platform and so on as name and value.
std::vector<std::pair<std::string, std::string>> configuration_of(const sweeps::Answer& answer);

}  // namespace treeline::reports
