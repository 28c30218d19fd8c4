// From a speculation to the steps of its round and the memory it keeps.
#pragma once

#include "sim/round_types.h"
#include "sim/trees/tree_builder.h"

namespace treeline::sim {

/// What rows are made from; fixed for a setup.
struct RowInputs {
    const RoundSetup& setup;
    const DrafterPlan& drafter;
    const RollbackPlan& rollback;
    const TreeBuilder& trees;
};

/// Builds the trees of a setup's shapes.
TreeBuilder trees_of(const RoundSetup& setup);

/// Appends the row of a speculation, and its steps, to the round. Its passes must be compiled already: steps of passes without
/// operations are left out.
void append_row(const RowInputs& inputs, const Speculation& speculation, CompiledRound& round);

/// Adds to CompiledRound::off the pass by which a loaded drafter that keeps a cache reads each step's token, so that its cache
/// is complete when drafts are wanted again (vLLM's proposers run it at zero drafts: vllm-project/vllm pull request 53426,
/// which measures 4 to 11 % of a step for modules for MTP). What keeps no cache of its own costs nothing.
void keep_drafter_in_step(const DrafterPlan& drafter, CompiledRound& round);

}  // namespace treeline::sim
