// From a speculation to the steps of its round and the memory it keeps.
#pragma once

#include "sim/round.h"
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

}  // namespace treeline::sim
