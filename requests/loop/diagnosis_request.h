// `treeline diagnose`: the input of a diagnosis from runs and a point.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/serving_rows.h"
#include "requests/point_reader.h"
#include "sweeps/diagnosis.h"

namespace treeline::requests {

/// Flags that say what was served: model, platform, drafter.
const std::vector<KeyFlag>& served_flags();

/// A timed load as a row of measured steps; `file` of messages. The time is that of a round; where a run has none, it follows
/// from TPOT or throughput, and then the prompts of other requests are in it.
calibrate::ServingRow serving_row(const runs::RunCell& cell);

/// What `point` becomes for a load: its steady state if prompts are in the time that was measured, else decoding alone.
nlohmann::ordered_json point_of_load(const runs::RunCell& cell, nlohmann::ordered_json point);

/// `run` is of the deployment with its drafter, `other` (empty: none) without one, or with it on another back end, build, cache
/// or device. `input` (empty: none) and the flags say what was served: model, platform and drafter, as for `treeline estimate`;
/// what they leave open is what the run's files say (run_deployment.h). Throws InputError.
sweeps::DiagnosisInput read_diagnosis(const std::string& run, const std::string& other, const std::string& input,
                                      const FlagTexts& flags, const Catalogue& catalogue);
/// The same where all three stand in one document: {"run", "plain", "point"}.
sweeps::DiagnosisInput read_diagnosis(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
