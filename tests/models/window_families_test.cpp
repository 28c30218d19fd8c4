// Families of 2026 some of whose layers see a window: small configs of their classes, whose parameters are counted here by
// hand, and published sizes.
#include "imported_config.h"

namespace window_families_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

/// "sliding" in all layers but every n-th.
Json layer_types(int layers, int every, const char* usual) {
    Json types = Json::array();
    for (int i = 0; i < layers; ++i) {
        types.push_back((i + 1) % every == 0 ? "full_attention" : usual);
    }
    return types;
}

}  // namespace

TEST_CASE("MiMo-V2: keys wider than values, windows with sinks, experts by a list") {
    const Json config = {{"architectures", {"MiMoV2FlashForCausalLM"}},
                         {"num_hidden_layers", 3},
                         {"hidden_size", 64},
                         {"num_attention_heads", 4},
                         {"num_key_value_heads", 1},
                         {"head_dim", 24},
                         {"v_head_dim", 16},
                         {"swa_num_attention_heads", 4},
                         {"swa_num_key_value_heads", 2},
                         {"swa_head_dim", 24},
                         {"swa_v_head_dim", 16},
                         {"sliding_window", 128},
                         {"hybrid_layer_pattern", {0, 1, 0}},
                         {"moe_layer_freq", {0, 1, 1}},
                         {"intermediate_size", 96},
                         {"moe_intermediate_size", 32},
                         {"n_routed_experts", 8},
                         {"n_shared_experts", nullptr},
                         {"num_experts_per_tok", 2},
                         {"topk_method", "noaux_tc"},
                         {"add_swa_attention_sink_bias", true},
                         {"vocab_size", 100}};
    const sim::Model model = imported(config);
    // Queries 4·24, keys 24 a head, values and outputs 16 a head.
    const sim::Count full = 64 * (4 * 24 + 24 + 16) + 4 * 16 * 64, sliding = 64 * (4 * 24 + 2 * (24 + 16)) + 4 * 16 * 64 + 4;
    const sim::Count experts = 8 * 3 * 64 * 32 + 64 * 8 + 8;
    CHECK(parameter_count(model) == 2 * 100 * 64 + 2 * full + sliding + 3 * 64 * 96 + 2 * experts + 3 * 2 * 64 + 64);
    CHECK(std::get<sim::Attention>(model.kinds[model.order[1]].blocks[0].kind).reach.window == 128.0);
}

TEST_CASE("Laguna: query heads that differ by layer") {
    const Json config = {{"architectures", {"LagunaForCausalLM"}},
                         {"num_hidden_layers", 2},
                         {"hidden_size", 64},
                         {"num_attention_heads", 4},
                         {"num_attention_heads_per_layer", {4, 6}},
                         {"num_key_value_heads", 2},
                         {"head_dim", 16},
                         {"layer_types", {"full_attention", "sliding_attention"}},
                         {"sliding_window", 512},
                         {"mlp_layer_types", {"dense", "sparse"}},
                         {"intermediate_size", 96},
                         {"moe_intermediate_size", 32},
                         {"shared_expert_intermediate_size", 32},
                         {"num_experts", 8},
                         {"num_experts_per_tok", 2},
                         {"vocab_size", 100}};
    const sim::Count first = 64 * (4 + 4) * 16 + 64 * 64, second = 64 * (6 + 4) * 16 + 6 * 16 * 64;
    CHECK(parameter_count(imported(config)) ==
          2 * 100 * 64 + first + second + 3 * 64 * 96 + 9 * 3 * 64 * 32 + 64 * 8 + 2 * 2 * 64 + 64);
}

