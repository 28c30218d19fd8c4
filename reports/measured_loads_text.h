// Whether the time of a load was measured, or lies between loads that were.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/round.h"

namespace treeline::reports {

/// "Rounds with 3 drafts were measured at batch 8 and 16 and are interpolated between them (1.12 times the fitted prediction)."
/// Of plain decoding for a speculation without drafts. Empty where nothing was measured of the deployment.
std::string measured_load_text(const sim::RoundSetup& setup, const sim::CompiledRound& round, const sim::DesignPoint& point);

/// Where the stack was fitted to another deployment than this: whose it was, as a sentence. Else empty.
std::string other_deployment_text(const sim::RoundSetup& setup);

/// {"how": "measured" | "interpolated" | "beyond", "ratio": measured over predicted}, or null.
nlohmann::ordered_json measured_load_json(const sim::RoundSetup& setup, const sim::CompiledRound& round,
                                          const sim::DesignPoint& point);

/// Of a stack that was fitted to a run, as its description states them: times in milliseconds.
nlohmann::ordered_json measured_loads_json(const sim::MeasuredLoads& measured);

}  // namespace treeline::reports
