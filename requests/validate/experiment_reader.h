// Files of published experiments: calibrate/published/*.json, and others of the same format.
//
//   {"format": "treeline-experiments", "version": 1, "paper": "...", "source": "...", "extends"?: name of a file before it,
//    "platforms": {name: {"device", "stack"?, "mode"?, "tensor_parallel"?, "free"?: [names of parameters],
//                         "inherits"?: a platform before it}, or, for an accelerator, {"design", "source"?}},
//    "conditions"?: {...}, "cases"?: {name: {...}},
//    "tables": [{"id", "what", "observable", "unit", "kind"?: "measurement", "model" or "count", "conditions"?, "rows": [
//       {"name", "value", "source"?, "role"?: "fit" or "test", "case"?, "choice_of"?, "relative_to"?: {...},
//        "not_reproduced"?: why, "out_of_memory"?: true in place of a value, "printed"?: [numbers], ...conditions}]}]}
//
// Conditions are the keys of a point as `treeline estimate` reads it (target, drafter, draft_tokens or shape, verification,
// rollback, decoding, batch, context, prompt_tokens, training), with "platform" the name of one, and besides
//   "accept_length"     measured for this row: becomes the drafter's acceptance
//   "generated_tokens"  length of the answer whose speed was measured, prompt included; without it, of decoding alone
//   "state_copy"        "eager" or "in-graph", if the row differs from its stack
//   "draft_graphs"      true or false, in the same way
// On an accelerator they are the keys of a run as `treeline estimate` reads it (target, drafter, shape, accept_length,
// plan, tree_states, overlap, changes), "draft_tokens": 0 for plain decoding, and
//   "stage"             of SpecMamba's ablation: "no speculation", "naive", "T1", "T1 + T2" or "T1 + T2 + T3"
// "printed" lists the cells of the source that the row stands for, if they are not its value alone; null is a cell without a
// number (tests/validation/coverage_test.cpp counts them). "relative_to" may name another platform, which is taken as
// described. A row's own conditions override those of its case, which override the table's, which override the file's. A file
// that "extends" another one ("stree" for calibrate/published/stree.json) has its conditions and cases, unless it replaces
// them; platforms of earlier files can be named anyway. A row with a drafter states draft_tokens (0: plain decoding) or shape.
// "relative_to" replaces conditions of the row; its value is then the ratio of the two. "observable" and "unit" of a row
// replace the table's.
#pragma once

#include <filesystem>

#include "requests/catalogue.h"
#include "validation/experiment.h"
#include "validation/validate.h"

namespace treeline::requests {

struct ExperimentFiles {
    std::vector<validation::Experiments> papers;
    std::vector<validation::ExperimentPlatform> platforms;
    std::vector<std::string> problems;  ///< what was left out and why: sentences with file, table and row
};

/// Files, or folders of *.json, in this order; platforms of earlier ones serve later ones. Never throws for what is in them.
ExperimentFiles read_experiments(const std::vector<std::filesystem::path>& paths, const Catalogue& catalogue);

/// Predicts the published experiments of the catalogue and `further` ones: files, or folders of them. The published ones come
/// first, so that their fits serve the others. What was left out of the files is among the problems of the result.
validation::Validation validate_published(const std::vector<std::filesystem::path>& further, const Catalogue& catalogue);

/// What of it is about these published papers, by the names of their files ("stree"), and about further files. Throws
/// InputError for a name that there is not.
validation::Validation of_published(validation::Validation all, const std::vector<std::string>& papers,
                                    const Catalogue& catalogue);

}  // namespace treeline::requests