TEST_CASE("Gemma 4 E2B: rows of a table in each layer, caches that the upper layers share") {
    const Json text = {{"hidden_size", 1536},
                       {"num_hidden_layers", 35},
                       {"num_attention_heads", 8},
                       {"num_key_value_heads", 1},
                       {"head_dim", 256},
                       {"global_head_dim", 512},
                       {"attention_k_eq_v", false},
                       {"sliding_window", 512},
                       {"vocab_size", 262144},
                       {"vocab_size_per_layer_input", 262144},
                       {"hidden_size_per_layer_input", 256},
                       {"num_kv_shared_layers", 20},
                       {"use_double_wide_mlp", true},
                       {"intermediate_size", 6144},
                       {"layer_types", layer_types(35, 5, "sliding_attention")}};
    const sim::Model model = imported({{"architectures", {"Gemma4ForConditionalGeneration"}}, {"text_config", text}});
    CHECK(billions_in_tables(model) == Approx(262144.0 * 35 * 256 / 1e9));
    // "2.3 billion effective parameters": without that table, and without the encoders of images and sound.
    CHECK(billions_of(model) - billions_in_tables(model) == Approx(2.3).epsilon(0.015));
    // Three global layers and twelve with a window keep 2 x 512 and 2 x 256 elements of a token.
    double kept = 0.0;
    for (const sim::CacheTerm& cache : caches_of(model, sim::uniform_precision(sim::NumberFormat::bf16), 1.0)) {
        kept += cached_bytes(cache, 100.0).value();
    }
    CHECK(kept == Approx(100.0 * 2.0 * (3 * 2 * 512 + 12 * 2 * 256)));
}

TEST_CASE("Inkling: windows with their own heads, positions without rotation") {
    Json local = Json::array();
    for (int i = 0; i < 66; ++i) {
        if ((i + 1) % 6 != 0) {
            local.push_back(i);
        }
    }
    const Json text = {{"model_type", "inkling_text"},
                       {"hidden_size", 6144},
                       {"num_hidden_layers", 66},
                       {"vocab_size", 201024},
                       {"num_attention_heads", 64},
                       {"num_key_value_heads", 8},
                       {"head_dim", 128},
                       {"swa_num_attention_heads", 64},
                       {"swa_num_key_value_heads", 16},
                       {"swa_head_dim", 128},
                       {"d_rel", 16},
                       {"sliding_window_size", 512},
                       {"local_layer_ids", local},
                       {"dense_mlp_idx", 2},
                       {"dense_intermediate_size", 24576},
                       {"intermediate_size", 3072},
                       {"n_routed_experts", 256},
                       {"num_experts_per_tok", 6},
                       {"n_shared_experts", 2}};
    const sim::Model model = imported({{"architectures", {"InklingForConditionalGeneration"}}, {"text_config", text}});
    // The index of the checkpoint states 1,904,604,285,204 bytes of 16 bits, eight layers for prediction and encoders among
    // them.
    CHECK(billions_of(model) == Approx(1904.604285204 / 2.0).epsilon(0.006));
    CHECK(parameter_count(model) == parameter_count(described("inkling-1t")));
}

TEST_CASE("Muse-Glimmer: gated attention, every fourth layer from the last sees everything") {
    const sim::Model model = imported({{"architectures", {"MuseGlimmerForConditionalGeneration"}},
                                       {"text_config",
                                        {{"vocab_size", 202048},
                                         {"hidden_size", 6656},
                                         {"intermediate_size", 19968},
                                         {"num_hidden_layers", 52},
                                         {"num_attention_heads", 32},
                                         {"num_key_value_heads", 2},
                                         {"head_dim", 128},
                                         {"sliding_window", 2048}}}});
    // Queries and gate 2·32·128, keys and values 2·2·128, outputs 32·128; three matrices; four norms a layer.
    const sim::Count layer = 6656 * (2 * 32 + 2 * 2 + 32) * 128 + 3 * 6656 * 19968 + 4 * 6656;
    CHECK(parameter_count(model) == 52 * layer + sim::Count{2} * 202048 * 6656 + 6656);
    const auto window = [&](std::size_t i) {
        return std::get<sim::Attention>(model.kinds[model.order[i]].blocks[0].kind).reach.window;
    };
    CHECK(window(51) == sim::unlimited);
    CHECK(window(50) == 2048.0);
    CHECK(window(3) == sim::unlimited);
}

}  // namespace window_families_test
