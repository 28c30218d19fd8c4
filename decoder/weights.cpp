#include "decoder/weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "decoder/random_fill.h"

namespace treeline::decoder {
namespace {

/// Draws one tensor after another, each from a seed of its own.
class Weights {
public:
    Weights(Memory& memory, kernels::ElementType elements, std::uint64_t seed)
        : memory_(memory), elements_(elements), seed_(seed) {}

    /// Of deviation gain / sqrt(inputs), so that outputs are `gain` times as large as inputs; the first `large` outputs three
    /// times that.
    Dense dense(Count inputs, Count outputs, double gain, Count large = 0) {
        const kernels::Rows rows = memory_.rows(outputs, inputs, elements_);
        const double deviation = gain / std::sqrt(static_cast<double>(inputs));
        if (large > 0) {
            fill_rows(memory_, rows, 0, large, inputs, next_seed(), 3.0 * deviation);
        }
        fill_rows(memory_, rows, large, outputs - large, inputs, next_seed(), deviation);
        return {rows, static_cast<int>(inputs), static_cast<int>(outputs)};
    }

    const float* floats(Count count, double center, double spread) {
        return random_floats(memory_, count, next_seed(), center, spread);
    }

private:
    std::uint64_t next_seed() { return seed_of(seed_, drawn_++); }

    Memory& memory_;
    kernels::ElementType elements_;
    std::uint64_t seed_, drawn_ = 0;
};

int whole(double tokens) { return tokens == unlimited ? 0 : static_cast<int>(tokens); }

/// Makes the weights of a kind of block; `gain` is that of its last projection.
struct BlockMaker {
    Weights& weights;
    Count width;
    double gain;

    BlockWeights operator()(const Attention& block) const {
        AttentionWeights made;
        made.query_heads = static_cast<int>(block.query_heads);
        made.kv_heads = static_cast<int>(block.kv_heads);
        made.head_dim = static_cast<int>(block.head_dim);
        made.window = whole(block.reach.window);
        made.sink = made.window > 0 ? whole(block.reach.sink) : 0;
        made.qkv = weights.dense(width, made.query_width() + 2 * made.kv_width(), 1.0, made.query_width());
        made.out = weights.dense(made.query_width(), width, gain);
        return {nullptr, made};
    }

    BlockWeights operator()(const Mamba2& block) const {
        Mamba2Weights made;
        made.heads = static_cast<int>(block.heads);
        made.head_dim = static_cast<int>(block.head_dim);
        made.state = static_cast<int>(block.state);
        made.groups = static_cast<int>(block.groups);
        made.conv_width = static_cast<int>(block.conv_width);
        made.in = weights.dense(width, block.in_proj_width(), 1.0);
        made.conv = weights.floats(block.conv_width * made.channels(), 0.2, 0.8);
        made.conv_bias = weights.floats(made.channels(), 0.0, 0.1);
        made.a = weights.floats(block.heads, -0.6, 0.4);
        made.dt_bias = weights.floats(block.heads, -2.0, 1.0);
        made.d = weights.floats(block.heads, 0.3, 0.3);
        made.norm = block.gated_norm ? weights.floats(made.inner(), 1.0, 0.1) : nullptr;
        made.out = weights.dense(made.inner(), width, gain);
        return {nullptr, made};
    }

    BlockWeights operator()(const Mlp& block) const {
        MlpWeights made;
        made.hidden = static_cast<int>(block.hidden);
        made.gated = block.gated;
        made.up = weights.dense(width, block.gated ? 2 * block.hidden : block.hidden, 1.0);
        made.down = weights.dense(block.hidden, width, gain);
        return {nullptr, made};
    }

