// Internal to fitting kernels: measurements, with everything that does not depend on the law computed once.
#pragma once

#include <vector>

#include "calibrate/kernel_samples.h"

namespace treeline::calibrate::detail {

struct PreparedSample {
    const sim::Operation* operation = nullptr;
    std::size_t priced_as = 0;  ///< index into PreparedTable::operations, of one that has the same rates under every law
    sim::ShapeTerms terms{};
    Bytes bytes;
    Flops flops;
    double rows = 1.0;      ///< rows that share what is read
    double log_time = 0.0;  ///< of the measured time in seconds
    double weight = 1.0;    ///< of its residual: 1/√(spread² + 2 %²), over that of a sample without spread
};

/// Refers to the operations of the table that it was made from, which must outlive it.
struct PreparedTable {
    std::vector<PreparedSample> samples;
    std::vector<std::vector<std::size_t>> sites;    ///< indices of samples by site, sites in the order of their names
    std::vector<const sim::Operation*> operations;  ///< those that laws tell apart: about one per site
    sim::Rates data_sheet;
};

PreparedTable prepared(const KernelTable& table, const sim::Rates& data_sheet);

/// The law prepared for each of the table's operations.
std::vector<sim::Rates> rates_of(const PreparedTable& table, const sim::KernelLaw& law);

/// log(predicted / measured), by the same functions with which the simulator prices rounds.
double log_residual(const std::vector<sim::Rates>& rates, const PreparedSample& sample);

}  // namespace treeline::calibrate::detail
