// What a compiled round keeps in memory, and the largest batch that fits.
#include "sim/round_memory.h"

#include <algorithm>
#include <cmath>

namespace treeline::sim {
namespace {

/// The two widest activations that live at once: a layer's input and output, in the widest linear layer.
Bytes widest_activation(const CompiledPass& pass) {
    Bytes widest;
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
        const OperationKind kind = pass.launched[i].kind;
        if (kind == OperationKind::linear || kind == OperationKind::experts) {
            const OperationCost& cost = pass.operations[i].cost;
            widest = std::max(widest, cost.bytes.per_token * cost.busiest_share);
        }
    }
    return widest;
}

/// Engines size what lies outside of their pools for chunks of so many tokens at most.
constexpr double most_tokens_outside = 16384.0;

/// Memory of a pass over prompts: the widest activations of a token and, depending on the stack, its logits and one layer's
/// scores (query heads of a rank times the prompt's keys).
PrefillMemory prefill_memory(const RoundSetup& setup, const CompiledPass& prefill, Bytes logits_per_token) {
    const Stack& stack = setup.platform.stack;
    PrefillMemory memory;
    memory.prompt_tokens = setup.prompt_tokens;
    memory.tokens = stack.serving.prefill_tokens;
    memory.per_token = widest_activation(prefill) + (stack.serving.logits_of_prompt ? logits_per_token : Bytes(0.0));
    for (const LaunchedOperation& operation : prefill.launched) {
        if (operation.kind == OperationKind::attention) {
            const double heads = operation.rows_per_token * operation.cache_heads;
            memory.per_pair = std::max(memory.per_pair, stack.caches.score_bytes * heads);
        }
    }
    return memory;
}

DrafterOnDevice on_device(const Drafter& drafter) {
    if (std::holds_alternative<NoDrafter>(drafter) || std::holds_alternative<NgramDrafter>(drafter)) {
        return DrafterOnDevice::nothing;
    }
    return std::holds_alternative<IndependentDrafter>(drafter) ? DrafterOnDevice::whole_model : DrafterOnDevice::some;
}

/// What of the device the engine may take. Where its share is not one of everything, what lies outside of the share counts as
/// what reading the largest chunk of prompts needs, beside what the device reserves.
Bytes capacity_for(const Platform& platform, DrafterOnDevice drafter, const MemoryConstants& memory) {
    const Bytes device = platform.device.memory;
    const double share = memory_utilisation_of(platform, drafter);
    const double chunk = std::min(memory.prefill.tokens, most_tokens_outside);
    const Bytes outside = memory.reserved + memory.per_graph + memory.prefill.per_token * chunk;
    Bytes capacity = device * share;
    if (platform.stack.memory.memory_share_of == MemoryShare::pools) {
        capacity = std::min(device, capacity + outside);
    } else if (platform.stack.memory.memory_share_of == MemoryShare::leftover) {
        const Bytes weights = memory.target_weights + (drafter != DrafterOnDevice::nothing ? memory.draft_weights : Bytes(0.0));
        const Bytes fixed = std::min(device, weights + outside);
        capacity = fixed + (device - fixed) * share;
    }
    return std::min(capacity, platform.memory_limit.value_or(capacity));
}

}  // namespace

Platform platform_of_drafter(Platform platform) {
    Parallelism& parallel = platform.parallel;
    parallel.pipeline = 1.0;
    if (parallel.draft_tensor > 0.0 && parallel.draft_tensor != platform.ranks) {
        platform.ranks = parallel.draft_tensor;
        parallel.experts = 1.0;
        parallel.context = 1.0;
    }
    return platform;
}

MemoryModel memory_model(const RoundSetup& setup, const DrafterPlan& drafter, const CompiledPass& target_pass,
                         const CompiledPass& prefill) {
    const double ranks = setup.platform.ranks;
    const Parallelism& parallel = setup.platform.parallel;
    const double stage = largest_stage(setup.target, parallel.pipeline);
    const Platform draft_platform = platform_of_drafter(setup.platform);
    const RecurrentMemory target = recurrent_memory(setup.target, setup.precision, ranks);
    MemoryModel memory;
    memory.target_weights = stored_weights(setup.target, setup.precision, ranks, parallel);
    memory.draft_weights = added_weights(drafter, draft_platform.ranks, draft_platform.parallel);
    memory.reserved = setup.platform.device.reserved;
    memory.per_graph = setup.platform.stack.memory.memory_per_graph;
    if (const double share = setup.platform.stack.states.state_pool_share; share > 0.0) {
        memory.state_slots = setup.platform.stack.states.state_slots;
        memory.per_state_pooled = 1.0 / share;
    }
    memory.target_state = target.state * stage;
    memory.replay_per_token = target.replay_per_token * stage;
    memory.logits_per_token = Bytes(4.0 * static_cast<double>(setup.target.vocabulary_size) / ranks);
    memory.activations_per_token = widest_activation(target_pass);
    memory.prefill = prefill_memory(setup, prefill, memory.logits_per_token);
    memory.target_caches = caches_of(setup.target, setup.precision, ranks, parallel);
    for (CacheTerm& cache : memory.target_caches) {
        cache.per_token = cache.per_token * stage;
    }
    if (drafter.model && drafter.has_cache) {
        if (drafter.holds_cache) {
            memory.draft_caches = caches_of(*drafter.model, drafter.precision, draft_platform.ranks, draft_platform.parallel);
        }
        memory.draft_state = recurrent_memory(*drafter.model, drafter.precision, draft_platform.ranks).state;
    }
    if (drafter.inner.model) {
        const std::vector<CacheTerm> inner =
            caches_of(*drafter.inner.model, drafter.inner.precision, draft_platform.ranks, draft_platform.parallel);
        memory.draft_caches.insert(memory.draft_caches.end(), inner.begin(), inner.end());
    }
    memory.plain_capacity = capacity_for(setup.platform, DrafterOnDevice::nothing, memory);
    memory.capacity = capacity_for(setup.platform, on_device(setup.drafter), memory);
    return memory;
}

bool memory_holds(const CompiledRound& round, const RoundRow& row, double batch, double context) {
    return peak_memory(round.memory, row, sequences_of_group(round, batch), context) <= round.memory.capacity_of(row);
}

double largest_that_fits(const CompiledRound& round, const RoundRow& row, double context) {
    constexpr double most_requests = 1e6;
    double low = 0.0, high = most_requests + 1.0;
    while (high - low > 1.0) {
        const double middle = std::floor(0.5 * (low + high));
        (memory_holds(round, row, middle, context) ? low : high) = middle;
    }
    return low;
}

}  // namespace treeline::sim
