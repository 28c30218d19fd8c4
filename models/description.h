// Our own description of a model: one JSON object that says what the layers are and in which order they run (models/README.md).
#pragma once

#include "json/reader.h"
#include "sim/model.h"

namespace treeline::models {

/// Layers for multi-token prediction that a checkpoint can ship.
constexpr sim::Count most_mtp_layers = 64;
/// Longest context that a description may state, in tokens (Llama 4 Scout: 10,485,760).
constexpr sim::Count longest_context = 1 << 26;

/// Reads a description. Problems (and the sources of published totals) are left in the reader's document; the model returned is
/// only fit for use when the document has none.
sim::Model read_model_description(json::Reader& root);

/// Where a checkpoint is published, in which other formats, and for how many tokens it is made: keys that a description and an
/// alias share.
void read_publication(json::Reader& root, sim::Model& model);

/// Reads one block of a layer: an object with exactly one key that names its kind ("attention", "mamba2", ...) and, where they
/// differ from one per block, "norms" and "norm_vectors". `vectors_per_norm` is 1 for RMSNorm and 2 for LayerNorm.
sim::Block read_block(json::Reader& block, sim::Count vectors_per_norm);

}  // namespace treeline::models
