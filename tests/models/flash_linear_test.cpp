// Do the classes of flash-linear-attention count to what their layers hold, and are those without a block refused with a
// reason?
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "models/hugging_face/import.h"
#include "sim/operations.h"

namespace flash_linear_test {

using namespace treeline;
using Json = nlohmann::ordered_json;

namespace {

sim::Model imported(const Json& config) {
    json::Document document = json::Document::of(config, "config.json");
    json::Reader root = document.root();
    sim::Model model = models::import_hugging_face(root, "m");
    document.throw_if_problems();
    return model;
}

const Json gated_deltanet = {{"model_type", "gated_deltanet"},
                             {"hidden_size", 2048},
                             {"num_heads", 6},
                             {"head_dim", 256},
                             {"expand_v", 2},
                             {"conv_size", 4},
                             {"hidden_ratio", 4},
                             {"intermediate_size", nullptr},
                             {"num_hidden_layers", 21},
                             {"vocab_size", 32000},
                             {"tie_word_embeddings", false}};

}  // namespace

TEST_CASE("gated DeltaNet of flash-linear-attention") {
    // Keys 6 x 256 = 1536, values 3072. Queries and keys 2 x 2048 x 1536, values, gate and output 3 x 2048 x 3072, decay and
    // rate 2 x 2048 x 6, convolution 4 x (2 x 1536 + 3072); network 3 x 2048 x 5632, 5632 being 5461 rounded up to 256.
    const double layer = 2.0 * 2048 * 1536 + 3.0 * 2048 * 3072 + 2.0 * 2048 * 6 + 4.0 * 6144 + 3.0 * 2048 * 5632;
    const double total = 21 * layer + 2.0 * 32000 * 2048;
    CHECK(static_cast<double>(sim::parameter_count(imported(gated_deltanet))) == Catch::Detail::Approx(total).epsilon(1e-3));
    Json with_attention = gated_deltanet;
    with_attention["attn"] = {{"layers", {1, 3}}, {"num_heads", 16}};
    CHECK_THROWS_WITH(imported(with_attention), Catch::Contains("puts attention among the layers"));
}

TEST_CASE("the Transformer of flash-linear-attention, and Mamba-2 whose heads follow from its width") {
    // Of Mistral 7B: 7.24 billion.
    const Json transformer = {{"model_type", "transformer"}, {"hidden_size", 4096}, {"num_heads", 32},
                              {"num_kv_heads", 8},           {"hidden_ratio", 4},   {"intermediate_size", 14336},
                              {"num_hidden_layers", 32},     {"vocab_size", 32000}};
    CHECK(static_cast<double>(sim::parameter_count(imported(transformer))) == Catch::Detail::Approx(7.2417e9).epsilon(1e-3));
    Json mamba = {{"model_type", "mamba2"},  {"hidden_size", 2048}, {"expand", 2},
                  {"head_dim", 64},          {"state_size", 128},   {"n_groups", 1},
                  {"num_hidden_layers", 48}, {"vocab_size", 32000}};
    const sim::Count without = sim::parameter_count(imported(mamba));
    mamba["num_heads"] = 64;  // 2 x 2048 / 64
    CHECK(without == sim::parameter_count(imported(mamba)));
}

TEST_CASE("linear attention without a block is refused with its reason") {
    for (const char* type : {"gla", "gsa", "hgrn2", "delta_net", "retnet", "rwkv7", "samba"}) {
        INFO(type);
        Json config = gated_deltanet;
        config["model_type"] = type;
        CHECK_THROWS_WITH(imported(config), Catch::Contains("cannot be imported: it "));
    }
}

TEST_CASE("a drafter under its target's class is no model") {
    Json config = {{"architectures", {"LlamaForCausalLM"}},
                   {"model_type", "llama"},
                   {"hidden_size", 4096},
                   {"num_attention_heads", 32},
                   {"num_hidden_layers", 1},
                   {"intermediate_size", 14336},
                   {"vocab_size", 128256}};
    CHECK(imported(config).order.size() == 1);
    config["draft_vocab_size"] = 32000;
    CHECK_THROWS_WITH(imported(config), Catch::Contains("give this file to --drafter"));
}

}  // namespace flash_linear_test
