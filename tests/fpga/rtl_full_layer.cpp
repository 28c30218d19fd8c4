// One whole layer of Mamba2-2.7B with 16 tokens on the RTL (TIMING_ONLY) and on the C-simulation: the cycles must be equal, and
// the C-simulation must take less than a second of processor time. Prints both, with the simulation speeds.
//
// The accelerator: tiles of 8 × 8 INT4 weights for 16 tokens (1,024 products a cycle), 128 state lanes, a tree of 16 tokens.
#include <cstdio>
#include <ctime>

#include "kernels/hls/layer.h"
#include "random_layer.h"
#include "rtl_layer.h"

using namespace treeline::kernels::accelerator;

namespace {

/// Width 2,560, inner width 5,120 = 80 heads × 64, 128 states, one group (models/mamba2-2.7b.json).
LayerPlan mamba2_2_7b() {
    LayerPlan plan;
    plan.parents = binary_parents(16);
    plan.replayed = 3;
    plan.coefficients = {(2 * 128 + 80) / 8, 2560 / 8};
    plan.inputs = {5120 / 8, 2560 / 8};
    plan.gate_blocks = 5120 / 8;
    plan.output = {2560 / 8, 5120 / 8};
    plan.state_tiles = 8 * 128 / 128;
    plan.entry_norm_cycles = 2 * 2560 / 8;
    plan.gated_norm_cycles = 2 * 5120 / 8;
    return plan;
}

/// Processor time: other programs may share the machine.
double seconds_since(std::clock_t began) { return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC; }

}  // namespace

int main() {
    const LayerPlan plan = mamba2_2_7b();
    const LayerDesign design;
    std::clock_t began = std::clock();
    const Schedule csim = schedule(trace_layer(plan, design).trace);
    const double csim_seconds = seconds_since(began);
    began = std::clock();
    const RtlOutcome rtl = run_rtl_timing(plan, design);
    const double rtl_seconds = seconds_since(began);
    std::printf("Mamba2-2.7B, one layer, 16 tokens and 3 recomputed\n");
    std::printf("  C-simulation %10ld cycles  %6.3f s\n", static_cast<long>(csim.cycles), csim_seconds);
    std::printf("  RTL          %10ld cycles  %6.3f s, %.2f million cycles a second\n", static_cast<long>(rtl.cycles),
                rtl_seconds, static_cast<double>(rtl.cycles) / rtl_seconds / 1e6);
    if (csim.cycles != rtl.cycles || !csim.deadlock.empty()) {
        std::printf("WRONG: cycles differ %s\n", csim.deadlock.c_str());
        return 1;
    }
    if (csim_seconds > 1.0) {
        std::printf("WRONG: the C-simulation took more than a second\n");
        return 1;
    }
    return 0;
}
