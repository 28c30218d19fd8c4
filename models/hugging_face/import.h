// Import of Hugging Face config.json files (and of mamba_ssm and MambaInLlama configs, which have no model_type).
//
// Keys that the importer does not need are ignored: a config holds much that costs nothing. Keys that it needs are required,
// and absurd values are refused. What a description cannot hold becomes a note of the model, shown to the user.
#pragma once

#include <string>
#include <vector>

#include "json/reader.h"
#include "sim/model.h"

namespace treeline::models {

/// True when the object has the keys by which the formats above are told from our own.
bool looks_like_hugging_face(const json::Reader& root);

/// The model behind a config. `name` is what the user calls it. Problems are left in the reader's document, one sentence each;
/// an architecture that is not known is a problem that says what to do next. `quantization_file` is the root of an
/// hf_quant_config.json that lies beside the config, null where there is none.
sim::Model import_hugging_face(json::Reader& root, const std::string& name, json::Reader* quantization_file = nullptr);

/// Names of the architectures that can be imported, in alphabetical order.
std::vector<std::string> known_architectures();

/// The tokenizer that models of this type and vocabulary size use, as catalogue descriptions name it ("llama-3"); a name made
/// of both where it is not known. Inferred: a config does not name its tokenizer.
std::string inferred_vocabulary(const std::string& model_type, sim::Count vocabulary_size);

/// Sets the model's precision from `dtype`/`torch_dtype` and `quantization_config`, looked up in `text` (the language model's
/// part) and then in `root`, or from the file beside the config. Layers of one kind that are stored in different formats become
/// kinds of their own.
void import_precision(json::Reader& root, json::Reader& text, json::Reader* quantization_file, sim::Model& model);

}  // namespace treeline::models
