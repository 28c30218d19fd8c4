// Which measured kernel runs an operation on a platform.
#pragma once

#include "sim/kernel_law.h"
#include "sim/operation.h"
#include "sim/platform.h"
#include "sim/precision.h"

namespace treeline::sim {

/// The law of the measured kernel that runs an operation: by its kind, the formats it is stored and computed in, and the
/// engine's kernels. Null if the platform's mode has no laws, or its device none for this one (docs/cost-model.md,
/// section 2.3). It belongs to the platform's calibration.
const KernelLaw* law_that_prices(const Operation& operation, const Precision& precision, const Platform& platform);

}  // namespace treeline::sim
