// What an engine can draft, and why it cannot draft the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "sim/device.h"
#include "sim/model.h"
#include "sim/round.h"
#include "sim/stack.h"

namespace treeline::engines {

struct ModelRule;  // definition.h

/// Why the engine does not run on the device, as a sentence about it; empty if it does, or where the device says no
/// compute capability.
std::string device_problem(const Engine& engine, const sim::Device& device);

/// Why the engine does not run this kind of drafter, as a sentence; empty if it does.
std::string drafter_problem(const Engine& engine, DrafterKind kind);

/// The first rule of the engine at its version that covers the target.
std::optional<ModelRule> model_rule(const Engine& engine, const sim::Model& target);
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

/// Whether the engine translates the drafter's tokens, or would have to: it has another vocabulary than its target, or the same
/// in embeddings of another number of rows, which some engines refuse.
bool is_translated(const Engine& engine, const sim::RoundSetup& setup);
/// Why the engine cannot translate them, as a sentence; empty if it can, or need not.
std::string translation_problem(const Engine& engine, const sim::RoundSetup& setup);

/// Why the engine does not draft so for the target there, whatever the shape, as a sentence: the first of the reasons above,
/// or that of its cut; empty if it does.
std::string drafting_problem(const Engine& engine, const sim::RoundSetup& setup);

/// Whether it is told a draft length for each batch for this drafter here.
bool changes_lengths(const Engine& engine, const sim::RoundSetup& setup);
/// Why it is told one where its drafter takes one for each batch, as a clause; empty where that is not so, or under attention
/// data parallelism.
std::string schedule_problem(const Engine& engine, const sim::RoundSetup& setup);

/// Why the engine does not load a model, as a clause about it; empty if nothing is known against it.
std::string load_problem(const Engine& engine, const sim::Model& target);

/// The trees that it drafts with this drafter for this target.
sim::DraftedTrees drafted_trees(const Engine& engine, DrafterKind kind, const sim::Model& target);

/// Why it cannot draft this, as a sentence; empty for chains, which every engine drafts, and for its own trees.
std::string tree_problem(const Engine& engine, DrafterKind kind, const sim::Speculation& speculation, const sim::Model& target);

}  // namespace treeline::engines
