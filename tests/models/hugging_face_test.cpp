// Do real configs import, with the right structure and precision, and does a broken one fail with a sentence?
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "models/catalogue.h"
#include "models/hugging_face/import.h"
#include "models/hugging_face/non_finite.h"
#include "shared_measurements.h"
#include "sim/operations.h"
#include "source_folder.h"

namespace hugging_face_test {

using namespace treeline;
using namespace treeline::models;

namespace {

const std::filesystem::path source_tree = treeline::testing::source_folder();

sim::Model import(const std::string& text) {
    json::Document document = json::Document::parse(text, "config.json");
    json::Reader root = document.root();
    sim::Model model = import_hugging_face(root, "m");
    document.throw_if_problems();
    CHECK(problems_of(model) == std::vector<std::string>{});
    return model;
}

std::string failure(const std::string& text) {
    try {
        import(text);
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

const std::string llama = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
  "torch_dtype": "bfloat16", "rope_scaling": null, "anything": {"that": ["costs nothing"]}})";

}  // namespace

TEST_CASE("a Llama config equals the catalogue's description") {
    const sim::Model imported = import(llama);
    const sim::Model described = load_model(source_tree / "models", "llama-3.1-8b").value;
    CHECK(parameter_count(imported) == parameter_count(described));
    CHECK(imported.vocabulary == described.vocabulary);
    CHECK(imported.precision.weights == described.precision.weights);
    CHECK(imported.order.size() == described.order.size());
}

TEST_CASE("mamba_ssm configs are told by their keys and pad their vocabulary") {
    const sim::Model model = import(R"({"d_model": 768, "d_intermediate": 0, "n_layer": 24, "vocab_size": 50277,
      "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [], "attn_cfg": {}, "rms_norm": true, "residual_in_fp32": true,
      "fused_add_norm": true, "pad_vocab_size_multiple": 16, "tie_embeddings": true})");
    CHECK(parameter_count(model) == 128'989'632);  // state-spaces/mamba2-130m
    CHECK(model.vocabulary == "gpt-neox-20b");
    const sim::Model first = import(R"({"d_model": 768, "n_layer": 24, "vocab_size": 50277, "ssm_cfg": {}})");
    CHECK(parameter_count(first) == 129'135'360);  // state-spaces/mamba-130m
}

TEST_CASE("MambaInLlama hybrids are told by their keys") {
    const sim::Model model =
        import(R"({"d_model": 4096, "ssm_cfg": {"expand": 1, "ngroups": 32, "d_state": 128}, "vocab_size": null,
      "d_inner": 4096, "d_xb": 1024, "intermediate_size": 14336, "n_layer": 4, "attn_layers": [1, 3]})");
    CHECK(model.vocabulary == "llama-3");
    REQUIRE(model.order == std::vector<std::size_t>{0, 1, 0, 1});
    const sim::Model described = load_model(source_tree / "models", "llama3.1-mamba2-8b-distill").value;
    CHECK(body_parameters(model) * 8 == body_parameters(described));  // 4 of its 32 layers
}

TEST_CASE("configs of the other families give the catalogue's parameter counts") {
    const auto same = [](const std::string& config, const std::string& name) {
        INFO(name);
        CHECK(parameter_count(import(config)) == parameter_count(load_model(source_tree / "models", name).value));
    };
    same(R"({"architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox", "hidden_size": 512, "intermediate_size": 2048,
      "num_attention_heads": 8, "num_hidden_layers": 6, "vocab_size": 50304, "tie_word_embeddings": false})",
         "pythia-70m");
    same(R"({"architectures": ["JambaForCausalLM"], "model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 65536, "mamba_d_state": 16,
      "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 256, "num_experts": 16, "num_experts_per_tok": 2,
      "attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2, "expert_layer_offset": 1})",
         "jamba-1.5-mini");
    same(R"({"architectures": ["BambaForCausalLM"], "model_type": "bamba", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 128256, "mamba_n_heads": 128,
      "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1, "attn_layer_indices": [9, 18, 27],
      "tie_word_embeddings": false})",
         "bamba-9b");
    same(
        R"({"architectures": ["FalconH1ForCausalLM"], "model_type": "falcon_h1", "hidden_size": 3072, "intermediate_size": 12288,
      "num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 128, "num_hidden_layers": 44, "vocab_size": 130048,
      "mamba_n_heads": 24, "mamba_d_head": 128, "mamba_d_state": 256, "mamba_n_groups": 1, "mamba_rms_norm": false})",
        "falcon-h1-7b");
    same(
        R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "num_hidden_layers": 48, "vocab_size": 151936,
      "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
      "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "mlp_only_layers": []})",
        "qwen3-next-80b-a3b");
}

