// Families of 2026: small configs of their classes, whose parameters are counted here by hand, and the published sizes of
// three.
#include <catch2/catch.hpp>

#include <numeric>
#include <string>

#include <nlohmann/json.hpp>

#include "models/catalogue.h"
#include "models/hugging_face/import.h"
#include "sim/operations.h"
#include "source_folder.h"
#include "text/input_error.h"

namespace families_of_2026_test {

using namespace treeline;
using namespace treeline::models;
using Json = nlohmann::ordered_json;

namespace {

sim::Model imported(Json config) {
    json::Document document = json::Document::of(std::move(config), "config.json");
    json::Reader root = document.root();
    sim::Model model = import_hugging_face(root, "m");
    document.throw_if_problems();
    CHECK(problems_of(model) == std::vector<std::string>{});
    return model;
}

std::string refusal(const std::string& architecture) {
    try {
        imported({{"architectures", {architecture}}, {"hidden_size", 64}, {"num_hidden_layers", 2}, {"vocab_size", 100}});
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

double billions(const Json& config) { return static_cast<double>(parameter_count(imported(config))) / 1e9; }

const std::filesystem::path descriptions = treeline::testing::source_folder() / "models";

}  // namespace

TEST_CASE("Hy3: dense first layer, experts with a selection bias, norms on queries and keys") {
    const Json small = {{"architectures", {"HYV3ForCausalLM"}},
                        {"model_type", "hy_v3"},
                        {"num_hidden_layers", 3},
                        {"hidden_size", 64},
                        {"num_attention_heads", 4},
                        {"num_key_value_heads", 2},
                        {"head_dim", 16},
                        {"qk_norm", true},
                        {"vocab_size", 100},
                        {"intermediate_size", 96},
                        {"first_k_dense_replace", 1},
                        {"num_experts", 8},
                        {"num_experts_per_tok", 2},
                        {"num_shared_experts", 1},
                        {"moe_intermediate_size", 32}};
    // Attention 64·(4 + 2 + 2)·16 + 4·16·64 + 2·16; dense 3·64·96; mixture 8 + 1 experts of 3·64·32, router 64·8 + 8.
    const sim::Count attention = 64 * 8 * 16 + 64 * 64 + 32, dense = 3 * 64 * 96, mixture = 9 * 3 * 64 * 32 + 64 * 8 + 8;
    CHECK(parameter_count(imported(small)) == 2 * 100 * 64 + 3 * attention + dense + 2 * mixture + 3 * 2 * 64 + 64);
    Json full = small;
    full.update({{"num_hidden_layers", 80},
                 {"hidden_size", 4096},
                 {"num_attention_heads", 64},
                 {"num_key_value_heads", 8},
                 {"head_dim", 128},
                 {"vocab_size", 120832},
                 {"intermediate_size", 13312},
                 {"num_experts", 192},
                 {"num_experts_per_tok", 8},
                 {"moe_intermediate_size", 1536}});
    CHECK(billions(full) == Approx(295).epsilon(0.005));  // its name
    CHECK(parameter_count(imported(full)) == parameter_count(load_model(descriptions, "hy3-295b-a21b").value));
}

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

TEST_CASE("GLM-5.3-Flash and Ling 3: delta layers beside latent attention") {
    Json glm = {{"num_hidden_layers", 45},
                {"hidden_size", 4096},
                {"vocab_size", 154880},
                {"n_routed_experts", 288},
                {"num_experts_per_tok", 8},
                {"n_shared_experts", 1},
                {"first_k_dense_replace", 3},
                {"intermediate_size", 12288},
                {"moe_intermediate_size", 2048},
                {"num_attention_heads", 64},
                {"q_lora_rank", 1536},
                {"kv_lora_rank", 512},
                {"qk_nope_head_dim", 256},
                {"qk_rope_head_dim", 0},
                {"v_head_dim", 256},
                {"index_topk", 2048},
                {"index_head_dim", 128},
                {"index_n_heads", 32},
                {"index_kpool", 4},
                {"topk_method", "noaux_tc"},
                {"mhc", true},
                {"hc_mult", 4},
                {"model_type", "glm5_next_text"},
                {"linear_attn_config", {{"num_heads", 64}, {"head_dim", 128}, {"short_conv_kernel_size", 4}}}};
    const Json wrapped = {{"architectures", {"Glm5NextForConditionalGeneration"}}, {"text_config", glm}};
    CHECK(billions(wrapped) == Approx(313).epsilon(0.005));  // published
    CHECK(parameter_count(imported(wrapped)) == parameter_count(load_model(descriptions, "glm-5.3-flash").value));
    const Json ling = {{"architectures", {"BailingMoeV3ForCausalLM"}},
                       {"model_type", "bailing_hybrid"},
                       {"num_hidden_layers", 7},
                       {"layer_group_size", 3},
                       {"hidden_size", 64},
                       {"num_attention_heads", 4},
                       {"head_dim", 16},
                       {"kv_lora_rank", 32},
                       {"q_lora_rank", nullptr},
                       {"qk_nope_head_dim", 16},
                       {"qk_rope_head_dim", 8},
                       {"v_head_dim", 16},
                       {"no_kda_lora", true},
                       {"first_k_dense_replace", 1},
                       {"intermediate_size", 96},
                       {"moe_intermediate_size", 32},
                       {"num_experts", 8},
                       {"num_experts_per_tok", 2},
                       {"num_shared_experts", 1},
                       {"vocab_size", 100}};
    const sim::Model model = imported(ling);
    const auto is_full = [&](std::size_t layer) {
        return std::holds_alternative<sim::LatentAttention>(model.kinds[model.order[layer]].blocks[0].kind);
    };
    CHECK_FALSE(is_full(0));
    CHECK(is_full(2));
    CHECK(is_full(5));
    CHECK(is_full(6));  // what is left of the last group attends in full
}

/// Parameters of the tables beside the token embedding, in billions.
double billions_in_tables(const sim::Model& model) {
    double sum = 0.0;
    for (const std::size_t index : model.order) {
        for (const sim::Block& block : model.kinds[index].blocks) {
            if (const auto* table = std::get_if<sim::LookupTable>(&block.kind)) {
                sum += static_cast<double>(table->rows) * static_cast<double>(table->width);
            }
        }
    }
    return sum / 1e9;
}

double billions_of(const sim::Model& model) { return static_cast<double>(parameter_count(model)) / 1e9; }

/// "sliding" in all layers but every n-th.
Json layer_types(int layers, int every, const char* usual) {
    Json types = Json::array();
    for (int i = 0; i < layers; ++i) {
        types.push_back((i + 1) % every == 0 ? "full_attention" : usual);
    }
    return types;
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
    CHECK(parameter_count(model) == parameter_count(load_model(descriptions, "inkling-1t").value));
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

TEST_CASE("tables of n-grams: LongCat-Flash-Lite, Qwen3.8-Flash-Next") {
    const sim::Model longcat = imported({{"architectures", {"LongcatFlashNgramForCausalLM"}},
                                         {"hidden_size", 3072},
                                         {"num_layers", 14},
                                         {"vocab_size", 131072},
                                         {"num_attention_heads", 32},
                                         {"q_lora_rank", 1536},
                                         {"kv_lora_rank", 512},
                                         {"qk_nope_head_dim", 128},
                                         {"qk_rope_head_dim", 64},
                                         {"v_head_dim", 128},
                                         {"ffn_hidden_size", 6144},
                                         {"expert_ffn_hidden_size", 1024},
                                         {"n_routed_experts", 256},
                                         {"zero_expert_num", 128},
                                         {"moe_topk", 12},
                                         {"ngram_vocab_size_ratio", 78},
                                         {"emb_neighbor_num", 4},
                                         {"emb_split_num", 4}});
    CHECK(billions_in_tables(longcat) == Approx(31.4).epsilon(0.005));  // "31.4B N-gram embedding parameters"
    CHECK(billions_of(longcat) == Approx(68.5).epsilon(0.02));          // "68.5B"
    const std::filesystem::path reports =
        treeline::testing::source_folder() / ".." / "shared" / "cases" / "2026-11" / "10-config-families-of-2026";
    if (std::filesystem::exists(reports)) {
        const sim::Model qwen = load_model(descriptions, (reports / "Qwen3.8-Flash-Next.json").string()).value;
        CHECK(billions_in_tables(qwen) == Approx(51).epsilon(0.005));  // "125B-A6B and 51B of n-grams"
        CHECK(billions_of(qwen) - billions_in_tables(qwen) == Approx(125).epsilon(0.01));
    }
}

TEST_CASE("DeepSeek-V4.1: entries of an earlier layer are read and not kept, n-grams beside the residual streams") {
    const Json config = {
        {"architectures", {"DeepseekV41ForCausalLM"}},
        {"model_type", "deepseek_v41"},
        {"quantization_config", {{"quant_method", "fp8"}, {"weight_block_size", {32, 32}}, {"expert_dtype", "fp4"}}},
        {"text_config",
         {{"model_type", "deepseek_v41_text"},
          {"vocab_size", 100},
          {"hidden_size", 64},
          {"moe_intermediate_size", 24},
          {"num_hidden_layers", 5},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 1},
          {"head_dim", 32},
          {"q_lora_rank", 20},
          {"o_lora_rank", 12},
          {"o_groups", 2},
          {"sliding_window", 8},
          {"n_routed_experts", 8},
          {"n_shared_experts", 1},
          {"num_experts_per_tok", 2},
          {"compress_ratios", {0, 2, 2, 1, 1, 0}},
          {"kv_source_layer_ids", {1, 3}},
          {"index_source_layer_ids", {1, 3, 4}},
          {"index_n_heads", 2},
          {"index_head_dim", 16},
          {"index_topk", 6},
          {"hc_mult", 4},
          {"engram_layer_ids", {1}},
          {"engram_num_embeddings", {1000}},
          {"engram_max_ngram_size", 4},
          {"engram_n_heads", 2},
          {"engram_head_dim", 10}}}};
    const sim::Model model = imported(config);
    REQUIRE(model.order.size() == 5);
    const auto attention_of = [&](std::size_t layer) {
        for (const sim::Block& block : model.kinds[model.order[layer]].blocks) {
            if (const auto* attention = std::get_if<sim::CompressedAttention>(&block.kind)) {
                return *attention;
            }
        }
        FAIL("no attention in layer " << layer);
        return sim::CompressedAttention{};
    };
    CHECK(attention_of(0).window == 8);
    CHECK(attention_of(1).compression == 2);
    CHECK(attention_of(1).top_k == 6);
    CHECK(attention_of(2).compression == 0);
    CHECK(attention_of(2).window == 8 + 6);
    CHECK(attention_of(4).index_heads == 0);
    CHECK(model.precision.experts.format == sim::NumberFormat::fp4);
    CHECK(model.precision.weights.format == sim::NumberFormat::fp8);
    // Only the two layers with entries of their own have a cache that grows with the context.
    double growing = 0.0;
    for (const sim::CacheTerm& cache : sim::caches_of(model, model.precision, 1.0)) {
        growing += cache.reach.window == sim::unlimited ? 1.0 : 0.0;
    }
    CHECK(growing > 0.0);
    Json without = config;
    without["text_config"]["engram_num_embeddings"] = {1000, 2000};
    CHECK_THROWS_WITH(imported(without), Catch::Contains("engram_num_embeddings"));
}

namespace {

/// Sizes of a small model with latent attention and experts.
Json small_latent(const std::string& architecture) {
    return {{"architectures", {architecture}},
            {"hidden_size", 64},
            {"intermediate_size", 96},
            {"moe_intermediate_size", 24},
            {"num_hidden_layers", 4},
            {"num_attention_heads", 4},
            {"vocab_size", 100},
            {"q_lora_rank", 16},
            {"kv_lora_rank", 8},
            {"qk_nope_head_dim", 8},
            {"qk_rope_head_dim", 4},
            {"v_head_dim", 8},
            {"n_routed_experts", 8},
            {"n_shared_experts", 1},
            {"num_experts_per_tok", 2},
            {"first_k_dense_replace", 1}};
}

template <class Kind>
const Kind& only(const sim::Model& model, std::size_t layer) {
    for (const sim::Block& block : model.kinds[model.order[layer]].blocks) {
        if (const auto* kind = std::get_if<Kind>(&block.kind)) {
            return *kind;
        }
    }
    throw std::runtime_error("no such block in layer " + std::to_string(layer));
}

}  // namespace

TEST_CASE("latent attention of late 2026: Hy4 mixes streams and shares selections, A.X-K2 gates outputs") {
    Json config = small_latent("HYV4ForCausalLM");
    config.update(Json{{"hc_mult", 4},
                       {"index_topk", 16},
                       {"index_n_heads", 2},
                       {"index_head_dim", 8},
                       {"indexer_types", {"full", "shared", "full", "shared"}}});
    const sim::Model hy4 = imported(config);
    CHECK(hy4.kinds[hy4.order[0]].blocks.size() == 4);  // streams are mixed before each of two blocks
    CHECK(only<sim::Projection>(hy4, 0).in == 4 * 64);
    CHECK(only<sim::LatentAttention>(hy4, 0).indexer->heads == 2);
    CHECK(only<sim::LatentAttention>(hy4, 1).indexer->heads == 0);
    Json gated = small_latent("AXK2ForCausalLM");
    gated["attention_output_gate"] = true;
    CHECK(only<sim::LatentAttention>(imported(gated), 0).output_gate);
    config["architectures"] = {"UnheardOfForCausalLM"};  // by its keys alone
    CHECK(parameter_count(imported(config)) == parameter_count(hy4));
}

TEST_CASE("GigaChat 3.5: delta-rule layers beside latent attention, norms before and after") {
    Json config = small_latent("GigaChat35ForCausalLM");
    config.update(Json{{"layer_types", {"linear_attention", "linear_attention", "linear_attention", "attention"}},
                       {"linear_num_key_heads", 2},
                       {"linear_num_value_heads", 4},
                       {"linear_key_head_dim", 8},
                       {"linear_value_head_dim", 8},
                       {"layernorm_type", "pre_post"},
                       {"gated_attention", true}});
    const sim::Model model = imported(config);
    REQUIRE(model.order.size() == 4);
    CHECK(only<sim::GatedDelta>(model, 0).value_heads == 4);
    CHECK(only<sim::Mlp>(model, 0).hidden == 96);
    CHECK(only<sim::MixtureOfExperts>(model, 1).hidden == 24);
    CHECK(only<sim::LatentAttention>(model, 3).output_gate);
    CHECK(model.kinds[model.order[3]].blocks[0].norms == 2);
}

TEST_CASE("Command A+: experts of intermediate_size, dense first layers of a size of their own") {
    const Json config = {{"architectures", {"Cohere2MoeForCausalLM"}},
                         {"hidden_size", 64},
                         {"intermediate_size", 24},
                         {"prefix_dense_intermediate_size", 96},
                         {"first_k_dense_replace", 1},
                         {"num_hidden_layers", 4},
                         {"num_attention_heads", 4},
                         {"num_key_value_heads", 2},
                         {"head_dim", 16},
                         {"num_experts", 8},
                         {"num_experts_per_tok", 2},
                         {"num_shared_experts", 1},
                         {"shared_expert_combination_strategy", "average"},
                         {"sliding_window", 32},
                         {"sliding_window_pattern", 4},
                         {"vocab_size", 100}};
    const sim::Model model = imported(config);
    CHECK(only<sim::Mlp>(model, 0).hidden == 96);
    CHECK(only<sim::MixtureOfExperts>(model, 1).hidden == 24);
    CHECK(only<sim::MixtureOfExperts>(model, 1).shared_hidden == 24);
    CHECK(only<sim::Attention>(model, 1).reach.window == 32);
    CHECK(only<sim::Attention>(model, 3).reach.window == sim::unlimited);
    CHECK(model.tied_embeddings);
}

TEST_CASE("what has no block is refused by name, and a hint never crosses a version") {
    CHECK_THAT(refusal("GroveMoeForCausalLM"), Catch::Contains("adjugate experts"));
    CHECK_THAT(refusal("Dots3NoteForCausalLM"), Catch::Contains("latents within a window"));
    CHECK_THAT(refusal("DeepseekV5ForCausalLM"), !Catch::Contains("did you mean"));
    CHECK_THAT(refusal("BailingMoeV4ForCausalLM"), !Catch::Contains("did you mean"));
}

TEST_CASE("a cache format may be a word") {
    Json config = {{"architectures", {"Qwen3ForCausalLM"}},
                   {"hidden_size", 64},
                   {"intermediate_size", 96},
                   {"num_hidden_layers", 2},
                   {"num_attention_heads", 4},
                   {"num_key_value_heads", 2},
                   {"head_dim", 16},
                   {"vocab_size", 100},
                   {"quantization_config", {{"quant_algo", "FP8"}, {"kv_cache_scheme", "FP8"}, {"ignore", {"lm_head"}}}}};
    CHECK(imported(config).precision.kv_cache.format == sim::NumberFormat::fp8);
    config["quantization_config"]["kv_cache_scheme"] = "odd";
    CHECK_THROWS_WITH(imported(config), Catch::Contains("kv_cache_scheme: \"ODD\" cannot be priced"));
}

TEST_CASE("Hy4: a gate for each element of latent attention, streams that can be switched off") {
    // vllm.models.hy_v4 and the published config of Hy4-preview (September 2026): 770 B, 49 B of them active.
    Json config = {{"architectures", {"HYV4ForCausalLM"}},
                   {"model_type", "hy_v4"},
                   {"vocab_size", 120832},
                   {"hidden_size", 6144},
                   {"intermediate_size", 18432},
                   {"num_hidden_layers", 78},
                   {"num_attention_heads", 64},
                   {"q_lora_rank", 2048},
                   {"kv_lora_rank", 512},
                   {"qk_nope_head_dim", 192},
                   {"qk_rope_head_dim", 64},
                   {"v_head_dim", 256},
                   {"n_routed_experts", 256},
                   {"n_shared_experts", 1},
                   {"moe_intermediate_size", 2048},
                   {"num_experts_per_tok", 8},
                   {"first_k_dense_replace", 1},
                   {"index_topk", 2048},
                   {"index_head_dim", 128},
                   {"index_n_heads", 32},
                   {"hc_mult", 4},
                   {"gated_mla", true},
                   {"gating_type", "elementwise"}};
    Json indexers = Json::array();
    for (int layer = 0; layer < 78; ++layer) {
        indexers.push_back(layer == 0 || layer % 4 == 1 ? "full" : "shared");
    }
    config["indexer_types"] = indexers;
    CHECK(billions(config) == Approx(770).epsilon(0.005));
    Json plain = config;
    plain["gated_mla"] = false;
    CHECK(billions(config) - billions(plain) == Approx(78 * 6144.0 * 64 * 256 / 1e9));
    plain = config;
    plain["enable_ihc"] = false;
    CHECK(billions(plain) < billions(config));
}

TEST_CASE("K2-Horizon: dense, with a gate; experts of values have no block") {
    Json config = {{"architectures", {"K2HorizonForCausalLM"}},
                   {"model_type", "k2_horizon"},
                   {"hidden_size", 4096},
                   {"num_hidden_layers", 36},
                   {"intermediate_size", 12288},
                   {"num_attention_heads", 32},
                   {"num_key_value_heads", 8},
                   {"head_dim", 128},
                   {"vocab_size", 250624},
                   {"layernorm_num_groups", 4},
                   {"num_experts", 0},
                   {"mova_num_experts", 0},
                   {"attention_gate_func", nullptr},
                   {"tie_word_embeddings", false}};
    CHECK(parameter_count(imported(config)) == 8'999'178'240);  // of the published checkpoint of 8 B
    Json gated = config;
    gated["attention_gate_func"] = "softplus";
    CHECK(parameter_count(imported(gated)) == 8'999'178'240 + 36LL * 4096 * 4096);
    config["mova_num_experts"] = 128;
    CHECK_THROWS_WITH(imported(config), Catch::Contains("MoVA") && Catch::Contains("no block"));
}

TEST_CASE("Nemotron-H after Puzzle: layers of different experts") {
    const Json config = {{"architectures", {"NemotronHPuzzleForCausalLM"}},
                         {"hidden_size", 64},
                         {"num_hidden_layers", 4},
                         {"num_attention_heads", 4},
                         {"num_key_value_heads", 2},
                         {"head_dim", 16},
                         {"vocab_size", 100},
                         {"mamba_num_heads", 4},
                         {"mamba_head_dim", 16},
                         {"ssm_state_size", 8},
                         {"n_groups", 2},
                         {"n_routed_experts", 8},
                         {"moe_shared_expert_intermediate_size", 48},
                         {"moe_latent_size", 32},
                         {"block_configs",
                          {{{"block_type", "mamba"}},
                           {{"block_type", "moe"}, {"moe_intermediate_size", 128}, {"num_experts_per_tok", 2}},
                           {{"block_type", "attention"}},
                           {{"block_type", "moe"}, {"moe_intermediate_size", 256}, {"num_experts_per_tok", 3}}}}};
    const sim::Model model = imported(config);
    REQUIRE(model.kinds.size() == 4);
    const auto& first = std::get<sim::MixtureOfExperts>(model.kinds[1].blocks.front().kind);
    const auto& second = std::get<sim::MixtureOfExperts>(model.kinds[3].blocks.front().kind);
    CHECK((first.hidden == 128 && first.active == 2 && second.hidden == 256 && second.active == 3));
    Json short_list = config;
    short_list["layers_block_type"] = {"mamba", "moe", "attention"};
    short_list["num_hidden_layers"] = 3;
    CHECK_THROWS_WITH(imported(short_list), Catch::Contains("describes 4 layers"));
}

TEST_CASE("further families of 2026") {
    // BharatGen's Param2: layers of Bailing's second version; 17 B by its name.
    CHECK(billions({{"architectures", {"Param2MoEForCausalLM"}},
                    {"hidden_size", 2048},
                    {"num_hidden_layers", 21},
                    {"intermediate_size", 9216},
                    {"num_attention_heads", 32},
                    {"num_key_value_heads", 8},
                    {"head_dim", 64},
                    {"vocab_size", 128008},
                    {"num_experts", 64},
                    {"num_experts_per_tok", 6},
                    {"moe_intermediate_size", 2048},
                    {"num_shared_experts", 2},
                    {"first_k_dense_replace", 1},
                    {"use_rmsnorm", true},
                    {"use_qk_norm", true},
                    {"tie_word_embeddings", true}}) == Approx(17).epsilon(0.03));
    // nanochat: two matrices a network, norms without weights. 32 layers of width 2048 (2 · 65,536 · 2048 + 32 · 12 · 2048²).
    CHECK(parameter_count(imported({{"architectures", {"NanoChatForCausalLM"}},
                                    {"hidden_size", 2048},
                                    {"num_hidden_layers", 32},
                                    {"intermediate_size", 8192},
                                    {"num_attention_heads", 16},
                                    {"vocab_size", 65536},
                                    {"hidden_act", "relu2"}})) == 2LL * 65536 * 2048 + 32LL * 12 * 2048 * 2048);
    // Step 1 counts its groups of queries.
    const sim::Model step = imported({{"architectures", {"Step1ForCausalLM"}},
                                      {"hidden_size", 64},
                                      {"num_hidden_layers", 2},
                                      {"intermediate_size", 128},
                                      {"num_attention_heads", 4},
                                      {"num_attention_groups", 2},
                                      {"vocab_size", 100}});
    CHECK(std::get<sim::Attention>(step.kinds.front().blocks.front().kind).kv_heads == 2);
    CHECK(refusal("HrmTextForCausalLM").find("nested cycles") != std::string::npos);
    CHECK(refusal("Moondream3ForCausalLM").find("denoises") == std::string::npos);
    CHECK(refusal("DreamModel").find("denoises") != std::string::npos);
}

}  // namespace families_of_2026_test
