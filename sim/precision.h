// Number formats, and the bytes that a stored element takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/units.h"

namespace treeline::sim {

enum class NumberFormat { fp32, bf16, fp16, fp8, int8, int4, fp4 };
/// As users write them.
constexpr auto names_in(NumberFormat) {
    using enum NumberFormat;
    return enum_names<NumberFormat>(
        {{fp32, "fp32"}, {bf16, "bf16"}, {fp16, "fp16"}, {fp8, "fp8"}, {int8, "int8"}, {int4, "int4"}, {fp4, "fp4"}});
}
inline constexpr auto all_number_formats = values_of<NumberFormat>();

/// Bits of one element, without its share of a group's scale.
double bits_of(NumberFormat format);

/// How one kind of tensor is stored: a format and, where elements share a scale, the group size and the width of that scale.
struct Storage {
    NumberFormat format = NumberFormat::bf16;
    double group_size = 0.0;   ///< elements that share one scale; 0 = no scales (or one per tensor, which is free here)
    double scale_bits = 16.0;  ///< bits of one scale (16 for fp16 scales, 8 for MX and NVFP4 block scales)
    double bits = 0.0;         ///< of an element where they are not those of the format that it is computed in; 0 = they are
    /// Operations of vector units on each element that kernels for few rows do not hide (types of llama.cpp with code books).
    double unpacking = 0.0;
    double block = 0.0;  ///< elements of a block that holds scales of scales (K types of llama.cpp); 0 = none does

    /// Bytes of one element, its share of the scale included: (bits + scale_bits / group_size) / 8.
    [[nodiscard]] Bytes per_element() const;
    /// Bits of one element without scales.
    [[nodiscard]] double element_bits() const;

    friend bool operator==(const Storage&, const Storage&) = default;
};

/// The weights of an operation that a checkpoint stores differently from others of its kind.
struct WeightException {
    std::string operation;  ///< as in sim/operation.h ("decoder: down projection"); without a layer: in every layer
    Storage storage;
    NumberFormat math = NumberFormat::bf16;  ///< format in which its products run

    friend bool operator==(const WeightException&, const WeightException&) = default;
};

/// Storage of each kind of tensor: w, e, c, z of docs/cost-model.md, with w split as checkpoints do.
struct Precision {
    Storage weights;
    Storage experts;     ///< routed experts, often narrower than the rest of the weights
    Storage embeddings;  ///< embedding table and LM head, which quantised checkpoints usually leave at 16 bits
    Storage activations;
    Storage kv_cache;
    Storage state{NumberFormat::fp32};  ///< recurrent (SSM) state
    /// Format in which products with quantised weights run: that of the weights, or a wider one where they are widened first
    /// (weight-only quantisation).
    NumberFormat math = NumberFormat::bf16;
    /// For mixed-precision checkpoints; the first entry that names an operation applies.
    std::vector<WeightException> exceptions = {};

    friend bool operator==(const Precision&, const Precision&) = default;
};

/// All tensors stored in one format without scales, recurrent state too; matrix products run in it.
Precision uniform_precision(NumberFormat format);

/// What checkpoints of that name hold. fp32, bf16, fp16: everything but the recurrent state (fp32) in it. Narrower formats:
/// weights of linear layers and experts alone, with the scales that are usual (NVFP4: 8 bits for 16 elements; GPTQ and AWQ: 16
/// bits for 128; fp8 and int8: one per tensor, channel or large block, which is free here); their products run in the same
/// format, those of int4 in `wide`. Embeddings, LM head, norms, activations and the key-value cache stay in `wide`, a format of
/// 16 bits or more.
Precision checkpoint_precision(NumberFormat format, NumberFormat wide);

/// The same with MXFP4: 8 bits for 32 elements.
Precision mxfp4_precision(NumberFormat wide);

/// The same in fp8 with a scale of 32 bits for each block of 128 × 128 elements (DeepSeek-V3, Qwen3-FP8).
Precision block_fp8_precision(NumberFormat wide);

/// What MLX writes (mlx_lm.convert): every matrix, embeddings among them, in groups with a 16-bit scale and a 16-bit offset;
/// products in `wide`. Integers of 2, 3, 4, 5, 6 or 8 bits.
Precision mlx_precision(double bits, double group_size, NumberFormat wide);

/// What ExLlamaV3 writes: so many bits a weight in the mean, 6 bits in the LM head, embeddings left alone; products in `wide`.
Precision exl3_precision(double bits, NumberFormat wide);

/// Format of products with weights stored so: `math`, or that of the weights where it is wider (layers that a quantised
/// checkpoint leaves alone).
NumberFormat product_format(const Storage& weights, const Precision& precision);

/// Format of attention's products: that of the cache. Integers are widened to the activations first, and fp4 to fp8 (no
/// attention kernel computes in either).
NumberFormat attention_format(const Precision& precision);

/// How the weights of one operation are stored, and the format of its products.
struct WeightFormat {
    Storage storage;
    NumberFormat math = NumberFormat::bf16;
};

/// Of an operation ("decoder: down projection"): its exception, or else the storage of weights of its `kind`.
WeightFormat weight_format(const Precision& precision, std::string_view operation, const Storage& kind);

/// Every violated constraint as a sentence; empty when the precision is usable.
std::vector<std::string> problems_of(const Precision& precision);

}  // namespace treeline::sim
