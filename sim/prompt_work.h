// The prompts that a steady state reads between rounds.
#pragma once

#include "sim/round_types.h"

namespace treeline::sim {

/// Tokens of a prompt that need not be read: what the prefix cache holds of it, and at least what all prompts begin with. Its
/// last token is always read.
double cached_tokens(double prompt_tokens, double prefix_hit, double shared_prefix);

/// What the prompts of other requests take for each generated token (docs/cost-model.md, section 3.5), with the round's passes
/// over prompts; zero where the setup is of decoding alone. Prompts longer than the stack reads at once come in equal chunks.
PromptWork prompt_work(const RoundSetup& setup, const CompiledRound& round);

/// Who reads the prompts of a steady state, how much of them, and who waits for them. In a pool of their own
/// (PrefillPolicy::disaggregated), a prompt's caches travel to the devices that decode: each rank sends its part over the link
/// of its platform.
void set_prefill(const RoundSetup& setup, CompiledRound& round);

}  // namespace treeline::sim
