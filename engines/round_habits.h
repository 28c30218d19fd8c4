// What an engine does in a round by itself, and how it is told to do otherwise: what its own documents say, for which no stack
// has a number. Its defaults of running requests, states and prompts are in request_limits.h and the stacks.
#pragma once

#include <string>

#include "engines/engine.h"
#include "sim/round.h"

namespace treeline::engines {

/// One such habit; `how` is empty where it is not known.
struct EngineHabit {
    std::string how;
    std::string because;    ///< one clause
    std::string otherwise;  ///< the flag, variable or line of a file that changes it; empty where there is none
};

struct EngineHabits {
    EngineHabit attention;   ///< back end that verifies
    EngineHabit graph;       ///< how a verification is launched
    EngineHabit drafting;    ///< how the passes of a drafter are launched
    EngineHabit scheduling;  ///< whether the host prepares a round while the device works
};

/// What this engine does for this target and drafter on this device. A rule of the stack (sim::VerificationRule) goes before
/// what stands here of attention.
EngineHabits habits_of(const Engine& engine, const sim::RoundSetup& setup);

/// Whether the device is AMD's, for which engines have kernels of their own.
bool is_amd(const sim::Device& device);

/// Latent attention: one latent for all heads (DeepSeek), read whole.
bool has_whole_latents(const sim::Model& target);
/// Attention that picks what it reads, or reads compressed entries (DeepSeek-V3.2, V4).
bool has_sparse_attention(const sim::Model& target);

/// Recurrent states other than those of a delta rule whose decay is one number a head (Qwen3-Next, Qwen3.5): Mamba's, and those
/// with a decay of each channel.
bool has_other_states(const sim::Model& target);

/// Whether drafts are looked up in the text or in a table: no pass of a model.
bool is_looked_up(const sim::RoundSetup& setup);
/// That drafts are looked up.
EngineHabit looked_up();

/// FlashAttention or Triton, say, on NVIDIA's generation 9: the major compute capability, 0 for other makers.
double generation_of(const sim::Device& device);

}  // namespace treeline::engines
