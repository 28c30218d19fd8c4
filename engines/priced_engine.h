// The engine whose server a platform's stack describes, and what of a workload that engine can run.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "sweeps/estimate.h"
#include "sweeps/recommend_answer.h"

namespace treeline::engines {

/// The engine that was priced, at the version whose flags it takes (sim::Stack::engine); nothing for accelerators,
/// for stacks of no engine, and on Metal for engines other than llama.cpp. Throws InputError for an engine or version that is
/// not known.
std::optional<Engine> priced_engine(const sim::Platform& platform);

/// Whether the engine has to be told where the drafter lies, and nobody knows a repository of it.
bool lacks_repository(const sweeps::Variant& variant);

/// What becomes of a shape that the input names and that no engine of its stacks drafts.
enum class MissingShapes { refuse, leave_out };

/// Marks what the engine of each variant's stack cannot run: drafters and cuts that it lacks (Variant::problem), trees that it
/// cannot draft (sim::DraftPolicy::drafted_trees), and what it may change with the batch (Variant::switching). The answer names
/// all that with its reason. Throws InputError where none of the drafters that the input names can run, or, unless they are
/// left out, where a shape that it names cannot.
void keep_what_engines_run(sweeps::RecommendInput& input, MissingShapes shapes = MissingShapes::refuse);

/// The answer to what is left of the workload.
sweeps::Answer answer(sweeps::RecommendInput input, unsigned threads, MissingShapes shapes = MissingShapes::refuse);

/// The estimate of a design point. Throws InputError where it names a rollback that its engine has not at that version.
sweeps::PointEstimate estimate_point(sweeps::PointInput input);

}  // namespace treeline::engines
