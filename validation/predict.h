// What the simulator predicts for a row.
#pragma once

#include "validation/experiment.h"

namespace treeline::validation {

/// The number of an experiment's row on this platform, in base units. The row must have a point, and its speculation must run
/// (prediction_problem).
double predicted(const ExperimentRow& row, const sim::Platform& platform);

/// The round of a point that is not on an FPGA, on this platform, and where in it the point lies.
sim::CompiledRound compiled_round(const ExperimentPoint& point, const sim::Platform& platform);
sim::DesignPoint design_point(const ExperimentPoint& point);

/// Why it cannot be predicted, as a sentence; empty if it can.
std::string prediction_problem(const ExperimentRow& row, const sim::Platform& platform);

}  // namespace treeline::validation
