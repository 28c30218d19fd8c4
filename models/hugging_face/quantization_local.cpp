// Quantisation of MLX and of ExLlamaV3, and what readers of all methods share.
#include <nlohmann/json.hpp>

#include "models/hugging_face/quantization_parts.h"

namespace treeline::models::hugging_face {

namespace {

using enum sim::NumberFormat;

}  // namespace

sim::Storage integers_of(double bits, double group_size, double scale_bits) {
    sim::Storage storage{bits > 4.0 ? int8 : int4, group_size, scale_bits};
    storage.bits = bits == sim::bits_of(storage.format) ? 0.0 : bits;
    return storage;
}

void add_pattern(ModulePatterns& patterns, const std::string& pattern, const StoredFormat& format, sim::Model& model) {
    if (!patterns.add(pattern, format)) {
        model.notes.push_back("The quantisation config's pattern \"" + pattern + "\" is not understood and is left out.");
    }
}

namespace {

/// A module of MLX: groups of integers with a 16-bit scale and a 16-bit offset, or a block format by its mode.
sim::Storage mlx_storage(Reader& at) {
    constexpr double scale_and_offset = 32.0;
    const std::string mode = at.text_or("mode", "affine");
    const auto group = static_cast<double>(at.count_or("group_size", 64, 1, largest_group));
    if (mode == "mxfp4" || mode == "nvfp4") {
        return {fp4, mode == "mxfp4" ? 32.0 : 16.0, 8.0};
    }
    return mode == "mxfp8" ? sim::Storage{fp8, 32.0, 8.0}
                           : integers_of(static_cast<double>(at.count("bits", 2, 8)), group, scale_and_offset);
}

}  // namespace

void read_mlx(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    const sim::Storage usual = mlx_storage(config);
    result.linear = StoredFormat{usual, base};
    result.lm_head = true;
    result.embeddings = usual;
    for (const std::string& name : config.keys()) {
        const auto& value = config.raw().at(name);
        if (value.is_object()) {
            Reader own = config.object(name);
            add_pattern(result.named, name, {mlx_storage(own), base}, model);
        } else if (value.is_boolean() && !value.get<bool>()) {
            add_pattern(result.excluded, name, {}, model);
        }
    }
}

void read_exl3(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    result.linear = StoredFormat{integers_of(config.number("bits", 1.0, 8.0), 0.0, 16.0), base};
    add_pattern(result.named, "lm_head", {integers_of(config.number_or("head_bits", 6.0, 1.0, 16.0), 0.0, 16.0), base}, model);
}

}  // namespace treeline::models::hugging_face
