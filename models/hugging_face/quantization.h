// How a checkpoint's weights are quantised: what its config says, and what that means for the operations of a model.
#pragma once

#include <optional>
#include <string>

#include "json/reader.h"
#include "models/hugging_face/module_patterns.h"
#include "sim/model.h"

namespace treeline::models::hugging_face {

/// What a quantisation config says. Modules are looked up in this order: named, excluded, all linear layers.
struct Quantization {
    ModulePatterns named;                ///< modules with a format of their own
    ModulePatterns excluded;             ///< modules that stay as they are
    std::optional<StoredFormat> linear;  ///< all linear layers of the decoder
    bool lm_head = false;                ///< "all linear layers" holds for the LM head, too
    std::optional<sim::Storage> kv_cache;
    std::optional<sim::Storage> embeddings;  ///< where they are quantised, too
};

/// Reads a `quantization_config`, or a whole hf_quant_config.json: fp8 (with blocks or without), MXFP4, compressed-tensors,
/// ModelOpt (groups, one algorithm, or one a layer), GPTQ, AWQ, AutoRound, bitsandbytes, Quark, MLX's, exl3. `base` is the
/// format of weights that are not quantised. Other methods are problems of the reader; what a config leaves open becomes a note
/// of the model.
Quantization read_quantization(json::Reader& config, sim::NumberFormat base, sim::Model& model);

/// Sets weights, experts, embeddings, math and exceptions of the model's precision. Layers of one kind that are stored in
/// different formats become kinds of their own.
void apply_quantization(const Quantization& quantization, sim::NumberFormat base, sim::Model& model);

}  // namespace treeline::models::hugging_face
