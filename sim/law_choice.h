// Which measured kernel runs an operation on a platform.
#pragma once

#include <string>

#include "sim/kernel_law.h"
#include "sim/operation.h"
#include "sim/platform.h"
#include "sim/precision.h"

namespace treeline::sim {

/// The family of our own kernel that runs an operation: scans of Mamba-1 (a decay for each channel), of the gated delta rule
/// and of prompts in chunks are kernels apart from Mamba-2's, whose family, as that of everything else, is treeline_family.
std::string own_family(const Operation& operation);

/// The law of our own kernel that runs it: of its own family, or else that of Mamba-2's scans; null where there is none.
const KernelLaw* own_law(const Calibration& calibration, KernelClass kernel, NumberFormat format, const Operation& operation);

/// The law of the measured kernel that runs an operation: by its kind, the formats it is stored and computed in, and the
/// engine's kernels. Null if the platform's mode has no laws, or its device none for this one (docs/cost-model.md,
/// section 2.3). It belongs to the platform's calibration.
const KernelLaw* law_that_prices(const Operation& operation, const Precision& precision, const Platform& platform);

}  // namespace treeline::sim
