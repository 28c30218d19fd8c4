// A row of a tile whose axis states loads instead of batches: each shape settles at a batch of its own.
#pragma once

#include <cstddef>

#include "sweeps/column_kernels.h"
#include "sweeps/load.h"

namespace treeline::sweeps {

struct SettledRow {
    TileColumn batch, queued;  ///< SettledLoad
    TileColumn gain;           ///< SweepFigures::gain
};

/// Estimates of `size` points at these loads and contexts, as settle() and under_load() have them. The memory of a load that
/// cannot be served is unknown (NaN), so that its point does not fit.
void settle_row(const sim::CompiledRound& round, int speculation, LoadKind kind, const double* loads, const double* contexts,
                std::size_t size, SettledRow& settled, sim::EstimateColumns& estimates);

/// One of them, compared with plain decoding: the same server under the same load, without the drafter.
struct LoadEstimate {
    sim::RoundEstimate estimate;  ///< its throughput multiplier is the TPOT of plain decoding over its own
    double gain = 1.0;            ///< tokens/s per device, likewise
};
/// `settled` is where its load settles.
LoadEstimate estimate_of_load(const sim::CompiledRound& round, int speculation, const Load& load, double context,
                              const SettledLoad& settled);

}  // namespace treeline::sweeps
