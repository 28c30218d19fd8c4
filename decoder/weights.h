// Random weights of a described model.
//
// They are scaled so that tokens depend on more than the last one (queries are large, so attention picks; states decay over
// some ten tokens) and so that layer l adds 1 / (1 + l) of what the first one does: the first layers alone then often agree
// with the whole, as the drafters of self-speculation do.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "decoder/memory.h"
#include "sim/model.h"

namespace treeline::decoder {

/// y = x W^T + bias.
struct Dense {
    kernels::ConstRows weight;  ///< a row for each output
    int inputs = 0, outputs = 0;
    const float* bias = nullptr;  ///< [outputs]; null: none
};

/// RMSNorm, or LayerNorm if there is a bias.
struct NormWeights {
    const float* weight = nullptr;  ///< null: no norm
    const float* bias = nullptr;
};

struct AttentionWeights {
    int query_heads = 0, kv_heads = 0, head_dim = 0;
    int window = 0, sink = 0;               ///< as in kernels::Attention
    double context_share = 1.0;             ///< below 1: the window is this share of the longest text
    Dense qkv;                              ///< outputs: queries, keys, values, then the output gate if there is one
    const float* query_key_norm = nullptr;  ///< [query_width() + kv_width()]: a norm for each head; null: none
    bool output_gate = false, keys_are_values = false;
    Dense out;

    [[nodiscard]] int query_width() const { return query_heads * head_dim; }
    [[nodiscard]] int kv_width() const { return kv_heads * head_dim; }
    /// Column of the gate behind queries, keys and values.
    [[nodiscard]] int gate_column() const { return query_width() + 2 * kv_width(); }
};

/// In the absorbed form of kernels::LatentAttention.
struct LatentAttentionWeights {
    int heads = 0, latent = 0, nope = 0, turned = 0, value = 0;
    Dense down;  ///< outputs: the latent, the key to be turned, then the query in low rank if there is one
    NormWeights latent_norm, query_norm;
    Dense query;        ///< from low rank or the model's width; outputs: for each head the unturned part, then the turned
    Dense to_latent;    ///< of each head: from the unturned part of a query to the latent's space
    Dense from_latent;  ///< of each head: from the latent to its values
    Dense gate;         ///< without weights: no output gate
    Dense out;

    [[nodiscard]] int cached() const { return latent + turned; }
};

struct Convolution {
    int channels = 0, width = 0;
    const float* weight = nullptr;  ///< [width][channels]
    const float* bias = nullptr;    ///< [channels]; null: none
};

/// A block with a state: an input projection, a convolution of some of its columns, a scan. Each kind has `in`, `conv`, and
/// these functions.
template <class Block>
concept RecurrentWeights = requires(const Block& block) {
    block.in.outputs;
    block.conv.channels;
    block.conv_column();  // where the convolution's inputs begin in the projection
    block.steps();        // numbers that decide over decay and input
    block.inner();        // width of the scan's outputs
    block.state_elements();
};

struct Mamba2Weights {
    int heads = 0, head_dim = 0, state = 0, groups = 0;
    int copies = 1;            ///< heads that share x, and groups that share B
    Dense in;                  ///< outputs: gate, then the convolution's inputs (x, B, C), then a step size per head
    Convolution conv;          ///< of x, B and C
    const float* a = nullptr;  ///< [heads], as the next two
    const float* dt_bias = nullptr;
    const float* d = nullptr;
    const float* norm = nullptr;  ///< [inner()]; null: the scan applies the gate and there is no norm
    Dense out;

