// What one kernel's bytes, FLOPs and start-up cost on a platform.
#pragma once

#include "sim/operation.h"
#include "sim/platform.h"
#include "sim/precision.h"
#include "sim/rates.h"

namespace treeline::sim {

struct PricedKernel {
    Rates rates;
    bool measured = false;  ///< by a law: `rates` then include the kernel's own launch gap
};

/// Rates of an operation, from the first of these that there is: the law of its measured kernel, a stack's own kernels for few
/// rows, and what the stack reaches of the data sheet (docs/cost-model.md, section 2).
PricedKernel price_kernel(const Operation& operation, const Precision& precision, const Platform& platform);

}  // namespace treeline::sim
