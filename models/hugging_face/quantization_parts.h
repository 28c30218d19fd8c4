// What readers of quantisation configs share, and those of formats of local engines.
#pragma once

#include <string>
#include <vector>

#include "models/hugging_face/family.h"
#include "models/hugging_face/quantization.h"

namespace treeline::models::hugging_face {

/// Groups of weights are no longer than this.
inline constexpr sim::Count largest_group = 1 << 20;

/// Integers of any width; those that no units have are unpacked to the next wider ones.
sim::Storage integers_of(double bits, double group_size, double scale_bits);

/// Adds a pattern of modules; one that is not understood becomes a note.
void add_pattern(ModulePatterns& patterns, const std::string& pattern, const StoredFormat& format, sim::Model& model);

/// What mlx_lm.convert writes: every matrix alike, embeddings among them, but for modules with an entry of their own.
void read_mlx(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model);

/// ExLlamaV3: so many bits a weight in the mean, and in the LM head.
void read_exl3(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model);

/// Methods of few words, and what they say of all linear layers.
const std::vector<std::string>& further_methods();
void read_further(const std::string& method, Reader& config, sim::NumberFormat base, Quantization& result);

}  // namespace treeline::models::hugging_face
