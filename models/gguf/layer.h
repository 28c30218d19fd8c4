// What the tensors of one layer of a GGUF file say of its blocks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/gguf/header.h"
#include "sim/model.h"

namespace treeline::models::gguf {

/// Tensors of a layer by what follows "blk.7." in their names.
using LayerTensors = std::map<std::string, const Tensor*, std::less<>>;

/// What is stated of the whole model.
struct ModelFacts {
    const Metadata& metadata;
    std::string architecture;  ///< "qwen3moe": the start of its keys
    sim::Count width = 0;

    [[nodiscard]] std::optional<double> number(std::string_view key) const;
    [[nodiscard]] std::optional<double> number(std::string_view key, std::size_t layer) const;
    /// 0 where it is not stated, negative or too large for a count.
    [[nodiscard]] sim::Count count(std::string_view key, std::size_t layer = 0) const;
};

struct ImportedLayer {
    std::vector<sim::Block> blocks;
    std::string name;                                              ///< "attention, experts"
    std::string structure;                                         ///< the same for layers of one kind
    std::map<std::string, std::vector<const Tensor*>> operations;  ///< weights by the operation that reads them
    std::vector<std::string> others;                               ///< weights that are priced as plain linear layers
    std::string problem;                                           ///< why the layer cannot be priced
};

ImportedLayer import_layer(const LayerTensors& tensors, const ModelFacts& facts, std::size_t layer);

}  // namespace treeline::models::gguf
