// What an engine can draft, and why it cannot draft the rest.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"
#include "sim/device.h"
#include "sim/model.h"
#include "sim/round.h"
#include "sim/stack.h"

namespace treeline::engines {

/// Why the engine does not run on the device, as a sentence about it; empty if it does, or where the device says no
/// compute capability.
std::string device_problem(const Engine& engine, const sim::Device& device);

/// Why the engine does not run this kind of drafter, as a sentence; empty if it does.
std::string drafter_problem(const Engine& engine, DrafterKind kind);

/// Why the engine drafts otherwise for this model alone, as a sentence; empty if it does not.
std::string model_problem(const Engine& engine, DrafterKind kind, const sim::Model& target);
/// The value that selects a drafter for this target, which may be another name of the same method.
std::string word_for(const Engine& engine, const EngineDrafter& drafter, const sim::Model& target);

/// A way in which the engine rolls back at its version, and the flag that asks for it; empty for what it does by itself.
struct RollbackChoice {
    sim::Rollback rollback;
    std::string flag;
};

/// In the stack's order: what the engine does by itself is first.
std::vector<RollbackChoice> rollbacks_at(const Engine& engine, const sim::Model& target, const sim::Stack& stack);

/// Why the engine does not take the flag with which it would roll back so, as a sentence; empty if it does, or needs none.
std::string rollback_problem(const Engine& engine, const sim::RoundSetup& setup);

/// Whether the drafter has another vocabulary than its target, so that its tokens are translated.
bool is_translated(const sim::Drafter& drafter);
/// Why the engine cannot translate them, as a sentence; empty if it can, or need not.
std::string translation_problem(const Engine& engine, const sim::Drafter& drafter);

/// The trees that it drafts with this drafter for this target.
sim::DraftedTrees drafted_trees(const Engine& engine, DrafterKind kind, const sim::Model& target);

/// Why it cannot draft this, as a sentence; empty for chains, which every engine drafts, and for its own trees.
std::string tree_problem(const Engine& engine, DrafterKind kind, const sim::Speculation& speculation, const sim::Model& target);

}  // namespace treeline::engines
