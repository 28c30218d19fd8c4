// The memory of a round, as its passes and its platform make it.
#pragma once

#include "sim/round_types.h"

namespace treeline::sim {

/// Where drafts are made: in one stage, on as many ranks as share the drafter's layers.
Platform platform_of_drafter(Platform platform);

/// Of a device: `target_pass` decodes a token of each sequence, `prefill` reads prompts.
MemoryModel memory_model(const RoundSetup& setup, const DrafterPlan& drafter, const CompiledPass& target_pass,
                         const CompiledPass& prefill);

}  // namespace treeline::sim
