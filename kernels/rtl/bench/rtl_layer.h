// Runs a layer on the simulated RTL and gives back what came out, in the C-simulation's own layout, to be compared with ==.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/hls/layer_run.h"

namespace treeline::kernels::accelerator {

struct RtlOutcome {
    std::int64_t cycles = 0;
    bool deadlocked = false;
    int waiting_high_water = 0;         ///< most states in the FIFO at the end of a cycle
    std::int64_t waited_for_state = 0;  ///< cycles in which a child waited for its parent
    std::int64_t waited_for_tile = 0;   ///< cycles in which the Linear unit had no weights
    std::int64_t waited_for_ssm = 0;    ///< cycles in which the Linear unit could not hand over a block
    // Of a functional run:
    std::vector<Accumulator> coefficient_sums, gate_sums, output_sums;
    std::vector<Output> y;
    std::vector<StateTile<GridShape>> memory;
    std::vector<Input> cache_now;
};

/// Why the RTL's parameters do not reach a configuration, as a sentence; empty when they do.
std::string rtl_limit(const LayerPlan& plan, const LayerDesign& design, bool functional);

/// With data, in GridShape. Throws std::runtime_error if it does not end within `most_cycles`.
RtlOutcome run_rtl(const LayerPlan& plan, const LayerDesign& design, const LayerData<GridShape>& data,
                   std::int64_t most_cycles = 10'000'000);

/// Cycles alone, of a layer of any size.
RtlOutcome run_rtl_timing(const LayerPlan& plan, const LayerDesign& design, std::int64_t most_cycles = 100'000'000);

}  // namespace treeline::kernels::accelerator
