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

/// y = x W^T.
struct Dense {
    kernels::ConstRows weight;  ///< a row for each output
    int inputs = 0, outputs = 0;
};

struct AttentionWeights {
    int query_heads = 0, kv_heads = 0, head_dim = 0;
    int window = 0, sink = 0;  ///< as in kernels::Attention
    Dense qkv;                 ///< outputs: queries, keys, values
    Dense out;

    [[nodiscard]] int query_width() const { return query_heads * head_dim; }
    [[nodiscard]] int kv_width() const { return kv_heads * head_dim; }
};

struct Mamba2Weights {
    int heads = 0, head_dim = 0, state = 0, groups = 0, conv_width = 0;
    Dense in;                     ///< outputs: gate, then the convolution's inputs (x, B, C), then a step size a head
    const float* conv = nullptr;  ///< [conv_width][channels()]
    const float* conv_bias = nullptr;
    const float* a = nullptr;  ///< [heads], as the next two
    const float* dt_bias = nullptr;
    const float* d = nullptr;
    const float* norm = nullptr;  ///< [inner()]; null: the scan applies the gate and there is no norm
    Dense out;

    [[nodiscard]] int inner() const { return heads * head_dim; }
    [[nodiscard]] int channels() const { return inner() + 2 * groups * state; }
    [[nodiscard]] int state_elements() const { return inner() * state; }
};

struct MlpWeights {
    int hidden = 0;
    bool gated = true;
    Dense up;  ///< outputs: the gate, then the values; ungated: the values alone
    Dense down;
};

struct BlockWeights {
    const float* norm = nullptr;  ///< [width]; null: reads what the block before read
    std::variant<AttentionWeights, Mamba2Weights, MlpWeights> kind;
};

/// Views of memory that someone else owns, so drafters share layers with their target by copying this.
struct NetworkWeights {
    int width = 0, vocabulary = 0;
    kernels::ElementType elements = kernels::ElementType::fp32;
    kernels::ConstRows embedding;
    Dense head;
    const float* final_norm = nullptr;
    std::vector<BlockWeights> blocks;      ///< of all layers, in order
    std::vector<std::size_t> layer_begin;  ///< the first block of each layer, and the number of blocks at the end
};

/// Why this model has no kernels: a sentence for each reason; empty when it can run.
std::vector<std::string> problems_of_weights(const Model& model);

/// Where the run differs from the described model: sentences.
std::vector<std::string> simplifications(const Model& model);

/// The model must have no problems.
NetworkWeights random_weights(const Model& model, kernels::ElementType elements, std::uint64_t seed, Memory& memory);

/// The first layers under the same embedding and head; with a window above 0 their attention reads only that much.
NetworkWeights first_layers(NetworkWeights weights, int layers, int window, int sink);

}  // namespace treeline::decoder
