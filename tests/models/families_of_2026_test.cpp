// Families of 2026: small configs of their classes, whose parameters are counted here by hand, and the published sizes of
// some.
#include "imported_config.h"

namespace families_of_2026_test {

using namespace treeline;
using namespace treeline::testing;

namespace {}  // namespace

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
    CHECK(parameter_count(imported(full)) == parameter_count(described("hy3-295b-a21b")));
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
        const sim::Model qwen = described((reports / "Qwen3.8-Flash-Next.json").string());
        CHECK(billions_in_tables(qwen) == Approx(51).epsilon(0.005));  // "125B-A6B and 51B of n-grams"
        CHECK(billions_of(qwen) - billions_in_tables(qwen) == Approx(125).epsilon(0.01));
    }
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
    CHECK_THAT(refusal("DeepseekV5ForCausalLM"), !Catch::Contains("did you mean") && Catch::Contains("its config lacks "));
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
    const sim::Model odd = imported(config);
    CHECK(odd.precision.kv_cache.format == sim::NumberFormat::bf16);
    CHECK(std::any_of(odd.notes.begin(), odd.notes.end(), [](const std::string& note) {
        return note.find("kv_cache_scheme, \"ODD\", is not known") != std::string::npos;
    }));
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