    template <class Other>
    BlockWeights operator()(const Other& /*block*/) const {
        throw std::invalid_argument("there are no kernels for a block of this model");
    }
};

/// Why a block has no kernels; empty when it has.
struct BlockProblem {
    std::string operator()(const Attention& block) const {
        const bool fits = block.head_dim % 8 == 0 && block.head_dim <= 256 && block.query_heads % block.kv_heads == 0;
        return !fits                       ? "attention needs a head_dim that is a multiple of 8 up to 256"
               : block.input_width > 0     ? "attention that reads another width than the model's has no kernel"
               : block.output_gate         ? "attention with an output gate has no kernel"
               : block.keys_are_values     ? "attention whose keys are its values has no kernel"
               : block.query_key_norm > 0  ? "attention with norms on queries and keys has no kernel"
               : block.learned_sinks       ? "attention with learned sinks has no kernel"
               : block.indexer.has_value() ? "attention with a sparse indexer has no kernel"
               : block.reach.scale != 1.0  ? "attention that reads a share of its context has no kernel"
                                           : "";
    }
    std::string operator()(const Mamba2& block) const {
        const bool fits = block.head_dim % 16 == 0 && block.head_dim <= 128 && block.state % 16 == 0 && block.state <= 256 &&
                          block.heads % block.groups == 0 && block.conv_width >= 2 && block.conv_width <= 8;
        return block.shared_width > 0 ? "Mamba-2 whose heads share x and B has no kernel"
               : fits                 ? ""
                      : "Mamba-2 needs a head_dim that is a multiple of 16 up to 128, a state that is one up to "
                        "256, and a convolution of width 2 to 8";
    }
    std::string operator()(const Mlp& block) const {
        return block.input_width > 0 ? "a feed-forward block that reads another width than the model's has no kernel" : "";
    }
    std::string operator()(const LatentAttention& /*block*/) const { return "latent attention has no kernel"; }
    std::string operator()(const Mamba1& /*block*/) const { return "Mamba (1) has no kernel"; }
    std::string operator()(const GatedDelta& /*block*/) const { return "the gated delta rule has no kernel"; }
    std::string operator()(const MixtureOfExperts& /*block*/) const { return "a mixture of experts has no kernel"; }
    std::string operator()(const Projection& /*block*/) const { return "a projection beside the other blocks has no kernel"; }
};

bool has_bias(const BlockKind& kind) {
    const auto* attention = std::get_if<Attention>(&kind);
    const auto* mlp = std::get_if<Mlp>(&kind);
    return (attention != nullptr && (attention->qkv_bias || attention->output_bias)) || (mlp != nullptr && mlp->bias);
}

bool is_ungated(const BlockKind& kind) {
    const auto* mlp = std::get_if<Mlp>(&kind);
    return mlp != nullptr && !mlp->gated;
}

}  // namespace

std::vector<std::string> problems_of_weights(const Model& model) {
    std::vector<std::string> problems;
    const auto add = [&](const std::string& problem) {
        const std::string sentence = model.name + ": " + problem;
        if (!problem.empty() && std::find(problems.begin(), problems.end(), sentence) == problems.end()) {
            problems.push_back(sentence);
        }
    };
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            add(std::visit(BlockProblem{}, block.kind));
            add(block.norms > 1 ? "a block with several norms has no kernel" : "");
        }
    }
    if (!model.order.empty() && model.kinds[model.order.front()].blocks.front().norms == 0) {
        add("the first block has no norm");
    }
    return problems;
}

std::vector<std::string> simplifications(const Model& model) {
    bool bias = false, ungated = false, layer_norm = model.final_norm_vectors > 1;
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            bias = bias || has_bias(block.kind);
            ungated = ungated || is_ungated(block.kind);
            layer_norm = layer_norm || block.norm_vectors > block.norms;
        }
    }
    std::vector<std::string> notes;
    if (bias) {
        notes.push_back(model.name + ": biases of projections are left out");
    }
    if (ungated) {
        notes.push_back(model.name + ": the activation of ungated feed-forward blocks is x silu(x)");
    }
    if (layer_norm) {
        notes.push_back(model.name + ": layer norms run as RMS norms");
    }
    return notes;
}

NetworkWeights random_weights(const Model& model, kernels::ElementType elements, std::uint64_t seed, Memory& memory) {
    Weights weights(memory, elements, seed);
    NetworkWeights network;
    network.width = static_cast<int>(model.width);
    network.vocabulary = static_cast<int>(model.vocabulary_size);
    network.elements = elements;
    // Small beside what layers add: else, where embedding and head are one, each token would be followed by itself.
    const double embedding_gain = 0.02 * std::sqrt(static_cast<double>(model.width));
    network.head = weights.dense(model.width, model.vocabulary_size, embedding_gain);
    network.embedding =
        model.tied_embeddings ? network.head.weight : weights.dense(model.width, model.vocabulary_size, embedding_gain).weight;
    network.final_norm = weights.floats(model.width, 1.0, 0.1);

    std::map<std::pair<std::size_t, Count>, std::vector<BlockWeights>> copies;  // by kind of layer and its number
    std::map<std::size_t, Count> seen;
    for (std::size_t layer = 0; layer < model.order.size(); ++layer) {
        const LayerKind& kind = model.kinds[model.order[layer]];
        const Count occurrence = seen[model.order[layer]]++;
        const Count copy = kind.distinct_copies > 0 ? occurrence % kind.distinct_copies : occurrence;
        std::vector<BlockWeights>& blocks = copies[{model.order[layer], copy}];
        if (blocks.empty()) {
            const double gain = 1.0 / (1.0 + static_cast<double>(layer));
            for (const Block& block : kind.blocks) {
                blocks.push_back(std::visit(BlockMaker{weights, model.width, gain}, block.kind));
                blocks.back().norm = block.norms > 0 ? weights.floats(model.width, 1.0, 0.1) : nullptr;
            }
        }
        network.layer_begin.push_back(network.blocks.size());
        network.blocks.insert(network.blocks.end(), blocks.begin(), blocks.end());
    }
    network.layer_begin.push_back(network.blocks.size());
    return network;
}

NetworkWeights first_layers(NetworkWeights weights, int layers, int window, int sink) {
    weights.layer_begin.resize(static_cast<std::size_t>(layers) + 1);
    weights.blocks.resize(weights.layer_begin.back());
    for (BlockWeights& block : weights.blocks) {
        auto* attention = std::get_if<AttentionWeights>(&block.kind);
        if (attention != nullptr && window > 0) {
            attention->window = window;
            attention->sink = sink;
        }
    }
    return weights;
}

}  // namespace treeline::decoder
