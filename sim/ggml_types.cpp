#include "sim/ggml_types.h"

#include <algorithm>
#include <array>

namespace treeline::sim {
namespace {

using enum NumberFormat;

// What unpacking adds is derived from the table of Llama-3.1-8B in tools/quantize/README.md of llama.cpp, whose F16 row is that
// of an M4 Max: times of all types with 4 bits and more lie within 0.5 ms of what their bytes take, those of Q2_K, Q3_K and of
// types with code books 1.2, 2.7 and 3.2 to 5.3 ms above, at 8.03 billion weights and 18 TFLOP/s of its vector units.
constexpr double of_two_bits = 3.0, of_three_bits = 6.0, of_code_books = 8.0, of_one_bit = 10.0, of_mixed_scales = 12.0;

constexpr std::array<GgmlType, 45> types = {{
    {"f32", 0, 1, 4, fp32, 0},
    {"f16", 1, 1, 2, fp16, 0},
    {"bf16", 30, 1, 2, bf16, 0},
    {"q4_0", 2, 32, 18, int4, 0},
    {"q4_1", 3, 32, 20, int4, 0},
    {"q5_0", 6, 32, 22, int8, 0},
    {"q5_1", 7, 32, 24, int8, 0},
    {"q8_0", 8, 32, 34, int8, 0},
    {"q2_k", 10, 256, 84, int4, of_two_bits},
    {"q3_k", 11, 256, 110, int4, of_three_bits},
    {"q4_k", 12, 256, 144, int4, 0},
    {"q5_k", 13, 256, 176, int8, 0},
    {"q6_k", 14, 256, 210, int8, 0},
    {"iq2_xxs", 16, 256, 66, int4, of_code_books},
    {"iq2_xs", 17, 256, 74, int4, of_code_books},
    {"iq3_xxs", 18, 256, 98, int4, of_code_books},
    {"iq1_s", 19, 256, 50, int4, of_one_bit},
    {"iq4_nl", 20, 32, 18, int4, 0},
    {"iq3_s", 21, 256, 110, int4, of_code_books},
    {"iq2_s", 22, 256, 82, int4, of_code_books},
    {"iq4_xs", 23, 256, 136, int4, 0},
    {"iq1_m", 29, 256, 56, int4, of_mixed_scales},
    {"tq1_0", 34, 256, 54, int4, 0},
    {"tq2_0", 35, 256, 66, int4, 0},
    {"mxfp4", 39, 32, 17, fp4, 0},
    {"nvfp4", 40, 64, 36, fp4, 0},
    {"q1_0", 41, 128, 18, int4, 0},  // a sign of each weight and a scale: QK1_0 and QK2_0 of ggml-common.h
    {"q2_0", 42, 64, 18, int4, 0},
    {"i8", 24, 1, 1, int8, 0},
    {"i32", 26, 1, 4, fp32, 0},
    // Of ik_llama.cpp, whose kernels are taken for those of the K types of their width; scales of whole rows are left out.
    {"q6_0", 133, 32, 26, int8, 0},
    {"iq2_k", 137, 256, 76, int4, of_two_bits},
    {"iq3_k", 138, 256, 110, int4, of_three_bits},
    {"iq4_k", 139, 256, 144, int4, 0},
    {"iq5_k", 140, 256, 176, int8, 0},
    {"iq6_k", 141, 256, 212, int8, 0},
    {"iq4_ks", 144, 256, 136, int4, 0},
    {"iq2_ks", 145, 256, 70, int4, of_two_bits},
    {"iq4_kss", 146, 256, 128, int4, 0},
    {"iq5_ks", 152, 256, 168, int8, 0},
    {"iq2_kt", 153, 256, 68, int4, of_code_books},
    {"iq3_kt", 154, 256, 100, int4, of_code_books},
    {"iq4_kt", 155, 256, 128, int4, of_code_books},
    {"iq3_ks", 156, 256, 102, int4, of_three_bits},
    {"iq2_kl", 157, 256, 86, int4, of_two_bits},
}};

/// ik_llama.cpp's types with rows interleaved (Q4_K_R4) are those without, counted from here.
constexpr std::uint32_t interleaved = 200;

/// A type, and a wider one in some of the layers.
struct Part {
    std::string_view type;
    std::string_view wider = {};
    double share = 0.0;
};

/// Types of a file: `base` unless a part says otherwise. `value` is the third matrix of attention, a sixth of all three with
/// queries in groups of four.
struct Mixture {
    std::string_view name, base, embeddings, head;
    Part value, output, down;
    std::string_view experts = {};  ///< where they alone are so
};

// Shares follow llama-quant.cpp: use_more_bits takes half of the layers, "the first eighth" an eighth.
constexpr std::array<Mixture, 36> mixtures = {{
    {"f16", "f16", "f16", "f16", {"f16"}, {"f16"}, {"f16"}},
    {"q8_0", "q8_0", "q8_0", "q8_0", {"q8_0"}, {"q8_0"}, {"q8_0"}},
    {"q6_k", "q6_k", "q6_k", "q6_k", {"q6_k"}, {"q6_k"}, {"q6_k"}},
    {"q5_k_m", "q5_k", "q5_k", "q6_k", {"q5_k", "q6_k", 0.5}, {"q5_k"}, {"q5_k", "q6_k", 0.5}},
    {"q5_k_s", "q5_k", "q5_k", "q6_k", {"q5_k"}, {"q5_k"}, {"q5_k"}},
    {"q5_0", "q5_0", "q5_0", "q6_k", {"q5_0"}, {"q5_0"}, {"q5_0"}},
    {"q5_1", "q5_1", "q5_1", "q6_k", {"q5_1"}, {"q5_1"}, {"q5_1"}},
    {"q4_k_m", "q4_k", "q4_k", "q6_k", {"q4_k", "q6_k", 0.5}, {"q4_k"}, {"q4_k", "q6_k", 0.5}},
    {"q4_k_s", "q4_k", "q4_k", "q6_k", {"q4_k", "q5_k", 0.125}, {"q4_k"}, {"q4_k", "q5_k", 0.125}},
    {"q4_0", "q4_0", "q4_0", "q6_k", {"q4_0"}, {"q4_0"}, {"q4_0"}},
    {"q4_1", "q4_1", "q4_1", "q6_k", {"q4_1"}, {"q4_1"}, {"q4_1"}},
    {"q3_k_l", "q3_k", "q3_k", "q6_k", {"q5_k"}, {"q5_k"}, {"q5_k"}},
    {"q3_k_m", "q3_k", "q3_k", "q6_k", {"q4_k", "q5_k", 0.0625}, {"q4_k"}, {"q4_k", "q5_k", 0.0625}},
    {"q3_k_s", "q3_k", "q3_k", "q6_k", {"q3_k"}, {"q3_k"}, {"q3_k"}},
    {"q2_k", "q2_k", "q2_k", "q6_k", {"q4_k"}, {"q3_k"}, {"q3_k"}},
    {"q2_k_s", "q2_k", "q2_k", "q6_k", {"q4_k"}, {"q2_k"}, {"q2_k", "q4_k", 0.125}},
    {"iq4_nl", "iq4_nl", "iq4_nl", "q6_k", {"q5_k"}, {"iq4_nl"}, {"iq4_nl"}},
    {"iq4_xs", "iq4_xs", "iq4_xs", "q6_k", {"q5_k"}, {"iq4_xs"}, {"iq4_xs"}},
    {"iq3_m", "iq3_s", "iq3_s", "q6_k", {"q4_k"}, {"q4_k"}, {"iq3_s", "q4_k", 0.125}},
    {"iq3_s", "iq3_s", "iq3_s", "q6_k", {"q4_k"}, {"iq3_s"}, {"iq3_s"}},
    {"iq3_xs", "iq3_xxs", "iq3_s", "q6_k", {"q4_k"}, {"iq3_s"}, {"iq3_s"}},
    {"iq3_xxs", "iq3_xxs", "iq3_s", "q5_k", {"q4_k"}, {"iq3_s"}, {"iq3_xxs"}},
    {"iq2_m", "iq2_s", "iq3_s", "q5_k", {"q4_k"}, {"iq3_s"}, {"iq2_s", "iq3_s", 0.125}},
    {"iq2_s", "iq2_xs", "iq3_s", "q5_k", {"q4_k"}, {"iq3_s"}, {"iq2_xs", "iq3_s", 0.125}},
    {"iq2_xs", "iq2_xs", "q2_k", "q5_k", {"q4_k"}, {"iq2_xs"}, {"iq2_xs", "q2_k", 0.125}},
    {"iq2_xxs", "iq2_xxs", "q2_k", "q5_k", {"q4_k"}, {"iq2_xxs"}, {"iq2_xxs", "q2_k", 0.125}},
    {"iq1_m", "iq1_m", "q2_k", "q5_k", {"q4_k"}, {"iq2_xxs"}, {"iq1_m", "q2_k", 0.125}},
    {"iq1_s", "iq1_s", "q2_k", "q5_k", {"q4_k"}, {"iq2_xxs"}, {"iq1_s", "q2_k", 0.125}},
    {"tq1_0", "tq1_0", "q4_k", "q6_k", {"tq1_0"}, {"tq1_0"}, {"tq1_0"}},
    {"tq2_0", "tq2_0", "q4_k", "q6_k", {"tq2_0"}, {"tq2_0"}, {"tq2_0"}},
    // As published for models trained so (Bonsai-8B: 1.15 GB), whose embeddings and LM head are of the type, too.
    {"q1_0", "q1_0", "q1_0", "q1_0", {"q1_0"}, {"q1_0"}, {"q1_0"}},
    {"q2_0", "q2_0", "q2_0", "q2_0", {"q2_0"}, {"q2_0"}, {"q2_0"}},
    {"mxfp4_moe", "q8_0", "q8_0", "q8_0", {"q8_0"}, {"q8_0"}, {"q8_0"}, "mxfp4"},
    {"nvfp4_moe", "q8_0", "q8_0", "q8_0", {"q8_0"}, {"q8_0"}, {"q8_0"}, "nvfp4"},
    {"ud-q8_k_xl", "q8_0", "f16", "f16", {"f16"}, {"f16"}, {"q8_0"}},
    {"ud-q6_k_xl", "q6_k", "q8_0", "q8_0", {"q8_0"}, {"q8_0"}, {"q6_k"}},
}};

/// Of other mixtures of Unsloth: the plain one, and the type a step above its base.
struct WiderMixture {
    std::string_view name, plain, wider;
};
constexpr std::array<WiderMixture, 12> wider_mixtures = {{
    {"ud-q5_k_xl", "q5_k_m", "q6_k"},
    {"ud-q4_k_xl", "q4_k_m", "q5_k"},
    {"ud-q3_k_xl", "q3_k_m", "q4_k"},
    {"ud-q2_k_xl", "q2_k", "q4_k"},
    {"ud-iq4_xs", "iq4_xs", "q5_k"},
    {"ud-iq3_s", "iq3_s", "q4_k"},
    {"ud-iq3_xxs", "iq3_xxs", "q4_k"},
    {"ud-iq2_m", "iq2_m", "q4_k"},
    {"ud-iq2_xxs", "iq2_xxs", "q4_k"},
    {"ud-iq1_m", "iq1_m", "q4_k"},
    {"ud-iq1_s", "iq1_s", "q4_k"},
    {"ud-q4_k_s", "q4_k_s", "q5_k"},
}};

bool is_of_ik(const GgmlType& type) { return type.id >= 133; }

/// Files of one of ik_llama.cpp's types are mixed by hand: by name alone all matrices are of it, embeddings and LM head of the
/// types most often chosen.
Mixture pure(const GgmlType& type) {
    return {type.name, type.name, type.bits() < 5.0 ? "iq4_k" : type.name, "iq6_k", {type.name}, {type.name}, {type.name}};
}

/// `part` of `more`, the rest as `storage` says.
Storage mixed(const Storage& storage, const Storage& more, double part) {
    Storage mean = storage;
    mean.bits = storage.element_bits() + part * (more.element_bits() - storage.element_bits());
    mean.unpacking += part * (more.unpacking - storage.unpacking);
    return mean;
}

Storage stored(std::string_view type) { return ggml_type_named(type)->storage(); }

Storage stored(const Part& part) {
    return part.share > 0.0 ? mixed(stored(part.type), stored(part.wider), part.share) : stored(part.type);
}

Precision precision_of(const Mixture& mixture) {
    constexpr double share_of_values = 1.0 / 6.0, share_of_down = 1.0 / 3.0;
    const GgmlType& base = *ggml_type_named(mixture.base);
    Precision precision = uniform_precision(fp16);
    precision.state = Storage{fp32};
    precision.weights = base.storage();
    precision.embeddings = stored(mixture.embeddings);
    const Storage down = stored(mixture.down);
    precision.experts = mixture.experts.empty() ? mixed(precision.weights, down, share_of_down) : stored(mixture.experts);
    precision.math = base.math();
    if (!base.is_quantised()) {
        return precision;
    }
    const auto add = [&](const char* operation, const Storage& storage, const Storage& otherwise) {
        if (!(storage == otherwise)) {
            precision.exceptions.push_back({operation, storage, storage.format == fp16 ? fp16 : int8});
        }
    };
    add("LM head", stored(mixture.head), precision.embeddings);
    add("qkv projection", mixed(precision.weights, stored(mixture.value), share_of_values), precision.weights);
    add("output projection", stored(mixture.output), precision.weights);
    add("down projection", down, precision.weights);
    add("shared expert down projection", down, precision.weights);
    precision.exceptions.push_back({"router", Storage{fp32}, fp32});
    return precision;
}

}  // namespace

Storage GgmlType::storage() const {
    Storage stored_so{format};
    stored_so.bits = bits() == bits_of(format) ? 0.0 : bits();
    stored_so.unpacking = unpacking;
    stored_so.block = block_elements > 128.0 ? block_elements : 0.0;
    return stored_so;
}

std::span<const GgmlType> ggml_types() { return types; }

const GgmlType* ggml_type_of(std::uint32_t id) {
    const auto found = std::find_if(types.begin(), types.end(), [&](const GgmlType& type) {
        return type.id == id || (type.is_quantised() && type.id + interleaved == id);
    });
    return found == types.end() ? nullptr : &*found;
}

const GgmlType* ggml_type_named(std::string_view name) {
    const auto found = std::find_if(types.begin(), types.end(), [&](const GgmlType& type) { return type.name == name; });
    return found == types.end() ? nullptr : &*found;
}

std::optional<Precision> gguf_precision(std::string_view name) {
    const auto named = [](std::string_view wanted) { return [wanted](const auto& mixture) { return mixture.name == wanted; }; };
    if (const auto found = std::find_if(mixtures.begin(), mixtures.end(), named(name)); found != mixtures.end()) {
        return precision_of(*found);
    }
    const auto wider = std::find_if(wider_mixtures.begin(), wider_mixtures.end(), named(name));
    if (wider == wider_mixtures.end()) {
        const GgmlType* type = ggml_type_named(name);
        return type != nullptr && is_of_ik(*type) ? std::optional(precision_of(pure(*type))) : std::nullopt;
    }
    Mixture mixture = *std::find_if(mixtures.begin(), mixtures.end(), named(wider->plain));
    mixture.value = mixture.output = {wider->wider};
    mixture.embeddings = mixture.head = "q6_k";
    return precision_of(mixture);
}

std::vector<std::string> gguf_names() {
    std::vector<std::string> names;
    for (const Mixture& mixture : mixtures) {
        if (mixture.name != "f16") {  // a format of ours
            names.emplace_back(mixture.name);
        }
    }
    for (const WiderMixture& mixture : wider_mixtures) {
        names.emplace_back(mixture.name);
    }
    for (const GgmlType& type : types) {
        if (is_of_ik(type)) {
            names.emplace_back(type.name);
        }
    }
    return names;
}

}  // namespace treeline::sim
