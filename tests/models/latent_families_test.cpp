// Families of 2026 with attention over latents or compressed entries: small configs of their classes, whose parameters are
// counted here by hand, and published sizes.
#include "imported_config.h"
#include "models/catalogue.h"
#include "source_folder.h"

namespace latent_families_test {

using namespace treeline;
using namespace treeline::testing;

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

}  // namespace

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
    CHECK(parameter_count(imported(wrapped)) == parameter_count(described("glm-5.3-flash")));
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

TEST_CASE("latent attention of late 2026: Hy4 mixes streams and shares selections, A.X-K2 gates outputs") {
    Json config = small_latent("HYV4ForCausalLM");
    config.update(Json{{"hc_mult", 4},
                       {"index_topk", 16},
                       {"index_n_heads", 2},
                       {"index_head_dim", 8},
                       {"indexer_types", {"full", "shared", "full", "shared"}}});
    const sim::Model hy4 = imported(config);
    CHECK(hy4.kinds[hy4.order[0]].blocks.size() == 4);  // streams are mixed before each of two blocks
    CHECK(hy4.kinds[hy4.order[0]].blocks[0].norms == 4);
    CHECK(hy4.kinds[hy4.order[0]].blocks[2].norms == 4);
    for (const char* name : {"deepseek-v4-flash", "deepseek-v4-pro", "glm-5.3-flash"}) {
        for (const sim::LayerKind& kind : models::load_model(source_folder() / "models", name).value.kinds) {
            CHECK(kind.blocks[0].norms == 4);
        }
    }
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

/// dots3-note-prev as its config.json states it: 13 layers attend to everything through latents of 512, 33 to a window of 513
/// tokens through latents of 1024 with half as many heads.
Json dots3_note() {
    Json types = Json::array();
    for (int layer = 0; layer < 46; ++layer) {
        types.push_back(layer < 2 || (layer >= 5 && (layer - 5) % 4 == 0) ? "full_attention" : "sliding_attention");
    }
    return {{"architectures", {"Dots3NoteForCausalLM"}},
            {"model_type", "dots3_note"},
            {"hidden_size", 5120},
            {"num_hidden_layers", 46},
            {"vocab_size", 152064},
            {"intermediate_size", 13824},
            {"moe_intermediate_size", 1536},
            {"n_routed_experts", 256},
            {"n_shared_experts", 1},
            {"num_experts_per_tok", 8},
            {"first_k_dense_replace", 1},
            {"layer_types", types},
            {"num_attention_heads", 128},
            {"q_lora_rank", 1024},
            {"kv_lora_rank", 512},
            {"qk_nope_head_dim", 128},
            {"qk_rope_head_dim", 64},
            {"v_head_dim", 128},
            {"attention_gate_type", "headwise"},
            {"swa_num_attention_heads", 64},
            {"swa_q_lora_rank", 1024},
            {"swa_kv_lora_rank", 1024},
            {"swa_qk_nope_head_dim", 192},
            {"swa_qk_rope_head_dim", 64},
            {"swa_v_head_dim", 128},
            {"swa_attention_gate_type", "headwise"},
            {"sliding_window_size", 513},
            {"index_n_heads", 64},
            {"index_head_dim", 128},
            {"index_topk", 2048}};
}

TEST_CASE("dots3-note: latents within a window in three layers of four, of their own heads and ranks") {
    const sim::Model model = imported(dots3_note());
    const auto &full = only<sim::LatentAttention>(model, 1), &window = only<sim::LatentAttention>(model, 2);
    CHECK(full.indexer->top_k == 2048.0);
    CHECK(full.reach == sim::ContextReach{});
    CHECK_FALSE(window.indexer);
    CHECK(window.reach.window == 513.0);
    CHECK((window.heads == 64 && window.kv_lora_rank == 1024 && window.nope_dim == 192));
    // Down-projections with their norms, queries up, keys and values up, outputs; an indexer in each of the 13 full layers.
    const sim::Count indexer = 5120 * (128 + 64) + 1024 * 64 * 128 + 2 * 128;
    const sim::Count of_full =
        5120 * (1024 + 512 + 64) + 1024 + 512 + 1024 * 128 * (128 + 64) + 512 * 128 * (128 + 128) + 128 * 128 * 5120 + indexer;
    const sim::Count of_window =
        5120 * (1024 + 1024 + 64) + 1024 + 1024 + 1024 * 64 * (192 + 64) + 1024 * 64 * (192 + 128) + 64 * 128 * 5120;
    const sim::Count mixture = sim::Count{257} * 3 * 5120 * 1536 + 5120 * 256 + 256;
    CHECK(parameter_count(model) == 13 * of_full + 33 * of_window + 3 * 5120 * 13824 + 45 * mixture + 46 * 2 * 5120 +
                                        sim::Count{2} * 152064 * 5120 + 5120);
    CHECK(parameter_count(model) == parameter_count(described("dots3-note-prev")));
    // "280B total parameters", of which a layer of prediction has 1.13.
    CHECK(billions_of(model) + 1.13 == Approx(280).epsilon(0.005));
    // In 16 bits a token costs 13 latents of 576 and as many index keys of 128 bytes; windows stop growing at 513 tokens.
    const auto cached = [&](double tokens) {
        double bytes = 0.0;
        for (const sim::CacheTerm& cache : sim::caches_of(model, model.precision, 1.0)) {
            bytes += cached_bytes(cache, tokens).value();
        }
        return bytes;
    };
    CHECK(cached(100.0) == Approx(100.0 * (13 * (2 * 576 + 128) + 33 * 2 * 1088)));
    CHECK(cached(10000.0) == Approx(10000.0 * 13 * (2 * 576 + 128) + 513.0 * 33 * 2 * 1088));
}

TEST_CASE("dots3-note: without a list of layers, a gate for each element, other names of the class") {
    Json config = dots3_note();
    config["swa_attention_gate_type"] = "elementwise";
    CHECK(parameter_count(imported(config)) == parameter_count(imported(dots3_note())) + sim::Count{33} * 5120 * 64 * 128);
    Json inner = dots3_note();
    inner["architectures"] = {"Dots3NoteOmniTextForCausalLM"};
    CHECK(parameter_count(imported(inner)) == parameter_count(imported(dots3_note())));
    config.erase("layer_types");
    CHECK_THROWS_WITH(imported(config), Catch::Contains("layer_types: is missing"));
}

}  // namespace latent_families_test
