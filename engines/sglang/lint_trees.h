// Trees in SGLang: which attention back ends and pools of memory take them.
#pragma once

#include <string>

#include "engines/lint_input.h"

namespace treeline::engines::sglang {

/// Whether a drafter of this algorithm runs step by step, with --speculative-num-steps and --speculative-eagle-topk.
inline bool drafts_in_steps(const std::string& algorithm) { return is_one_of(algorithm, {"EAGLE", "EAGLE3", "STANDALONE"}); }

/// What is refused with trees at start-up. `algorithm` in capitals, NEXTN as EAGLE.
void check_trees(const Flags& flags, const std::string& algorithm, Findings& findings);

}  // namespace treeline::engines::sglang
