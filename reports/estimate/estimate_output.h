// How `treeline estimate` shows what it found.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reports/explain.h"
#include "sweeps/estimate.h"

namespace treeline::reports {

/// The target with its formats where the input states them; an accelerator computes in its design's.
std::string target_text(const sweeps::PointInput& input);

/// The answer: one sentence.
std::string sentence_of(const sweeps::PointEstimate& estimate);

/// What has to be known beside the figures, the first the weightiest.
std::vector<std::string> notes_of(const sweeps::PointEstimate& estimate);

/// The sections behind the first screen, in their order.
std::vector<std::string> estimate_sections();
/// What `treeline estimate` prints: the answer, the figures side by side, notes; with `explain` what stands behind them.
std::string estimate_table(const sweeps::PointEstimate& estimate, const Explain& explain = {});
/// Format "treeline-estimate", version 1; `echo` is the point itself, so that the result can be run again.
nlohmann::ordered_json estimate_json(const sweeps::PointEstimate& estimate, const nlohmann::ordered_json& echo);
/// One line per operation.
std::string estimate_csv(const sweeps::PointEstimate& estimate);

}  // namespace treeline::reports
