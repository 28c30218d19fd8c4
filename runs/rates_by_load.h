// Whether rates of a table may be totals of all requests in flight.
#pragma once

#include <string>

#include "runs/run.h"

namespace treeline::runs {

/// A doubt where tokens per second of the same draft length fall as more requests run: then they may be of one request each.
/// Empty where there is none.
std::string doubt_of_totals(const MeasuredRun& run);

}  // namespace treeline::runs
