// What files of llama.cpp's quantisations hold.
#include "sim/ggml_types.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "setups.h"
#include "sim/kernel_pricing.h"
#include "sim/operations.h"
#include "sim/pass.h"

namespace ggml_types_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

TEST_CASE("GGUF files hold as many bits a weight as llama.cpp says") {
    CHECK(ggml_type_named("q8_0")->bits() == 8.5);     // block_q8_0: 34 bytes for 32
    CHECK(ggml_type_named("q6_k")->bits() == 6.5625);  // block_q6_K: 210 bytes for 256
    CHECK(ggml_type_named("q4_k")->bits() == 4.5);     // block_q4_K: 144 bytes for 256
    CHECK(ggml_type_of(39)->name == "mxfp4");          // GGML_TYPE_MXFP4
    CHECK(ggml_type_of(41)->bits() == 1.125);          // block_q1_0: 18 bytes for 128
    CHECK(ggml_type_of(42)->bits() == 2.25);           // block_q2_0: 18 bytes for 64
    CHECK(gguf_precision("q1_0")->embeddings == ggml_type_named("q1_0")->storage());
    CHECK(ggml_type_named("q1_0")->storage().block == 0.0);  // one scale, and none of scales
    CHECK(ggml_type_of(139)->name == "iq4_k");               // of ik_llama.cpp
    CHECK(ggml_type_of(339)->name == "iq4_k");               // with rows interleaved
    CHECK(ggml_type_of(223)->name == "iq4_xs");
    CHECK(ggml_type_of(199) == nullptr);
    const Precision q4 = *gguf_precision("q4_k_m");
    CHECK(weight_format(q4, "output: LM head", q4.embeddings).storage.per_element().value() * 8.0 == 6.5625);
    CHECK(weight_format(q4, "decoder: down projection", q4.weights).math == NumberFormat::int8);
    CHECK(weight_format(q4, "decoder: router", q4.weights).storage == Storage{NumberFormat::fp32});
    CHECK(!gguf_precision("q4_k_n"));
}

TEST_CASE("files of Llama-3.1-8B are as large as in llama.cpp's table") {
    // tools/quantize/README.md, GiB of each type. Shares of layers that are counted in the mean differ by a per cent or two.
    struct Row {
        const char* name;
        double size;
    };
    const Model llama = model("llama-3.1-8b");
    for (const Row& row :
         {Row{"iq1_s", 1.87}, {"iq1_m", 2.01},  {"iq2_xxs", 2.23}, {"iq2_xs", 2.42}, {"iq2_s", 2.56},  {"iq2_m", 2.74},
          {"iq3_xxs", 3.04},  {"iq3_xs", 3.27}, {"iq3_s", 3.42},   {"iq3_m", 3.52},  {"iq4_xs", 4.17}, {"iq4_nl", 4.38},
          {"q2_k_s", 2.78},   {"q2_k", 2.95},   {"q3_k_s", 3.41},  {"q3_k_l", 4.02}, {"q4_k_s", 4.36}, {"q4_k_m", 4.58},
          {"q5_k_s", 5.21},   {"q5_k_m", 5.33}, {"q6_k", 6.14},    {"q8_0", 7.95}}) {
        INFO(row.name);
        CHECK(stored_weights(llama, *gguf_precision(row.name), 1.0).value() / (1u << 30) == Approx(row.size).epsilon(0.02));
    }
}

TEST_CASE("layers of two types hold the mean of their bits, and take the mean of their unpacking") {
    const auto of = [](const char* type) { return ggml_type_named(type)->storage(); };
    const Storage iq2_s = of("iq2_s"), iq3_s = of("iq3_s"), q4_k = of("q4_k");
    REQUIRE(iq2_s.unpacking != q4_k.unpacking);
    const Precision iq2_m = *gguf_precision("iq2_m");
    const auto check = [&](const char* layer, const Storage& base, const Storage& wider, double part) {
        const Storage stored = weight_format(iq2_m, layer, iq2_m.weights).storage;
        CHECK(stored.unpacking == Approx((1.0 - part) * base.unpacking + part * wider.unpacking));
        CHECK(stored.element_bits() == Approx((1.0 - part) * base.element_bits() + part * wider.element_bits()));
    };
    check("decoder: qkv projection", iq2_s, q4_k, 1.0 / 6.0);    // values, of queries four times as wide
    check("decoder: down projection", iq2_s, iq3_s, 1.0 / 8.0);  // in an eighth of the layers
    check("decoder: output projection", iq3_s, iq3_s, 0.5);
    check("decoder: up projection", iq2_s, iq2_s, 0.5);
}

