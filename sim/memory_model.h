// Peak memory of a device: weights, states, caches, activations. The only place where they are added up.
#pragma once

#include <vector>

#include "sim/operations.h"
#include "sim/round_parts.h"
#include "sim/units.h"

namespace treeline::sim {

/// Memory that reading prompts needs at once, in addition to what decoding keeps: T = min(b·p, tokens) tokens of prompts of p
/// tokens take T·(per_token + per_pair·p).
struct PrefillMemory {
    double prompt_tokens = 0.0;  ///< p; 0 = the context
    double tokens = 0.0;         ///< in one pass, at most
    Bytes per_token;             ///< activations, and logits if those of every token are formed
    Bytes per_pair;              ///< attention scores of the widest layer, if kernels write them
};

/// Peak memory of one device: weights + captured graphs + workspace + b·(states and caches of a row) + caches that all
/// sequences share + activations and logits, of a round or of the prompts, whichever needs more. A row that does not hold the
/// drafter (RowConstants::holds_drafter) is that of a server without it.
struct MemoryConstants {
    Bytes target_weights, draft_weights, reserved;
    Bytes per_graph;                  ///< one captured graph, whatever the batch
    Bytes target_state, draft_state;  ///< one copy
    Bytes replay_per_token;           ///< cached activations
    Bytes logits_per_token;           ///< fp32 logits
    Bytes activations_per_token;      ///< widest pair of layer inputs and outputs
    PrefillMemory prefill;
    double state_slots = 1.0;       ///< states that the engine keeps of a running sequence, beside those of its draft
    double per_state_pooled = 0.0;  ///< 1/share of the pools that states may take (StatePolicy::state_pool_share); 0: any
    Bytes capacity;                 ///< what the engine may take of the device (MemoryPolicy::memory_share_of)
    Bytes plain_capacity;           ///< the same without a drafter
    double measured = 1.0;          ///< by which both were raised, to hold what was measured (MeasuredLoads::memory)

    [[nodiscard]] Bytes capacity_of(const RowConstants& row) const {
        return row.holds_drafter > 0.0 ? capacity : plain_capacity;
    }
};
struct MemoryModel : MemoryConstants {
    std::vector<CacheTerm> target_caches, draft_caches;
    double shared_prefix = 0.0;  ///< tokens of every sequence that are cached once
};

/// What each sequence of the batch keeps, and what all keep together.
struct SequenceMemory {
    Bytes states, target_cache, draft_cache;
    Bytes pooled;  ///< the least that an engine with pools must have for these
    Bytes shared;

    [[nodiscard]] Bytes used() const { return states + target_cache + draft_cache; }
    [[nodiscard]] Bytes own() const { return used() < pooled ? pooled : used(); }
};

/// States of one sequence, with the copies that its rollback needs.
inline Bytes state_memory(const MemoryConstants& memory, const RowConstants& row) {
    return memory.target_state * row.target_states + memory.draft_state * (row.draft_states * row.holds_drafter) +
           memory.replay_per_token * row.cached_activations;
}

/// What states and caches of a sequence must have together where an engine divides its memory between both beforehand: states
/// beyond their share leave memory to caches that nobody needs.
inline Bytes pooled_memory(const MemoryConstants& memory, const RowConstants& row) {
    return memory.target_state * ((row.target_states - 1.0 + memory.state_slots) * memory.per_state_pooled);
}

inline Bytes cache_memory(const std::vector<CacheTerm>& caches, const RowConstants& row, double context) {
    Bytes sum;
    for (const CacheTerm& cache : caches) {
        sum += cached_bytes(cache, context + row.new_tokens);
    }
    return sum;
}

/// Activations and logits of a round's verification.
inline Bytes round_activations(const MemoryConstants& memory, const RowConstants& row, double batch) {
    return (memory.logits_per_token * row.logits + memory.activations_per_token * row.activations) * batch;
}

/// Activations, logits and scores while prompts are read.
inline Bytes prompt_activations(const PrefillMemory& prefill, double batch, double context) {
    const double prompt = prefill.prompt_tokens > 0.0 ? prefill.prompt_tokens : context;
    const double all = batch * prompt;
    const double at_once = all < prefill.tokens ? all : prefill.tokens;
    return (prefill.per_token + prefill.per_pair * prompt) * at_once;
}

/// Of `caches`, what a prefix of so many tokens takes; a window moves past it.
inline Bytes prefix_memory(const std::vector<CacheTerm>& caches, double tokens) {
    Bytes sum;
    for (const CacheTerm& cache : caches) {
        sum += cache.reach.window == unlimited ? cached_bytes(cache, tokens) : Bytes(0.0);
    }
    return sum;
}

inline SequenceMemory sequence_memory(const MemoryModel& memory, const RowConstants& row, double context) {
    SequenceMemory sequence{state_memory(memory, row), cache_memory(memory.target_caches, row, context),
                            cache_memory(memory.draft_caches, row, context) * row.holds_drafter, pooled_memory(memory, row),
                            Bytes(0.0)};
    const double prefix = context < memory.shared_prefix ? context : memory.shared_prefix;
    if (prefix > 0.0) {
        const Bytes of_target = prefix_memory(memory.target_caches, prefix);
        const Bytes of_drafter = prefix_memory(memory.draft_caches, prefix) * row.holds_drafter;
        sequence.target_cache -= of_target;
        sequence.draft_cache -= of_drafter;
        sequence.shared = of_target + of_drafter;
    }
    return sequence;
}

inline Bytes peak_memory(const MemoryConstants& memory, const RowConstants& row, double batch, double context,
                         const SequenceMemory& sequence) {
    const Bytes round = round_activations(memory, row, batch);
    const Bytes prompts = prompt_activations(memory.prefill, batch, context);
    return memory.target_weights + memory.draft_weights * row.holds_drafter + memory.reserved + memory.per_graph * row.graphs +
           row.turn.workspace + sequence.own() * batch + sequence.shared + (prompts > round ? prompts : round);
}

inline Bytes peak_memory(const MemoryModel& memory, const RowConstants& row, double batch, double context) {
    return peak_memory(memory, row, batch, context, sequence_memory(memory, row, context));
}

}  // namespace treeline::sim
