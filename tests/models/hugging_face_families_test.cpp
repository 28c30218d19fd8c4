// Do configs of all families count to the totals that their publishers state, and do other names of a family find it?
#include <catch2/catch.hpp>

#include <fstream>

#include <nlohmann/json.hpp>

#include "models/hugging_face/import.h"
#include "models/hugging_face/names.h"
#include "sim/operations.h"
#include "sim/traits.h"
#include "source_folder.h"

namespace hugging_face_families_test {

using namespace treeline;
using namespace treeline::models;
using Json = nlohmann::ordered_json;

namespace {

sim::Model import(const Json& config, const std::string& name = "m") {
    json::Document document = json::Document::of(config, "config.json");
    json::Reader root = document.root();
    sim::Model model = import_hugging_face(root, name);
    document.throw_if_problems();
    CHECK(problems_of(model) == std::vector<std::string>{});
    return model;
}

std::string failure(const Json& config) {
    try {
        import(config);
    } catch (const text::InputError& error) {
        CHECK(error.problems().size() == 1);
        return error.what();
    }
    return "";
}

bool has_note(const sim::Model& model, const std::string& part) {
    return std::any_of(model.notes.begin(), model.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

const Json llama = {{"architectures", {"LlamaForCausalLM"}},
                    {"model_type", "llama"},
                    {"hidden_size", 4096},
                    {"intermediate_size", 14336},
                    {"num_attention_heads", 32},
                    {"num_hidden_layers", 32},
                    {"num_key_value_heads", 8},
                    {"vocab_size", 128256}};

Json with(Json config, const Json& changes) {
    config.update(changes);
    return config;
}

}  // namespace

TEST_CASE("families count to the published totals, to the last digit") {
    std::ifstream file(treeline::testing::source_folder() / "tests" / "models" / "published_totals.json");
    const Json table = Json::parse(file);
    for (const Json& row : table.at("rows")) {
        INFO(row.at("model"));
        const sim::Model model = import(row.at("config"));
        // What the description leaves out is said in a note, and "what" says why it is as many.
        const sim::Count left_out = row.value("left_out", sim::Count(0));
        CHECK(parameter_count(model) + left_out == row.at("parameters").get<sim::Count>());
        CHECK((left_out == 0 || has_note(model, "left out")));
    }
    CHECK(table.at("rows").size() == 70);
}

TEST_CASE("configs of 2024 to 2026, multimodal ones among them, count to half a percent of what is published") {
    std::ifstream file(treeline::testing::source_folder() / "tests" / "models" / "rounded_totals.json");
    const Json table = Json::parse(file);
    for (const Json& row : table.at("rows")) {
        INFO(row.at("model"));
        CHECK(static_cast<double>(parameter_count(import(row.at("config")))) / 1e9 ==
              Approx(row.at("billions").get<double>()).epsilon(0.005));
    }
    CHECK(table.at("rows").size() == 89);
}

TEST_CASE("checkpoints in bf16 are as large as their pages say, to what those round off") {
    std::ifstream file(treeline::testing::source_folder() / "tests" / "models" / "file_sizes.json");
    const Json table = Json::parse(file);
    for (const Json& row : table.at("rows")) {
        INFO(row.at("model"));
        const sim::Count stored = parameter_count(import(row.at("config"))) + row.value("left_out", sim::Count(0));
        CHECK(2e-9 * static_cast<double>(stored) == Approx(row.at("gigabytes").get<double>()).margin(0.02));
    }
    CHECK(table.at("rows").size() == 3);
}

TEST_CASE("text-only names, model types and wrapped language models find their family") {
    for (const char* name : {"LLaMAForCausalLM", "LlamaModel", "llama", "LlamaForConditionalGeneration"}) {
        INFO(name);
        CHECK(parameter_count(import(with(llama, {{"architectures", {name}}}))) == 8'030'261'248);
    }
    Json no_class = llama;
    no_class.erase("architectures");
    CHECK(parameter_count(import(no_class)) == 8'030'261'248);
    for (const char* key : {"text_config", "llm_config", "language_config"}) {
        INFO(key);
        const sim::Model model = import({{"architectures", {"UnheardOfForConditionalGeneration"}}, {key, no_class}});
        CHECK(parameter_count(model) == 8'030'261'248);
        CHECK(has_note(model, "Only the language model is described"));
    }
    CHECK(parameter_count(import({{"architectures", {"Qwen2_5OmniModel"}}, {"thinker_config", {{"text_config", no_class}}}})) ==
          8'030'261'248);
    using hugging_face::plain_family;
    CHECK(plain_family("MiniMaxM3SparseForConditionalGeneration") == plain_family("MiniMaxM3ForCausalLM"));
    CHECK(plain_family("Qwen3_5MoeForCausalLM") == plain_family("qwen3_5_moe_text"));
    CHECK(plain_family("Gemma3TextModel") == "gemma3");
}

TEST_CASE("of the classes that engines know, 95 in 100 are imported or refused with a reason") {
    std::ifstream file(treeline::testing::source_folder() / "tests" / "models" / "known_classes.json");
    const Json lists = Json::parse(file);
    for (const char* list : {"vllm", "transformers"}) {
        INFO(list);
        double known = 0.0;
        for (const Json& name : lists.at(list)) {
            json::Document document = json::Document::of(Json{{"architectures", {name}}}, "config.json");
            json::Reader root = document.root();
            static_cast<void>(import_hugging_face(root, "m"));
            const std::string& problem = document.problems().at(0);
            known += problem.find("is not an architecture that can be imported") == std::string::npos ? 1.0 : 0.0;
        }
        CHECK(known / static_cast<double>(lists.at(list).size()) >= 0.95);
    }
}

TEST_CASE("DeepSeek-V4: each layer has the reach that its compression says, and experts in fp4") {
    const Json small = {{"architectures", {"DeepseekV4ForCausalLM"}},
                        {"model_type", "deepseek_v4"},
                        {"hidden_size", 256},
                        {"num_hidden_layers", 4},
                        {"num_attention_heads", 8},
                        {"head_dim", 64},
                        {"q_lora_rank", 32},
                        {"o_groups", 2},
                        {"o_lora_rank", 16},
                        {"sliding_window", 128},
                        {"compress_ratios", {0, 4, 128, 4, 0}},  // the last one is the prediction module's
                        {"index_n_heads", 4},
                        {"index_head_dim", 32},
                        {"index_topk", 512},
                        {"n_routed_experts", 16},
                        {"num_experts_per_tok", 2},
                        {"n_shared_experts", 1},
                        {"moe_intermediate_size", 96},
                        {"num_hash_layers", 1},
                        {"hc_mult", 4},
                        {"vocab_size", 1000},
                        {"topk_method", "noaux_tc"},
                        {"expert_dtype", "fp4"},
                        {"torch_dtype", "bfloat16"}};
    const sim::Model model = import(small);
    REQUIRE(model.order.size() == 4);
    const auto attention = [&](std::size_t layer) {
        return std::get<sim::CompressedAttention>(model.kinds[model.order[layer]].blocks[1].kind);
    };
    CHECK(attention(0).compression == 0);
    CHECK(attention(1).compression == 4);
    CHECK(attention(1).top_k == 512.0);
    CHECK(attention(1).index_heads == 4);
    CHECK(attention(2).compression == 128);
    CHECK(attention(2).index_heads == 0);
    CHECK(model.precision.experts.per_element().value() == 0.53125);   // 4 bits and 8 for 32 elements
    CHECK(model.precision.kv_cache.format == sim::NumberFormat::fp8);  // as served, whatever the weights are in
    // Its small projections stay in 16 bits beside weights in fp8.
    const sim::Precision in_fp8 =
        import(with(small, {{"quantization_config", {{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}}}})).precision;
    CHECK(in_fp8.weights.format == sim::NumberFormat::fp8);
    for (const char* kept : {"compression", "index compression", "index weights", "router"}) {
        INFO(kept);
        const auto found = std::find_if(in_fp8.exceptions.begin(), in_fp8.exceptions.end(),
                                        [&](const auto& exception) { return exception.operation == kept; });
        REQUIRE(found != in_fp8.exceptions.end());
        CHECK(found->storage.format == sim::NumberFormat::bf16);
    }
    // By hand, as DeepseekV4Attention and DeepseekV4SparseMoeBlock of transformers hold them.
    const sim::Count core = 256 * (32 + 64) + 32 + 64 + 8 + 32 * 512 + 512 * 16 + 2 * 16 * 256;
    const sim::Count sparse = 2 * 256 * 128 + 4 * 128 + 64;                       // keys with values, gates, biases, a norm
    const sim::Count index = 2 * 256 * 64 + 4 * 64 + 32 + 32 * 4 * 32 + 256 * 4;  // the same for index keys; queries, weights
    const sim::Count heavy = 2 * 256 * 64 + 128 * 64 + 64;
    const sim::Count experts = 17 * 3 * 256 * 96 + 16 * 256;
    const sim::Count streams = 2 * (4 * 256 * 24 + 24), norms = 2 * 256;
    const sim::Count layers = 4 * (core + experts + streams + norms) + 2 * (sparse + index) + heavy + 3 * 16;
    CHECK(parameter_count(model) == layers + 2 * 1000 * 256 + 256);
    CHECK_THAT(failure(with(small, {{"compress_ratios", {0, 4}}})), Catch::Contains("one ratio for each of the 4 layers"));
}

TEST_CASE("an empty list of Llama 4's layers without rotary embedding says as little as none") {
    const Json scout = {{"architectures", {"Llama4ForCausalLM"}},
                        {"hidden_size", 256},
                        {"intermediate_size", 512},
                        {"intermediate_size_mlp", 1024},
                        {"num_hidden_layers", 8},
                        {"num_attention_heads", 8},
                        {"num_key_value_heads", 2},
                        {"vocab_size", 1000},
                        {"num_local_experts", 4},
                        {"num_experts_per_tok", 1},
                        {"interleave_moe_layer_step", 1},
                        {"attention_chunk_size", 128}};
    const auto global = [](const Json& config) {
        const sim::Model model = import(config);
        return std::count_if(model.order.begin(), model.order.end(), [&](std::size_t kind) {
            return std::get<sim::Attention>(model.kinds[kind].blocks[0].kind).reach.window == sim::unlimited;
        });
    };
    CHECK(global(scout) == 2);
    CHECK(global(with(scout, {{"no_rope_layers", Json::array()}})) == 2);
    CHECK(global(with(scout, {{"no_rope_layers", {0, 0, 0, 1, 1, 1, 1, 1}}})) == 3);
}

TEST_CASE("windows follow the family's rule, or the config's list") {
    const Json gemma = {{"architectures", {"Gemma3ForCausalLM"}},
                        {"hidden_size", 1152},
                        {"intermediate_size", 6912},
                        {"num_attention_heads", 4},
                        {"num_key_value_heads", 1},
                        {"head_dim", 256},
                        {"num_hidden_layers", 26},
                        {"vocab_size", 262144},
                        {"sliding_window", 512}};
    const auto global_layers = [](const Json& config) {
        const sim::Model model = import(config);
        return std::count_if(model.order.begin(), model.order.end(), [&](std::size_t kind) {
            return std::get<sim::Attention>(model.kinds[kind].blocks[0].kind).reach.window == sim::unlimited;
        });
    };
    CHECK(global_layers(gemma) == 4);  // layers 6, 12, 18 and 24
    CHECK(global_layers(with(gemma, {{"sliding_window_pattern", 2}})) == 13);
    Json types = Json::array();
    for (int i = 0; i < 26; ++i) {
        types.push_back(i < 3 ? "full_attention" : "sliding_attention");
    }
    CHECK(global_layers(with(gemma, {{"layer_types", types}})) == 3);
    CHECK(global_layers(with(gemma, {{"sliding_window", nullptr}})) == 26);
    CHECK(global_layers(with(llama, {{"sliding_window", 4096}})) == 32);  // Llama has no windows
    CHECK(global_layers(with(llama, {{"architectures", {"MistralForCausalLM"}}, {"sliding_window", 4096}})) == 0);
}

TEST_CASE("what cannot be imported is refused with a reason, or with what to do next") {
    const auto refused = [&](const std::string& architecture) {
        return failure(with(llama, {{"architectures", {architecture}}, {"model_type", "x"}}));
    };
    CHECK_THAT(refused("T5ForConditionalGeneration"), Catch::Contains("cross-attention has no block"));
    CHECK_THAT(refused("BertModel"), Catch::Contains("nothing to speculate on"));
    CHECK_THAT(refused("Rwkv6ForCausalLM"), Catch::Contains("RWKV's recurrence"));
    CHECK_THAT(refused("MotifForCausalLM"), Catch::Contains("subtracts attentions"));
    for (const char* diffusion :
         {"LLaDAModelLM", "LLaDA2MoeModelLM", "DreamModel", "SDARMoeForCausalLM", "Fast_dLLM_QwenForCausalLM"}) {
        CHECK_THAT(refused(diffusion), Catch::Contains("denoises many tokens at a time"));
    }
    CHECK_THAT(refused("LlamaForSequenceClassification"), Catch::Contains("nothing to speculate on"));
    for (const char* drafter : {"LlamaForCausalLMEagle3", "Qwen3DSparkModel", "DominoDraftModel", "DFlashDraftModel",
                                "PEagleDraftModel", "Gemma4AssistantForCausalLM", "HydraModel", "Eagle3Speculator"}) {
        CHECK_THAT(refused(drafter),
                   Catch::Contains("is a drafter of another model, not a model: give this file to --drafter"));
    }
    Json sparse = llama;
    sparse.erase("intermediate_size");
    const std::string unknown = failure(with(sparse, {{"architectures", {"FooBarForCausalLM"}}, {"model_type", "x"}}));
    CHECK_THAT(unknown,
               Catch::Contains("\"FooBarForCausalLM\" is not an architecture that can be imported, and its config lacks "
                               "intermediate_size, without which") &&
                   !Catch::Contains("Known families") && Catch::Contains("copy the most similar description in models/"));
    CHECK_THAT(unknown, !Catch::Contains("did you mean"));
    CHECK_THAT(failure(with(sparse, {{"architectures", {"LamaForCausalLM"}}, {"model_type", "x"}})),
               Catch::Contains("did you mean \"Llama\"?"));
    CHECK_THAT(failure(with(sparse, {{"architectures", {"LamnaForCausalLM"}}, {"model_type", "x"}})),
               !Catch::Contains("did you mean"));  // two edits
}

TEST_CASE("a class that nobody knows is read by its keys where all of them are understood") {
    const Json unknown =
        with(llama, {{"architectures", {"FooBarForCausalLM"}}, {"model_type", "foobar"}, {"rms_norm_eps", 1e-6}});
    const sim::Model model = import(unknown);
    CHECK(parameter_count(model) == 8'030'261'248);
    CHECK(has_note(model, "FooBarForCausalLM is not known: it is read by its keys alone"));
    CHECK_THAT(failure(with(unknown, {{"ssm_state", 64}, {"delta_gates", true}})),
               Catch::Contains("what its keys ssm_state, delta_gates cost is not known"));
    CHECK_THAT(failure(with(unknown, {{"hidden_act", "relu2"}})), Catch::Contains("hidden_act"));
    CHECK(parameter_count(import(with(unknown, {{"ssm_state", 0}, {"delta_gates", false}}))) == 8'030'261'248);  // off
    // Latent attention and experts are told by their keys, too.
    const Json latent = {
        {"model_type", "x"},        {"hidden_size", 64},           {"intermediate_size", 128},  {"num_hidden_layers", 3},
        {"num_attention_heads", 4}, {"vocab_size", 100},           {"kv_lora_rank", 16},        {"q_lora_rank", 24},
        {"qk_nope_head_dim", 16},   {"qk_rope_head_dim", 8},       {"v_head_dim", 16},          {"n_routed_experts", 8},
        {"num_experts_per_tok", 2}, {"moe_intermediate_size", 32}, {"first_k_dense_replace", 1}};
    CHECK(parameter_count(import(with(latent, {{"architectures", {"FooBarForCausalLM"}}}))) ==
          parameter_count(import(with(latent, {{"architectures", {"DeepseekV3ForCausalLM"}}}))));
}

TEST_CASE("a config within a multimodal one leaves out what its class has by default") {
    // LLaVA-1.5-7B: Vicuna-7B with 64 further rows in its embedding and LM head.
    const Json llava = {
        {"architectures", {"LlavaForConditionalGeneration"}},
        {"model_type", "llava"},
        {"text_config", {{"architectures", {"LlamaForCausalLM"}}, {"model_type", "llama"}, {"vocab_size", 32064}}}};
    CHECK(parameter_count(import(llava)) == 6'738'415'616 + 2 * 64 * 4096);
    Json alone = llama;
    alone.erase("hidden_size");
    CHECK_THAT(failure(alone), Catch::Contains("hidden_size"));
}

TEST_CASE("modules for multi-token prediction are counted, whatever the family") {
    CHECK(import(with(llama, {{"num_nextn_predict_layers", 2}})).mtp_layers == 2);
    CHECK(import(with(llama, {{"num_mtp_modules", 3}})).mtp_layers == 3);
    CHECK(import(with(llama, {{"num_nextn_predict_layers", 0}})).mtp_layers == 0);
    CHECK_FALSE(import(llama).mtp_layers);  // a config without such a key does not tell
}

TEST_CASE("dense classes that have mixtures, too, are mixtures where their config has experts") {
    // XVERSE-MoE-A4.2B: 25.8 billion parameters by its card, of which 4.2 are active.
    const Json xverse = {{"architectures", {"XverseForCausalLM"}},
                         {"model_type", "xverse"},
                         {"num_experts", 64},
                         {"num_shared_experts", 2},
                         {"moe_top_k", 6},
                         {"tie_word_embeddings", false},
                         {"hidden_size", 2560},
                         {"intermediate_size", 1728},
                         {"num_hidden_layers", 28},
                         {"num_attention_heads", 32},
                         {"num_key_value_heads", 32},
                         {"vocab_size", 100534}};
    CHECK(static_cast<double>(parameter_count(import(xverse))) == Approx(25.8e9).epsilon(0.005));
    Json dense = xverse;
    for (const char* key : {"num_experts", "num_shared_experts", "moe_top_k"}) {
        dense.erase(key);
    }
    CHECK(sim::kind_of_model(import(dense)) == "dense");
}

TEST_CASE("a list says which layers have experts") {
    const Json exaone = {{"architectures", {"ExaoneMoEForCausalLM"}},
                         {"model_type", "exaone_moe"},
                         {"hidden_size", 64},
                         {"intermediate_size", 256},
                         {"moe_intermediate_size", 32},
                         {"num_hidden_layers", 3},
                         {"num_attention_heads", 4},
                         {"num_key_value_heads", 2},
                         {"num_experts", 8},
                         {"num_experts_per_tok", 2},
                         {"num_shared_experts", 1},
                         {"vocab_size", 100}};
    const auto experts = [](const sim::Model& model) {
        std::string layers;
        for (const std::size_t kind : model.order) {
            layers += sim::has_experts(model.kinds[kind]) ? 'e' : 'd';
        }
        return layers;
    };
    CHECK(experts(import(with(exaone, {{"is_moe_layer", {false, true, false}}}))) == "ded");
    CHECK(experts(import(with(exaone, {{"is_moe_layer", {0, 1, 1}}}))) == "dee");
}

TEST_CASE("encoders with decoders are refused with their reason") {
    for (const char* name : {"VisionEncoderDecoderModel", "FSMTForConditionalGeneration", "Florence2ForConditionalGeneration",
                             "BigBirdPegasusForConditionalGeneration"}) {
        CHECK_THAT(failure(with(llama, {{"architectures", {name}}, {"model_type", "x"}})),
                   Catch::Contains("cross-attention has no block in a description yet"));
    }
}

TEST_CASE("positions are the longest context, where tokens attend to others") {
    CHECK(import(with(llama, {{"max_position_embeddings", 8192}})).max_context == 8192);
    CHECK(import(with(llama, {{"n_positions", 2048}})).max_context == 2048);
    Json silent = llama;
    silent.erase("max_position_embeddings");
    CHECK_FALSE(import(silent).max_context);
    CHECK_FALSE(import(with(silent, {{"max_position_embeddings", -1}})).max_context);
    CHECK_FALSE(import(with(silent, {{"model_max_length", 1e30}})).max_context);  // tokenizers write that for "none"
    const Json mamba = {{"architectures", {"MambaForCausalLM"}},
                        {"model_type", "mamba"},
                        {"hidden_size", 768},
                        {"num_hidden_layers", 24},
                        {"vocab_size", 50280},
                        {"state_size", 16},
                        {"conv_kernel", 4},
                        {"intermediate_size", 1536},
                        {"time_step_rank", 48},
                        {"max_position_embeddings", 2048}};
    CHECK_FALSE(import(mamba).max_context);
}

TEST_CASE("one edit is one letter, or two neighbours swapped") {
    using hugging_face::one_edit_apart;
    CHECK(one_edit_apart("lama", "llama"));
    CHECK(one_edit_apart("llamma", "llama"));
    CHECK(one_edit_apart("llbma", "llama"));
    CHECK(one_edit_apart("llmaa", "llama"));
    CHECK(one_edit_apart("llama", "llama"));
    CHECK_FALSE(one_edit_apart("lam", "llama"));
    CHECK_FALSE(one_edit_apart("gamma", "llama"));
    CHECK_FALSE(one_edit_apart("", "ab"));
}

}  // namespace hugging_face_families_test