TEST_CASE("quantisation becomes precision") {
    const auto precision = [](const std::string& quantization) {
        std::string text = llama;
        text.insert(text.rfind('}'), ", \"quantization_config\": " + quantization);
        return import(text).precision;
    };
    const sim::Precision fp8 = precision(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
    CHECK(fp8.weights == sim::Storage{sim::NumberFormat::fp8, 128.0 * 128.0, 32.0});
    CHECK(fp8.math == sim::NumberFormat::fp8);
    CHECK(fp8.activations.format == sim::NumberFormat::bf16);
    CHECK(fp8.embeddings.format == sim::NumberFormat::bf16);  // embedding and LM head stay unquantised

    const sim::Precision gptq = precision(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})");
    CHECK(gptq.weights == sim::Storage{sim::NumberFormat::int4, 128.0, 16.0});
    CHECK(gptq.math == sim::NumberFormat::bf16);

    const sim::Precision nvfp4 = precision(R"({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "float"},
      "config_groups": {"group_0": {"input_activations": {"num_bits": 4, "type": "float", "group_size": 16},
      "weights": {"num_bits": 4, "type": "float", "group_size": 16}, "targets": ["Linear"]}}, "ignore": ["lm_head"]})");
    CHECK(nvfp4.weights == sim::Storage{sim::NumberFormat::fp4, 16.0, 8.0});
    CHECK(nvfp4.math == sim::NumberFormat::fp4);
    CHECK(nvfp4.kv_cache.format == sim::NumberFormat::fp8);

    std::string unknown = llama;
    unknown.insert(unknown.rfind('}'), ", \"quantization_config\": {\"quant_method\": \"magic\"}");
    CHECK(failure(unknown).find("quant_method") != std::string::npos);
}

TEST_CASE("only the routed experts are quantised where the rest is ignored") {
    const sim::Model model = import(R"({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "hidden_size": 4096,
      "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 32000,
      "num_local_experts": 8, "num_experts_per_tok": 2, "quantization_config": {"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"input_activations": null, "targets": ["Linear"],
      "weights": {"num_bits": 4, "type": "int", "group_size": 32}}}, "ignore": ["lm_head", "re:.*self_attn.*"]}})");
    CHECK(model.precision.experts == sim::Storage{sim::NumberFormat::int4, 32.0, 16.0});
    CHECK(model.precision.weights == sim::Storage{sim::NumberFormat::bf16});
    CHECK(model.precision.math == sim::NumberFormat::bf16);
}

TEST_CASE("Infinity in a config is read as null, and nowhere else") {
    using namespace models::hugging_face;
    CHECK(has_non_finite_numbers(R"({"model_type": "nemotron_h", "time_step_limit": [0.0, Infinity]})"));
    CHECK_FALSE(has_non_finite_numbers(R"({"width": NaN})"));
    CHECK(without_non_finite_numbers(R"([0.0, Infinity, -Infinity, NaN, "NaN \" Infinity"])") ==
          R"([0.0, null, null, null, "NaN \" Infinity"])");
}

