// Measured kernels that verify chains in recurrent layers, from the rows of recurrent_verify tables.
#pragma once

#include <vector>

#include "calibrate/recurrent_verification_fit.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// Rows of the phase "verify" with their columns framework, kernel and fused_conv; a table for each framework, with "-fused"
/// where the kernel convolves as well, by name. Rows whose states are partly in the last-level cache are counted and left
/// out. Rows without these columns (our own measurements) are not for this law. Throws InputError if a
/// value is none.
std::vector<RecurrentVerificationTable> recurrent_verification_tables_of(const std::vector<MeasuredFile>& files,
                                                                         const sim::Device& device);

}  // namespace treeline::calibrate
