// Laws for all tables of a device.
#pragma once

#include <vector>

#include "calibrate/tables/calibration_answer.h"

namespace treeline::calibrate {

/// The laws of tables, in their order. Throws InputError if one has none.
std::vector<CalibratedTable> fitted(std::vector<KernelTable> tables, const sim::Device& device,
                                    const KernelFitOptions& options);

/// Laws of our own measurements: a table that no law fits is left out, and a sentence says so.
std::vector<CalibratedTable> fitted_where_possible(std::vector<KernelTable> tables, const sim::Device& device,
                                                   const KernelFitOptions& options, std::vector<std::string>& notes);

}  // namespace treeline::calibrate
