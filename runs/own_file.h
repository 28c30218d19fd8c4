// The file of our own that holds a run: format "treeline-run", version 1 (docs/loop.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runs/run.h"

namespace treeline::runs {

inline constexpr const char* run_format = "treeline-run";
inline constexpr int run_version = 1;

/// Counts and times as they were measured, with what follows from them (accept length, acceptance by position and their errors)
/// for people who look into the file; reading it back takes only the counts.
nlohmann::ordered_json run_json(const MeasuredRun& run);

}  // namespace treeline::runs
