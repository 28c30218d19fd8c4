// What an engine can draft, and why it cannot draft the rest.
#pragma once

#include <string>

#include "engines/engine.h"
#include "sim/model.h"
#include "sim/round.h"
#include "sim/stack.h"

namespace treeline::engines {

/// Why the engine does not run this kind of drafter, as a sentence; empty if it does.
std::string drafter_problem(const Engine& engine, DrafterKind kind);

/// The trees that it drafts with this drafter for this target.
sim::DraftedTrees drafted_trees(const Engine& engine, DrafterKind kind, const sim::Model& target);

/// Why it cannot draft this, as a sentence; empty for chains, which every engine drafts, and for its own trees.
std::string tree_problem(const Engine& engine, DrafterKind kind, const sim::Speculation& speculation, const sim::Model& target);

}  // namespace treeline::engines
