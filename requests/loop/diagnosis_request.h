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

/// The point with what a run's files say of the deployment where the point is silent: devices, the engine, the format of the
/// cache.
nlohmann::ordered_json point_of_run(const runs::MeasuredRun& run, nlohmann::ordered_json point);

/// `run` is of the deployment with its drafter, `plain` (empty: none) without one. `input` (empty: none) and the flags say what
/// was served: model, platform and drafter, as for `treeline estimate`. Throws InputError.
sweeps::DiagnosisInput read_diagnosis(const std::string& run, const std::string& plain, const std::string& input,
                                      const FlagTexts& flags, const Catalogue& catalogue);
/// The same where all three stand in one document: {"run", "plain", "point"}.
sweeps::DiagnosisInput read_diagnosis(json::Document& document, Descriptions& descriptions);

}  // namespace treeline::requests
