// Collects the blocks of one layer of a GGUF file, and which of its weights they hold.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "models/gguf/layer.h"

namespace treeline::models::gguf {

class LayerBuilder {
public:
    LayerBuilder(const LayerTensors& tensors, const ModelFacts& facts, std::size_t number)
        : tensors_(tensors), facts_(facts), number_(number) {}

    void mixers();
    void feed_forward();
    /// Matrices that none of the blocks holds, as plain linear layers.
    void others();

    ImportedLayer result;

private:
    /// Weights that belong to an operation; those that are not there are left out.
    void take(const std::string& operation, std::initializer_list<std::string_view> names);
    void add(const sim::BlockKind& kind, const char* name, sim::Count norms);
    /// Vectors of the model's width by which the residual stream is normalised, of those whose names begin so.
    [[nodiscard]] sim::Count norms(std::initializer_list<std::string_view> starts) const;
    [[nodiscard]] const Tensor* find(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    /// Rows and columns of a matrix, which are what it puts out and takes in; 0 without it.
    [[nodiscard]] sim::Count outputs(std::string_view name) const;
    [[nodiscard]] sim::Count inputs(std::string_view name) const;

    sim::Attention attention();
    sim::LatentAttention latent_attention();
    sim::Mamba1 mamba1();
    sim::Mamba2 mamba2();
    sim::GatedDelta gated_delta();
    /// Of latent attention, or beside grouped heads, whose projection yields what an indexer reads, too.
    std::optional<sim::SparseIndexer> indexer(bool beside_heads);
    [[nodiscard]] sim::ContextReach reach() const;
    void query_and_key_heads(sim::Attention& attention);

    const LayerTensors& tensors_;
    const ModelFacts& facts_;
    std::size_t number_;
    std::set<std::string> taken_;
};

}  // namespace treeline::models::gguf
