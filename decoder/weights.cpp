#include "decoder/weights.h"

#include <cmath>
#include <map>

#include "decoder/random_weights.h"

namespace treeline::decoder {

NetworkWeights random_weights(const sim::Model& model, kernels::ElementType elements, std::uint64_t seed, Memory& memory) {
    RandomWeights weights(memory, elements, seed);
    NetworkWeights network;
    network.width = static_cast<int>(model.width);
    network.vocabulary = static_cast<int>(model.vocabulary_size);
    network.elements = elements;
    // Small beside what layers add: else, where embedding and head are one, each token would be followed by itself.
    const double embedding_gain = 0.02 * std::sqrt(static_cast<double>(model.width));
    network.head = weights.dense(model.width, model.vocabulary_size, embedding_gain);
    network.embedding =
        model.tied_embeddings ? network.head.weight : weights.dense(model.width, model.vocabulary_size, embedding_gain).weight;
    network.final_norm = weights.norm(model.width, model.final_norm_vectors > 1);

    std::map<std::pair<std::size_t, sim::Count>, std::vector<BlockWeights>> copies;  // by kind of layer and its number
    std::map<std::size_t, sim::Count> seen;
    for (std::size_t layer = 0; layer < model.order.size(); ++layer) {
        const sim::LayerKind& kind = model.kinds[model.order[layer]];
        const sim::Count occurrence = seen[model.order[layer]]++;
        const sim::Count copy = kind.distinct_copies > 0 ? occurrence % kind.distinct_copies : occurrence;
        std::vector<BlockWeights>& blocks = copies[{model.order[layer], copy}];
        if (blocks.empty()) {
            const double gain = 1.0 / (1.0 + static_cast<double>(layer));
            for (const sim::Block& block : kind.blocks) {
                blocks.push_back(weights.block(block, model.width, gain));
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
