// One Mamba-2 layer on the accelerator, as a plan of what each unit does. The C-simulation runs the plan, with data
// (functional_layer.h) or without (trace_layer, for layers of any size); either gives a trace that schedule() turns into
// cycles.
//
//   memory -> weights -> Linear unit: [entry norm] B, C, dt | x and gate z in turn      [gated norm] output projection
//                                             |             | blocks of x                     ^
//                                             v             v                                 |
//                                 special functions ->  SSM unit <-> waiting states  ---------+
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/hls/schedule.h"

namespace treeline::kernels::accelerator {

/// A linear layer cut into tiles; no blocks: it is left out.
struct LinearTiles {
    int blocks = 0;  ///< ceil(outputs / tile_outputs)
    int tiles = 0;   ///< ceil(inputs / tile_inputs)
};

struct LayerPlan {
    std::vector<int> parents;    ///< of the tree's tokens in breadth-first order; -1: the state before the round
    int replayed = 0;            ///< accepted tokens of the round before, recomputed from the activation cache
    LinearTiles coefficients;    ///< the input projection's B, C and dt
    LinearTiles inputs;          ///< its x; every block of it feeds the SSM unit
    int gate_blocks = 0;         ///< its z and what else may come late, spread evenly over the blocks of x; as many tiles each
    LinearTiles output;          ///< the output projection
    int state_tiles = 1;         ///< of a block: ceil(tile_outputs · n / lanes)
    int entry_norm_cycles = 0;   ///< iterations of the norm before the layer; 0: none
    int special_cycles = 0;      ///< iterations from B, C and dt to what the SSM unit takes; 0: none
    int convolution_cycles = 0;  ///< iterations of a block of x on its way to the SSM unit; 0: no convolution
    int gated_norm_cycles = 0;   ///< iterations of the gated norm, between the SSM unit and the output projection; 0: none
};

/// What decides cycles beside the plan. Depths are those of a synthesis report or of the RTL.
struct LayerDesign {
    int passes = 1;  ///< cycles of a weight tile: ceil(tokens / tokens that the MAC array serves at once)
    /// The memory delivers `rate_numerator` weight tiles in `rate_denominator` cycles, at most one per cycle.
    int rate_numerator = 1, rate_denominator = 1;
    int weight_fifo = 8;         ///< weight tiles ahead of the Linear unit
    int block_fifo = 2;          ///< blocks between Linear and SSM unit
    int waiting_fifo = 8;        ///< states that children wait for
    int interleaved = 1;         ///< state tiles that take turns
    LoopTiming linear = {1, 1};  ///< initiation interval, and cycles from a tile's start to its block's write
    LoopTiming ssm = {1, 4};     ///< initiation interval, and cycles from a token's start to its state's write
    int convolution_depth = 4;
    int special_depth = 8;
    int vector_depth = 8;  ///< of the norms
    bool overlap = true;   ///< without it Linear unit, convolution and SSM unit take all of x one after the other
};

/// Every violated constraint as a sentence; empty when the plan can run on the design.
std::vector<std::string> problems(const LayerPlan& plan, const LayerDesign& design);

/// The processes and streams of a layer in the trace, by number; what the plan leaves out is -1.
struct LayerTrace {
    Trace trace;
    int memory = -1, linear = -1, convolution = -1, special = -1, ssm = -1, entry_norm = -1, gated_norm = -1;
    int weights = -1, blocks = -1, waiting = -1;
};

/// Runs the loops without data. The plan has no problems().
LayerTrace trace_layer(const LayerPlan& plan, const LayerDesign& design);

/// The FIFO depth that the tree needs: less is a deadlock, more changes nothing. A waiting state leaves when its first child
/// starts, and children start in order, so a state that finds the FIFO full waits for a token behind itself.
int waiting_fifo_needed(const LayerPlan& plan, const LayerDesign& design);

/// Why the FIFO of waiting states cannot run this tree: a sentence; empty when it can.
std::string deadlock_explanation(const LayerPlan& plan, const LayerDesign& design);

/// Cycles from one block of the SSM unit to the next when inputs are always there.
std::int64_t block_cycles(const LayerPlan& plan, const LayerDesign& design);

}  // namespace treeline::kernels::accelerator
