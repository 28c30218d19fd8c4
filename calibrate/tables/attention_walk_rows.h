// Measured decoding as samples of a walk along caches, from the rows of attention_decode tables.
#pragma once

#include <vector>

#include "calibrate/attention_walk_fit.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// Rows of engines' kernels with caches of 16 bits and at least 512 cached tokens: fewer show the start and end of thread
/// blocks. A cache of up to 1.5 times the last-level cache, where a replay finds parts of it, counts only where reading it from
/// memory would hardly lengthen the time. Throws InputError if a value is none.
AttentionWalkTable attention_walk_table_of(const std::vector<MeasuredFile>& files, const sim::Device& device);

}  // namespace treeline::calibrate
