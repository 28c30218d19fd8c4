// The prompts that a steady state reads between rounds.
#pragma once

#include "sim/round.h"

namespace treeline::sim {

/// What the prompts of other requests take for each generated token (docs/cost-model.md, section 3.5), with the round's passes
/// over prompts; zero where the setup is of decoding alone. Prompts longer than the stack reads at once come in equal chunks.
PromptWork prompt_work(const RoundSetup& setup, const CompiledRound& round);

}  // namespace treeline::sim
