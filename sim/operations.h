// A whole model as a list of operations, and what follows from that list: parameter counts, stored weights, caches and states.
#pragma once

#include <vector>

#include "sim/layers/layers.h"
#include "sim/model.h"
#include "sim/operation.h"

namespace treeline::sim {

/// How one forward pass is compiled.
struct PassOptions {
    PassKind kind = PassKind::decode;
    StateWrites writes = StateWrites::final_state;
    double ranks = 1.0;  ///< tensor-parallel degree; operations are of one rank
    Verification verification = Verification::unrolled;
    Parallelism parallel = {};           ///< who shares the experts, and the cached tokens of a sequence
    double latent_heads_per_read = 0.0;  ///< Platform::latent_heads_per_read
    double sparse_prompt_heads = 0.0;    ///< CacheReading::sparse_prompt_heads
    Bytes score_traffic = {};            ///< CacheReading::score_traffic
    bool concatenates_caches = false;    ///< CacheReading::concatenates_caches
    bool expands_caches = false;         ///< CacheReading::expands_caches
    double shared_prefix_read = 1.0;     ///< CacheReading::shared_prefix_read
};

/// Operations of one forward pass, from embedding to LM head; identical layers are merged into one operation with a count.
std::vector<Operation> operations_of(const Model& model, const Precision& precision, const PassOptions& options);

/// All stored parameters: shared layers once, tied embeddings once.
Count parameter_count(const Model& model);

/// Parameters of the layers alone: no embedding, LM head or final norm (N of the HOI mode; SPIRe's count).
Count body_parameters(const Model& model);

/// Parameters of the layers that one token uses (fewer than body_parameters only with experts).
Count active_body_parameters(const Model& model);

/// Bytes of parameters on one of `ranks` devices; with pipeline stages, on one of the largest stage, which holds the ends of
/// the model, too, whichever is larger.
Bytes stored_weights(const Model& model, const Precision& precision, double ranks, const Parallelism& parallel = {});

/// The key-value cache of one kind of layer, all its occurrences together, on one rank.
struct CacheTerm {
    Bytes per_token;
    ContextReach reach;  ///< a sliding window keeps no more than it can see
};
std::vector<CacheTerm> caches_of(const Model& model, const Precision& precision, double ranks,
                                 const Parallelism& parallel = {});

/// Bytes that a sequence with `tokens` tokens occupies in these caches.
inline Bytes cached_bytes(const CacheTerm& cache, double tokens) {
    return cache.per_token * visible_context(cache.reach, tokens);
}

/// Recurrent memory of one sequence on one rank, summed over layers.
struct RecurrentMemory {
    Bytes state;             ///< SSM states and convolution history: one copy
    Bytes replay_per_token;  ///< activations of one token that replay needs (x, B, C, dt and convolution inputs)
};
RecurrentMemory recurrent_memory(const Model& model, const Precision& precision, double ranks);

/// Where activation replay runs: in a pass of its own (S read and written), or within the next verification, whose scan reads
/// the state anyway.
enum class Replay { own_pass, within_verification };

/// Activation replay: every recurrent layer advances its state over the pass's tokens (docs/cost-model.md, section 1.4).
std::vector<Operation> replay_operations(const Model& model, const Precision& precision, double ranks, Replay replay);

/// Copies of every layer's recurrent state and convolution history: read once, written once for each token of the pass.
std::vector<Operation> state_copy_operations(const Model& model, const Precision& precision, double ranks);

/// The state written once for each sequence of the pass, by a scan that runs anyway: no kernels of its own.
std::vector<Operation> state_write_operations(const Model& model, const Precision& precision, double ranks);

/// Moves keys and values of the pass's tokens to where they belong: those of an accepted path of a tree are not adjacent.
std::vector<Operation> cache_compaction_operations(const Model& model, const Precision& precision, double ranks);

}  // namespace treeline::sim
