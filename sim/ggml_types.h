// Types in which llama.cpp stores tensors (ggml/include/ggml.h, ggml/src/ggml-common.h), and what a file of each quantisation
// that it writes holds (src/llama-quant.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/precision.h"

namespace treeline::sim {

/// A block of elements that share scales, and the format that kernels compute in.
struct GgmlType {
    std::string_view name;  ///< as llama.cpp prints it, in small letters ("q4_k")
    std::uint32_t id = 0;   ///< in the header of a file
    double block_elements = 1.0, block_bytes = 0.0;
    NumberFormat format = NumberFormat::int8;  ///< nearest one of ours
    double unpacking = 0.0;                    ///< Storage::unpacking

    [[nodiscard]] double bits() const { return 8.0 * block_bytes / block_elements; }
    /// Blocks of integers are multiplied with activations that are quantised to 8 bits on the way.
    [[nodiscard]] bool is_quantised() const { return block_elements > 1.0; }
    [[nodiscard]] NumberFormat math() const { return is_quantised() ? NumberFormat::int8 : format; }
    [[nodiscard]] Storage storage() const;
};

std::span<const GgmlType> ggml_types();
/// Null for a number that no known type has.
const GgmlType* ggml_type_of(std::uint32_t id);
const GgmlType* ggml_type_named(std::string_view name);

/// What files of that quantisation hold: every matrix in blocks with scales, some in wider types as llama-quantize mixes them
/// for a model without oddities (queries in groups of four or more, an importance matrix where 1 to 3 bits need one), where a
/// type of some layers counts as their mean; routers in fp32, key-value cache and activations in fp16. "ud-" names Unsloth's
/// mixtures, which differ by model: theirs are those of the plain name with attention, head and embeddings a step wider.
std::optional<Precision> gguf_precision(std::string_view name);
/// The names that it takes.
std::vector<std::string> gguf_names();

}  // namespace treeline::sim
