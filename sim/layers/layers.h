// From blocks of a model to operations: one function for each kind of block, each in a file of its own. The tables of
// docs/cost-model.md, section 1, are written here as coefficients; parameter counts follow from the same place.
#pragma once

#include <string>
#include <vector>

#include "sim/model.h"
#include "sim/operation.h"
#include "sim/parallelism.h"
#include "sim/verification.h"

namespace treeline::sim {

/// The purpose of a pass decides which kernel a recurrent layer runs, and whether attention over latents is absorbed.
enum class PassKind {
    decode,   ///< a few new tokens after a cached context: plain decoding, drafting, verification
    prefill,  ///< a prompt; recurrent layers run the chunked scan
};

/// Which recurrent states a multi-token pass writes back: the rollback policy's choice.
enum class StateWrites { final_state, none, every_state };

/// Everything a block needs to know about its surroundings. `ranks` devices share each layer (tensor parallelism); `parallel`
/// says who shares the experts, and the cached tokens of a sequence.
struct LayerContext {
    double width = 0.0;
    Precision precision;
    double ranks = 1.0;
    Parallelism parallel;
    PassKind pass = PassKind::decode;
    StateWrites writes = StateWrites::final_state;
    Verification verification = Verification::unrolled;
    double latent_heads_per_read = 0.0;  ///< Platform::latent_heads_per_read
    double sparse_prompt_heads = 0.0;    ///< CacheReading::sparse_prompt_heads
    Bytes score_traffic = {};            ///< CacheReading::score_traffic
    bool concatenates_caches = false;    ///< CacheReading::concatenates_caches
    bool expands_caches = false;         ///< CacheReading::expands_caches
    double shared_prefix_read = 1.0;     ///< CacheReading::shared_prefix_read
    double occurrences = 1.0;            ///< times the layer runs in one pass
    double copies = 1.0;                 ///< distinct copies of its weights
    std::string layer;                   ///< the layer kind's name, the first half of each operation's name
};

/// How tensor parallelism cuts a linear layer: its outputs (column), its inputs (row: an all-reduce must follow), or not at
/// all.
enum class Cut { column, row, none };

/// A bit for each pair of tokens of a packed tree.
inline constexpr double tree_mask_bytes = 0.125;

/// Sizes of the blocks of channels (convolution) and elements (activation) that kernels/cpu/ divides among cores.
inline constexpr double channels_of_an_item = 512.0, elements_of_an_item = 1024.0;

/// An operation of this layer without costs yet: "<layer>: <name>", run once each time the layer occurs.
Operation start_operation(const LayerContext& context, const std::string& name, OperationKind kind);

/// A linear layer `in` → `out`, cut over the ranks: 2·M·in·out FLOPs, w·in·out + e·M·(in+out) bytes (docs/cost-model.md,
/// section 1.2).
Operation linear(const LayerContext& context, const std::string& name, double in, double out, bool bias, Cut cut);

/// An element-wise kernel over `elements` values per token, which moves each `transfers` times and does `flops` FLOPs on it.
Operation element_wise(const LayerContext& context, const std::string& name, double elements, double transfers, double flops);

/// RMSNorm of `elements` values per token, with the residual added on the way.
Operation residual_norm(const LayerContext& context, const std::string& name, double elements);

/// RMSNorm of `elements` values per token, multiplied by a gate first.
Operation gated_norm(const LayerContext& context, double elements);

/// Rotary position embedding of `elements` elements of queries and keys per token, in place; of one rank.
Operation rotary_embedding(const LayerContext& context, double elements);

/// The activation between two linear layers, of `elements` values per token; `label` precedes its name.
Operation activation(const LayerContext& context, const std::string& label, double elements, bool gated);

/// The all-reduce of `elements` activations per token after a row-cut layer; nothing is appended for a single rank.
void append_all_reduce(const LayerContext& context, double elements, std::vector<Operation>& operations);

/// Every rank's part of `elements` activations (or, `per_logit`, values of each logit), gathered on all; nothing is appended
/// for a single rank.
void append_all_gather(const LayerContext& context, double elements, bool per_logit, std::vector<Operation>& operations);

/// The heads (or groups) that one rank holds of `total`; a head that several ranks need is replicated.
double per_rank(double total, double ranks);

/// An exchange of rows among `ranks` that hold `experts` of which a token visits `active`: once for each expert, or (`merged`)
/// once for each other rank that its experts lie on.
struct ExchangeShape {
    double width = 0.0, active = 1.0, experts = 1.0, ranks = 1.0;
    Storage rows;
    bool merged = false;
};
/// Sets what such an exchange costs, for a token of one rank.
void set_exchange(const ExchangeShape& shape, Operation& operation);
/// How rows are dispatched where products run in 8 bits or fewer: a scale of 32 bits for each 128 elements.
inline constexpr Storage quantised_rows{NumberFormat::fp8, 128.0, 32.0};

void append(const Attention& attention, const LayerContext& context, std::vector<Operation>& operations);
void append(const LatentAttention& attention, const LayerContext& context, std::vector<Operation>& operations);
void append(const CompressedAttention& attention, const LayerContext& context, std::vector<Operation>& operations);
void append(const Mamba1& mamba, const LayerContext& context, std::vector<Operation>& operations);
void append(const Mamba2& mamba, const LayerContext& context, std::vector<Operation>& operations);
void append(const GatedDelta& delta, const LayerContext& context, std::vector<Operation>& operations);
void append(const Mlp& mlp, const LayerContext& context, std::vector<Operation>& operations);
void append(const MixtureOfExperts& experts, const LayerContext& context, std::vector<Operation>& operations);
void append(const LookupTable& table, const LayerContext& context, std::vector<Operation>& operations);
void append(const Projection& projection, const LayerContext& context, std::vector<Operation>& operations);

/// Token embedding (before the layers).
void append_embedding(const Model& model, const LayerContext& context, std::vector<Operation>& operations);
/// Final normalisation and LM head (after the layers).
void append_head(const Model& model, const LayerContext& context, std::vector<Operation>& operations);

/// One recurrent layer's state: what a scan moves and computes for each state and token (docs/cost-model.md, section 1.4).
struct RecurrentState {
    double elements = 0.0;       ///< state elements of one sequence on one rank
    double inputs = 0.0;         ///< activation elements that one token's step reads and writes
    double outputs = 0.0;        ///< of those, elements of y
    double heads = 0.0;          ///< independent heads; 0 = channels are independent
    double step_flops = 0.0;     ///< FLOPs of advancing one token
    double replay_inputs = 0.0;  ///< activation elements of one token that replay needs (it forms no output)
    double replay_flops = 0.0;   ///< FLOPs of replaying one token
    double conv_elements = 0.0;  ///< convolution history of one sequence, elements
    double conv_inputs = 0.0;    ///< convolution input of one token, elements
    // The form over pairs of tokens, for chunks of a prompt and for trees. All 0 if a layer has none (Mamba-1).
    double chunk = 0.0;               ///< tokens of a chunk of a prompt
    double pair_flops = 0.0;          ///< of a pair of tokens: scores, their product with the inputs
    double chunk_token_flops = 0.0;   ///< of a token of a chunk: products with the state, which is read and advanced
    double tree_pair_flops = 0.0;     ///< of a pair of a tree: the same, decays and mask included
    double tree_token_flops = 0.0;    ///< of a token of a tree: products with the state, which is read only
    double pair_scratch_bytes = 0.0;  ///< of a pair's scores, which go through memory: written and read
};

RecurrentState recurrent_state(const Mamba1& mamba, double ranks);
RecurrentState recurrent_state(const Mamba2& mamba, double ranks);
RecurrentState recurrent_state(const GatedDelta& delta, double ranks);

/// The scan of a pass: of a prompt in chunks, of a tree, or step by step, as `context` says: the
/// scans of docs/cost-model.md, section 1.4.
Operation state_scan(const LayerContext& context, const RecurrentState& state);

/// Causal convolution over `channels` of width `width` (docs/cost-model.md, section 1.4).
Operation causal_convolution(const LayerContext& context, double channels, double width, bool bias, double ranks);

}  // namespace treeline::sim
