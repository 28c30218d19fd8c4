// Drafters' own checkpoints are told by their classes and keys, and say what a drafter of their kind needs. The configs are of
// the forms that SpecForge, vLLM's speculators and the drafters' repositories write.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "models/hugging_face/drafter_config.h"

namespace drafter_config_test {

using namespace treeline::models;
using Json = nlohmann::ordered_json;

TEST_CASE("EAGLE-3 heads by class, by their vocabulary and as speculators write them") {
    const auto forge = drafter_of_config({{"architectures", {"LlamaForCausalLMEagle3"}},
                                          {"hidden_size", 4096},
                                          {"intermediate_size", 12288},
                                          {"num_hidden_layers", 1},
                                          {"draft_vocab_size", 32000},
                                          {"torch_dtype", "bfloat16"},
                                          {"eagle_config", {{"eagle_aux_hidden_state_layer_ids", {1, 17, 32}}}}});
    REQUIRE(forge);
    CHECK(forge->kind == "eagle3");
    CHECK(forge->layers == 1);
    CHECK(forge->feed_forward == 12288);
    CHECK(forge->draft_vocabulary == 32000);
    CHECK(forge->input_features == 3);
    CHECK(forge->format == "bf16");
    CHECK(forge->width == 0);
    CHECK(drafter_of_config({{"architectures", {"LlamaForCausalLM"}}, {"draft_vocab_size", 32000}})->kind == "eagle3");
    const auto truncated = drafter_of_config({{"architectures", {"LlamaForCausalLM"}}, {"truncated_vocab_size", 48000}});
    CHECK((truncated->kind == "eagle3" && truncated->draft_vocabulary == 48000));
    const auto wrapped =
        drafter_of_config({{"speculators_model_type", "eagle3"},
                           {"draft_vocab_size", 64000},
                           {"target_hidden_size", 5120},
                           {"transformer_layer_config", {{"hidden_size", 2560}, {"intermediate_size", 9728}}}});
    REQUIRE(wrapped);
    CHECK(wrapped->feed_forward == 9728);
    CHECK(wrapped->width == 2560);
    CHECK(drafter_of_config({{"architectures", {"LlamaForCausalLMEagle3"}}, {"parallel_drafting", true}})->kind == "p-eagle");
}

TEST_CASE("block drafters, heads and speculators of other kinds") {
    const auto dflash = drafter_of_config({{"architectures", {"DFlashDraftModel"}},
                                           {"num_hidden_layers", 5},
                                           {"block_size", 16},
                                           {"dflash_config", {{"target_layer_ids", {1, 9, 17, 25, 33, 41}}}}});
    REQUIRE(dflash);
    CHECK(dflash->kind == "dflash");
    CHECK(dflash->block == 16);
    CHECK(dflash->input_features == 6);
    const auto medusa = drafter_of_config({{"medusa_num_heads", 4}, {"medusa_num_layers", 1}});
    REQUIRE(medusa);
    CHECK(medusa->kind == "medusa");
    CHECK(medusa->heads == 4);
    const auto speculator =
        drafter_of_config({{"architectures", {"MLPSpeculatorPreTrainedModel"}}, {"n_predict", 3}, {"inner_dim", 4096}});
    REQUIRE(speculator);
    CHECK(speculator->kind == "mlp-speculator");
    CHECK(speculator->heads == 3);
    CHECK(speculator->width == 4096);
}

TEST_CASE("Domino, assistants that read the target's cache, and EAGLE's one layer under its target's class") {
    const auto domino =
        drafter_of_config({{"architectures", {"DominoDraftModel"}},
                           {"num_hidden_layers", 5},
                           {"block_size", 16},
                           {"hidden_size", 4096},
                           {"vocab_size", 151936},
                           {"emb_dim", 256},
                           {"dflash_config", {{"target_layer_ids", {1, 9, 17, 25, 33}}, {"gru_hidden_dim", 1024}}}});
    REQUIRE(domino);
    CHECK(domino->kind == "dspark");
    CHECK(domino->block == 15);
    CHECK(domino->markov_rank == 256);
    CHECK(domino->gru_width == 1024);
    CHECK(domino->target_width == 4096);
    CHECK(domino->target_vocabulary == 151936);
    const auto dspark = drafter_of_config({{"architectures", {"DSparkDraftModel"}},
                                           {"num_hidden_layers", 5},
                                           {"block_size", 7},
                                           {"dflash_config", {{"target_layer_ids", {1, 9}}, {"markov_rank", 128}}}});
    REQUIRE(dspark);
    CHECK(dspark->block == 7);
    CHECK(dspark->markov_rank == 128);
    CHECK(dspark->gru_width == 0);
    const auto assistant =
        drafter_of_config({{"architectures", {"Gemma4AssistantForCausalLM"}},
                           {"model_type", "gemma4_assistant"},
                           {"backbone_hidden_size", 2560},
                           {"text_config", {{"hidden_size", 256}, {"num_hidden_layers", 4}, {"intermediate_size", 2048}}}});
    REQUIRE(assistant);
    CHECK(assistant->kind == "mtp");
    CHECK(assistant->reads_target_cache);
    CHECK(assistant->layers == 4);
    CHECK(assistant->width == 256);
    CHECK(drafter_of_config({{"architectures", {"LlamaForCausalLM"}}, {"hidden_size", 4096}, {"num_hidden_layers", 1}})->kind ==
          "eagle");
}

TEST_CASE("modules for multi-token prediction, heads without a vocabulary of their own, and formats that engines do not take") {
    const auto module = drafter_of_config({{"speculators_model_type", "mtp"},
                                           {"num_nextn_predict_layers", 1},
                                           {"transformer_layer_config", {{"num_hidden_layers", 48}, {"hidden_size", 2048}}}});
    REQUIRE(module);
    CHECK(module->kind == "mtp");
    CHECK(module->layers == 1);
    const auto next = drafter_of_config({{"architectures", {"DeepseekV3ForCausalLMNextN"}},
                                         {"torch_dtype", "bfloat16"},
                                         {"num_hidden_layers", 61},
                                         {"quantization_config", {{"quant_method", "fp8"}}}});
    REQUIRE(next);
    CHECK(next->layers == 1);
    CHECK(next->format.empty());  // as its target, whose quantisation it shares
    const auto whole =
        drafter_of_config({{"architectures", {"LlamaForCausalLMEagle3"}}, {"vocab_size", 128256}, {"torch_dtype", "float32"}});
    REQUIRE(whole);
    CHECK(whole->draft_vocabulary == 128256);
    CHECK(whole->target_vocabulary == 0);  // not told apart from its own
    CHECK(whole->format.empty());          // engines load 16 bits
    CHECK(drafter_of_config({{"architectures", {"MLPSpeculatorPreTrainedModel"}}, {"n_predict", 3}, {"tie_weights", true}})
              ->tied);
}

TEST_CASE("models by themselves are no drafters") {
    CHECK_FALSE(drafter_of_config({{"architectures", {"LlamaForCausalLM"}}, {"hidden_size", 4096}, {"num_hidden_layers", 32}}));
    CHECK_FALSE(drafter_of_config({{"architectures", {"Qwen3ForCausalLM"}}, {"model_type", "qwen3"}}));
    CHECK_FALSE(drafter_of_config(Json::array()));
}

TEST_CASE("block drafters of a class that nobody knows, by what they state") {
    const Json layers = {{"num_hidden_layers", 5}, {"hidden_size", 6656}, {"intermediate_size", 19968}};
    const auto with = [&](const Json& further) {
        Json config = {{"architectures", {"OtherAssistantModel"}}, {"model_type", "other_assistant"}};
        config.update(layers);
        config.update(further);
        return drafter_of_config(config);
    };
    const Json ids = {1, 13, 25, 37, 49};
    for (const Json& form : {Json{{"block_size", 16}, {"target_layer_ids", ids}},
                             Json{{"block_size", 16}, {"draft_config", {{"target_layer_ids", ids}}}},
                             Json{{"draft_config", {{"block_size", 16}, {"target_layer_ids", ids}}}}}) {
        const auto drafter = with(form);
        REQUIRE(drafter);
        CHECK(drafter->kind == "dflash");
        CHECK(drafter->layers == 5);
        CHECK(drafter->block == 16);
        CHECK(drafter->input_features == 5);
        CHECK_FALSE(drafter->reads_target_cache);  // as only Gemma 4's assistants do
    }
    CHECK(with({{"block_size", 8}, {"dspark_config", {{"target_layer_ids", ids}}}})->kind == "dspark");
    CHECK(with({{"block_size", 8}, {"target_layer_ids", ids}, {"selector_rank", 256}})->kind == "dflash2");
    CHECK_FALSE(with({{"block_size", 32}}));         // a model of diffusion
    CHECK_FALSE(with({{"target_layer_ids", ids}}));  // no block
    // A model that has such modules in it.
    CHECK_FALSE(with({{"dspark_block_size", 5}, {"dspark_target_layer_ids", {37, 38, 39}}}));
}

TEST_CASE("DFlash2 by its class and by its selector") {
    const Json selector = {
        {"block_size", 8}, {"conv_kernel_size", 2}, {"selector_rank", 256}, {"target_layer_ids", {1, 16, 31}}};
    for (const char* name : {"DFlash2DraftModel", "DFlashDraftModel", "Qwen3ForCausalLM"}) {
        const auto drafter =
            drafter_of_config({{"architectures", {name}}, {"num_hidden_layers", 6}, {"dflash_config", selector}});
        REQUIRE(drafter);
        CHECK(drafter->kind == "dflash2");
        CHECK(drafter->block == 8);
        CHECK(drafter->input_features == 3);
    }
}

}  // namespace drafter_config_test