TEST_CASE("a mixture's experts in MXFP4 alone") {
    const Precision moe = *gguf_precision("mxfp4_moe");
    CHECK(moe.experts.per_element().value() == 17.0 / 32.0);  // block_mxfp4: 17 bytes for 32
    CHECK(moe.weights.per_element().value() == 34.0 / 32.0);
}

TEST_CASE("Unsloth's mixtures are wider than the plain ones of the name") {
    const Model llama = model("llama-3.1-8b");
    for (const auto& [wide, plain] : {std::pair{"ud-q4_k_xl", "q4_k_m"}, {"ud-q2_k_xl", "q2_k"}, {"ud-iq2_xxs", "iq2_xxs"}}) {
        CHECK(stored_weights(llama, *gguf_precision(wide), 1.0) > stored_weights(llama, *gguf_precision(plain), 1.0));
    }
}

TEST_CASE("a type with a code book reads fewer bytes, but not as many times faster") {
    // tools/quantize/README.md: 79.86 tokens/s at 2.23 GiB (IQ2_XXS) against 76.71 at 4.36 GiB (Q4_K_S).
    const Platform m4 = platform("m4-max", "llama.cpp");
    const auto time = [&](const char* name) {
        const CompiledPass pass = compile_pass(model("llama-3.1-8b"), *gguf_precision(name), m4, {});
        return pass_time(pass, totals_of(pass, {1.0, 1.0, 64.0, 1.0})).value();
    };
    const double faster = time("q4_k_s") / time("iq2_xxs");
    CHECK(faster > 1.0);  // 1.04 times as fast were measured
    CHECK(faster < 0.7 * 4.36 / 2.23);
    CHECK(time("q8_0") / time("q4_k_s") == Approx(76.71 / 50.93).epsilon(0.25));
}

TEST_CASE("MLX and ExLlamaV3 store as many bits as their names say") {
    // mlx_lm.convert: a 16-bit scale and a 16-bit offset for each group.
    CHECK(mlx_precision(4.0, 64.0, NumberFormat::bf16).weights.per_element().value() == (4.0 + 0.5) / 8.0);
    CHECK(mlx_precision(6.0, 32.0, NumberFormat::bf16).embeddings.per_element().value() == (6.0 + 1.0) / 8.0);
    CHECK(mlx_precision(3.0, 64.0, NumberFormat::bf16).math == NumberFormat::bf16);
    const Precision exl3 = exl3_precision(4.05, NumberFormat::fp16);
    CHECK(exl3.weights.per_element().value() == Approx(4.05 / 8.0));
    CHECK(exl3.embeddings == Storage{NumberFormat::fp16});
}

TEST_CASE("files of a type of ik_llama.cpp are of that type throughout, but for embeddings and the LM head") {
    const Precision narrow = *gguf_precision("iq2_k"), wide = *gguf_precision("iq5_ks");
    CHECK(narrow.weights == ggml_type_named("iq2_k")->storage());
    CHECK(narrow.embeddings == ggml_type_named("iq4_k")->storage());
    CHECK(wide.embeddings == ggml_type_named("iq5_ks")->storage());
    CHECK(weight_format(wide, "output: LM head", wide.embeddings).storage == ggml_type_named("iq6_k")->storage());
    // From Q6_0, the first of its types, to the last; and no type of llama.cpp that no file is named after.
    CHECK(gguf_precision("q6_0"));
    CHECK(gguf_precision("iq2_kl"));
    CHECK_FALSE(gguf_precision("i32"));
    const std::vector<std::string> names = gguf_names();
    CHECK(std::count(names.begin(), names.end(), "q6_0") == 1);
    CHECK(std::count(names.begin(), names.end(), "ud-q4_k_xl") == 1);
    CHECK(std::count(names.begin(), names.end(), "f16") == 0);
}

TEST_CASE("experts have a third of their matrices in the type of what leads down") {
    // Half of the layers of q4_k_m have these in q6_k: 4.5 + (6.5625 - 4.5)/2/3 bits.
    CHECK(gguf_precision("q4_k_m")->experts.element_bits() == Approx(4.5 + 2.0625 / 6.0));
    CHECK(gguf_precision("q4_0")->experts.element_bits() == 4.5);
}

TEST_CASE("numbers that stand alone are no blocks, and are multiplied as they are") {
    for (const auto& [name, format] :
         {std::pair{"f32", NumberFormat::fp32}, {"f16", NumberFormat::fp16}, {"bf16", NumberFormat::bf16}}) {
        CHECK_FALSE(ggml_type_named(name)->is_quantised());
        CHECK(ggml_type_named(name)->math() == format);
    }
    CHECK(ggml_type_named("q8_0")->is_quantised());
    CHECK(ggml_type_named("q8_0")->math() == NumberFormat::int8);
    CHECK(ggml_type_of(200) == nullptr);  // F32 with rows interleaved, which there is not
}

}  // namespace ggml_types_test
