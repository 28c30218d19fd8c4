// What `treeline import` read, for people.
#pragma once

#include <string>

#include "runs/run.h"

namespace treeline::reports {

/// The deployment, its acceptance with sampling errors, and its times at each load.
std::string run_table(const runs::MeasuredRun& run);
/// A line for each load.
std::string run_csv(const runs::MeasuredRun& run);

}  // namespace treeline::reports
