// Weights in fp8 with a scale for each square block of them, shared out over ranks: a rank holds whole blocks, or the engine
// needs finer ones.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "sim/device.h"
#include "sim/model.h"
#include "sim/parallelism.h"
#include "sim/precision.h"
#include "sim/round_types.h"

namespace treeline::engines {

/// Weights of which a rank holds a part that is no whole number of blocks wide.
struct CutBlocks {
    std::string weights;         ///< "experts", "shared experts", "dense layers"
    bool routed = false;         ///< routed experts, which expert parallelism leaves whole
    sim::Count columns = 0;      ///< of a rank's part, rounded down
    sim::Count edge = 0;         ///< of a block
    sim::Count model_width = 0;  ///< that the experts work in
};

/// Of a target whose checkpoint holds what `precision` says; nothing where every rank holds whole blocks. Shared experts and
/// dense layers are cut by tensor parallelism; where there is attention data parallelism, too, engines differ, and they are not
/// looked at.
std::optional<CutBlocks> cut_blocks_of(const sim::Model& target, const sim::Precision& precision, double ranks,
                                       const sim::Parallelism& parallel);

/// What the checkpoint holds that commands name for this format: "fp8" alone does not say that its scales are those of blocks.
sim::Precision stored_precision(const sim::Model& target, const sim::Precision& priced);

/// What becomes of such weights.
struct CutProblem {
    std::string why;      ///< a sentence; empty where the engine loads them as they are priced
    bool starts = false;  ///< it does load them, in other kernels than those priced
};
CutProblem block_problem(const Engine& engine, const CutBlocks& cut, const sim::Device& device);

/// Why the engine does not run the target shared out so, as a sentence; empty if it does.
std::string cut_problem(const Engine& engine, const sim::RoundSetup& setup);

/// "experts of 192 columns a rank, no multiple of the 128 that share a scale".
std::string text_of(const CutBlocks& cut);

}  // namespace treeline::engines
