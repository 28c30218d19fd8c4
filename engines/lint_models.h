// What engines refuse of the models that a command names, where these are known.
#pragma once

#include "engines/lint_input.h"

namespace treeline::engines {

/// How a command shares the served model out, in the words of its engine.
struct LintCut {
    double ranks = 1.0;              ///< of tensor parallelism
    double data = 1.0;               ///< groups of attention data parallelism
    double experts = 1.0;            ///< ranks over which whole experts are dealt out
    std::string flag;                ///< that says how many ranks share a layer
    std::string whole_experts = {};  ///< the flag that leaves experts whole
};

/// Weights in fp8 of which a rank would hold no whole number of blocks.
void check_cut(const LintInput& input, const LintCut& cut, const Engine& engine, Findings& findings);

/// A method of drafting, which `key` selects, where the engine drafts nothing for the model.
void check_target(const LintInput& input, const std::string& key, const std::string& method, const Engine& engine,
                  Findings& findings);

/// A draft model whose embedding has another number of rows than the served model's; `flag` names it.
void check_rows(const LintInput& input, const std::string& flag, const std::string& drafter, const Engine& engine,
                Findings& findings);

}  // namespace treeline::engines