    [[nodiscard]] int inner() const { return heads * head_dim; }
    [[nodiscard]] int conv_column() const { return inner(); }
    /// Columns of x and of B before they are repeated over the heads that share them.
    [[nodiscard]] int x_width() const { return inner() / copies; }
    [[nodiscard]] int b_width() const { return groups * state / copies; }
    [[nodiscard]] int steps() const { return heads; }
    [[nodiscard]] int state_elements() const { return inner() * state; }
};

struct Mamba1Weights {
    int channels = 0, state = 0, rank = 0;
    Dense in;                               ///< outputs: gate, then x
    Convolution conv;                       ///< of x
    Dense selection;                        ///< of the convolved x; outputs: step sizes in low rank, B, C
    NormWeights rank_norm, b_norm, c_norm;  ///< of these; none where the model has none
    Dense dt;                               ///< from low rank to a step size per channel
    const float* a = nullptr;               ///< [channels][state]
    const float* dt_bias = nullptr;
    const float* d = nullptr;
    Dense out;

    [[nodiscard]] int inner() const { return channels; }
    [[nodiscard]] int conv_column() const { return channels; }
    [[nodiscard]] int steps() const { return channels; }
    [[nodiscard]] int state_elements() const { return channels * state; }
};

struct GatedDeltaWeights {
    int key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
    Dense in;          ///< outputs: gate, then the convolution's inputs (q, k, v), then beta and a decay for each value head
    Convolution conv;  ///< of q, k and v
    const float* query_key_norm = nullptr;  ///< [2 key_width()]: makes keys as long as 1, queries as 1 / sqrt(key_dim)
    const float* a = nullptr;               ///< [value_heads], as the next
    const float* decay_bias = nullptr;
    const float* norm = nullptr;  ///< [inner()]: of each head, before the gate
    Dense out;

    [[nodiscard]] int key_width() const { return key_heads * key_dim; }
    [[nodiscard]] int inner() const { return value_heads * value_dim; }
    [[nodiscard]] int conv_column() const { return inner(); }
    [[nodiscard]] int steps() const { return 2 * value_heads; }
    [[nodiscard]] int state_elements() const { return inner() * key_dim; }
};

struct MlpWeights {
    int hidden = 0;
    bool gated = true;
    Dense up;  ///< outputs: the gate, then the values; ungated: the values alone
    Dense down;
};

struct ExpertsWeights {
    int experts = 0, active = 0, hidden = 0;
    bool gated = true;
    Dense router;
    const float* router_bias = nullptr;  ///< [experts]: for the choice alone; null: none
    /// A row for each expert and output; `outputs` are those of one expert.
    Dense up, down;
    Dense to_latent, from_latent;  ///< where experts work in a width of their own; else without weights
    int shared_hidden = 0;         ///< 0: no shared expert
    Dense shared_up, shared_down, shared_gate;
};

struct BlockWeights {
    NormWeights norm;       ///< none: reads what the block before read
    NormWeights post_norm;  ///< of the block's output
    std::variant<AttentionWeights, LatentAttentionWeights, Mamba1Weights, Mamba2Weights, GatedDeltaWeights, MlpWeights,
                 ExpertsWeights>
        kind;
};

/// Views of memory that someone else owns, so drafters share layers with their target by copying this.
struct NetworkWeights {
    int width = 0, vocabulary = 0;
    kernels::ElementType elements = kernels::ElementType::fp32;
    kernels::ConstRows embedding;
    Dense head;
    NormWeights final_norm;
    std::vector<BlockWeights> blocks;      ///< of all layers, in order
    std::vector<std::size_t> layer_begin;  ///< the first block of each layer, and the number of blocks at the end
};

/// Why this model has no kernels: a sentence for each reason; empty when it can run.
std::vector<std::string> problems_of_weights(const sim::Model& model);

/// Where the run differs from the described model: sentences.
std::vector<std::string> simplifications(const sim::Model& model);

/// The model must have no problems.
NetworkWeights random_weights(const sim::Model& model, kernels::ElementType elements, std::uint64_t seed, Memory& memory);

/// The first layers under the same embedding and head; with a window above 0 their attention reads only that much.
NetworkWeights first_layers(NetworkWeights weights, int layers, int window, int sink);

}  // namespace treeline::decoder