TEST_CASE("no single broken value in a config brings the program down") {
    const std::vector<std::string> configs = {
        llama,
        R"({"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 64, "intermediate_size": 128,
          "hybrid_override_pattern": "M-*E", "mamba_num_heads": 8, "mamba_head_dim": 16, "ssm_state_size": 16, "n_groups": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "n_routed_experts": 8, "num_experts_per_tok": 2,
          "moe_intermediate_size": 32, "num_hidden_layers": 4, "vocab_size": 1000})",
        R"({"architectures": ["Zamba2ForCausalLM"], "model_type": "zamba2", "hidden_size": 64, "intermediate_size": 128,
          "num_attention_heads": 4, "adapter_rank": 8, "num_mem_blocks": 2, "mamba_expand": 2, "mamba_d_state": 16,
          "mamba_headdim": 16, "num_hidden_layers": 3, "layers_block_type": ["mamba", "hybrid", "mamba"], "vocab_size": 1000})",
        R"({"d_model": 64, "n_layer": 3, "vocab_size": 1000, "ssm_cfg": {"layer": "Mamba2", "headdim": 16}, "attn_layer_idx": [1],
          "attn_cfg": {"num_heads": 4, "head_dim": 16}, "pad_vocab_size_multiple": 16})",
        R"({"architectures": ["DeepseekV32ForCausalLM"], "model_type": "deepseek_v32", "hidden_size": 64, "intermediate_size": 128,
          "num_attention_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
          "v_head_dim": 8, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1,
          "first_k_dense_replace": 1, "index_topk": 16, "index_n_heads": 2, "index_head_dim": 8, "num_hidden_layers": 2,
          "vocab_size": 1000, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
        R"({"architectures": ["Glm4MoeForCausalLM"], "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
          "num_key_value_heads": 2, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
          "n_shared_experts": 1, "first_k_dense_replace": 1, "num_hidden_layers": 3, "vocab_size": 1000,
          "sliding_window": 16, "layer_types": ["full_attention", "sliding_attention", "full_attention"],
          "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "FP8",
          "ignore": ["lm_head", "re:.*gate$"], "quantized_layers": {"model.layers.1.self_attn.q_proj": {"quant_algo": "FP8"},
          "model.layers.2.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16}}}})",
        R"({"architectures": ["FalconForCausalLM"], "hidden_size": 64, "num_attention_heads": 4, "num_kv_heads": 2,
          "num_hidden_layers": 2, "vocab_size": 1000, "new_decoder_architecture": true, "bias": false,
          "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "lm_head": true,
          "dynamic": {"-:.*attn.*": {}, "+:.*layers.1.*": {"bits": 8, "group_size": 64}}}})"};
    using Json = nlohmann::ordered_json;
    const std::vector<Json> wrong = {nullptr, -1, 0, 3, 1e30, 1 << 20, "text", "", true, Json::array(), Json::object()};
    for (const std::string& config : configs) {
        import(config);
        const Json whole = Json::parse(config);
        const Json leaves = whole.flatten();
        for (const auto& [pointer, value] : leaves.items()) {
            for (const Json& replacement : wrong) {
                Json broken = whole;
                broken[Json::json_pointer(pointer)] = replacement;
                json::Document document = json::Document::of(broken, "config.json");
                json::Reader root = document.root();
                const sim::Model model = import_hugging_face(root, "m");
                if (document.problems().empty() && problems_of(model).empty()) {
                    CHECK(parameter_count(model) > 0);
                }
            }
        }
    }
}

TEST_CASE("every shared Hugging Face config imports", "[shared]") {
    const auto folder = treeline::testing::shared_measurements("data/hf_configs");
    if (!folder) {
        return;
    }
    std::set<std::string> refused;
    int imported = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
        if (entry.path().extension() != ".json") {
            continue;
        }
        INFO(entry.path().filename().string());
        try {
            const sim::Model model = load_model(source_tree / "models", entry.path().string()).value;
            CHECK(parameter_count(model) > 100'000'000);
            ++imported;
        } catch (const text::InputError& error) {
            INFO(error.what());
            refused.insert(entry.path().stem().string());
            CHECK(error.problems().size() == 1);
        }
    }
    CHECK(imported == 57);
    CHECK(refused.empty());
}

TEST_CASE("shared configs of models with a published total count to the last digit", "[shared]") {
    const auto folder = treeline::testing::shared_measurements("data/hf_configs");
    if (!folder) {
        return;
    }
    const auto count = [&](const std::string& name) {
        return parameter_count(load_model(source_tree / "models", (*folder / (name + ".json")).string()).value);
    };
    // Parameter counts of the safetensors files on Hugging Face.
    CHECK(count("meta-llama--Meta-Llama-3.1-405B") == 405'853'388'800);
    CHECK(count("mistralai--Mixtral-8x7B-v0.1") == 46'702'792'704);
    CHECK(count("Qwen--Qwen3-32B") == 32'762'123'264);
    CHECK(count("Qwen--Qwen3-30B-A3B-FP8") == 30'532'122'624);
    CHECK(count("Qwen--Qwen3-235B-A22B-FP8") == 235'093'634'560);
    CHECK(count("deepseek-ai--DeepSeek-V3") == 671'026'419'200);
    CHECK(count("nvidia--Llama-3_3-Nemotron-Super-49B-v1") == 49'867'145'216);
    CHECK(count("openai--gpt-oss-20b") == 20'914'757'184);
    // The models' cards: 1.6T and 284B.
    CHECK(std::round(static_cast<double>(count("deepseek-ai--DeepSeek-V4-Pro")) / 1e11) == 16.0);
    CHECK(std::round(static_cast<double>(count("deepseek-ai--DeepSeek-V4-Flash")) / 1e9) == 284.0);
}

}  // namespace hugging_face_test
