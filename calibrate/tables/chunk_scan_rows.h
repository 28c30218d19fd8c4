// Measured chunk kernels of delta rules over prompts, from the rows of delta_rule tables.
#pragma once

#include <vector>

#include "calibrate/chunk_scan_fit.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// Rows of the phase "prefill" with a chunk of tokens at least (fewer fill a part of one); a table for each engine and rule, of
/// the version that the file lists last, by name. Throws InputError if a value is none.
std::vector<ChunkScanTable> chunk_scan_tables_of(const std::vector<MeasuredFile>& files);

}  // namespace treeline::calibrate
