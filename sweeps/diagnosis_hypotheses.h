// What contradicts the prediction, as a time that each load would take more: recognised by how it grows with batch, drafts,
// context and prompts.
#pragma once

#include <string>
#include <vector>

#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_fit.h"

namespace treeline::sweeps::diagnosis {

/// A time that a cause would add to each load. Factors have no bounds where only the pattern is known.
struct Hypothesis : Pattern {
    CauseKind kind = CauseKind::host_per_round;
    std::string unit;  ///< what a factor of 1 is, for evidence
    std::string remedy;
    std::string fewer_drafts = {};  ///< Cause::fewer_drafts
};

/// Those that the loads can tell: what is the same at all of them, or grows as another does, is left out.
std::vector<Hypothesis> hypotheses_of(const Diagnosis& diagnosis);

}  // namespace treeline::sweeps::diagnosis
