// Do the words of a measured row name what people mean by them?
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <variant>

#include "measured_row.h"

namespace row_names_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

std::string model_of(const std::string& text) {
    const Mapped<std::string> found = model_named(parts(), text);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : std::get<Unmapped>(found).reason;
}

std::string device_of(const std::string& text) {
    const Mapped<std::string> found = device_named(parts(), text);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : std::get<Unmapped>(found).reason;
}

/// Bytes of a weight of linear layers, and of experts.
std::pair<double, double> weight_bytes_of(const std::string& model, const std::string& format, std::string_view engine = {}) {
    const sim::Precision precision = precision_named(parts(), model, format, engine);
    return {precision.weights.per_element().value(), precision.experts.per_element().value()};
}

}  // namespace

TEST_CASE("widths in bits are read alike for dense models and mixtures, and as MLX stores them") {
    for (const std::string model : {"qwen3.5-27b", "qwen3.6-35b-a3b"}) {
        CAPTURE(model);
        for (const std::string format : {"8bit", "8-bit", "MLX 8bit"}) {
            CAPTURE(format);
            CHECK(weight_bytes_of(model, format, "mlx") == std::pair(8.5 / 8.0, 8.5 / 8.0));
        }
        CHECK(weight_bytes_of(model, "6bit", "mlx") == std::pair(6.5 / 8.0, 6.5 / 8.0));
        CHECK(weight_bytes_of(model, "5-bit", "mlx") == std::pair(5.5 / 8.0, 5.5 / 8.0));
        CHECK(weight_bytes_of(model, "4bit", "mlx") == std::pair(4.5 / 8.0, 4.5 / 8.0));
        CHECK(weight_bytes_of(model, "W8A16") == std::pair(8.125 / 8.0, 8.125 / 8.0));
        CHECK(weight_bytes_of(model, "mxfp8") == std::pair(8.25 / 8.0, 8.25 / 8.0));
    }
    CHECK(precision_named(parts(), "qwen3.6-35b-a3b", "8bit", "mlx").embeddings.per_element().value() == 8.5 / 8.0);
    CHECK(precision_named(parts(), "qwen3.6-35b-a3b", "8bit").embeddings.per_element().value() == 2.0);
}

TEST_CASE("models are found by what people call them") {
    CHECK(model_of("Qwen2.5-Coder-32B-Instruct-AWQ") == "qwen2.5-32b");
    CHECK(model_of("google/gemma-3-27b-it") == "gemma-3-27b");
    CHECK(model_of("mistralai/Mistral-Small-3.2-24B-Instruct-2506") == "mistral-small-24b");
    CHECK(model_of("Devstral-Small-2507") == "mistral-small-24b");
    CHECK(model_of("microsoft/phi-4") == "phi-4");
    CHECK(model_of("meta-llama/Llama-3.1-8B-Instruct") == "llama-3.1-8b");
    CHECK(model_of("nvidia/Llama-3.1-8B-Instruct-FP8") == "llama-3.1-8b");
    CHECK(model_of("Meta-Llama-3.1-70B") == "llama-3.1-70b");
    CHECK(model_of("Qwen3-235B-A22B-Instruct-2507") == "qwen3-235b-a22b");
    CHECK(model_of("Qwen3-8B-Thinking") == "qwen3-8b");
    CHECK(model_of("DeepSeek-R1-0528") == "deepseek-r1");
    CHECK(model_of("GLM-5.1 (NVFP4, lukealonso/GLM-5.1-NVFP4-MTP)") == "glm-5");
    CHECK(model_of("amd/Kimi-K2.5-MXFP4") == "kimi-k2.6");
    CHECK(model_of("Qwen3.8-27B + LoRA") == "qwen3.5-27b");
    CHECK(model_of("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4 (hybrid Mamba-2 MoE)") == "nemotron-3-nano-30b-a3b");
    CHECK(model_of("not kept") == "the target model is not stated");
    CHECK(model_of("DeepSeek-V4-Pro-0813") == "deepseek-v4-pro");
    CHECK(model_of("nvidia/DeepSeek-V4-Flash-NVFP4") == "deepseek-v4-flash");
    CHECK(model_of("DeepSeek-V4.1 (MXFP4)") == "an architecture that is not modelled");
    CHECK(model_of("meta-llama/Llama-4-Maverick-17B-128E-Instruct") == "llama-4-maverick");
    CHECK(model_of("NVIDIA-Nemotron-3-Super-120B-A12B-BF16") == "nemotron-3-super-120b-a12b");
    CHECK(model_of("google/gemma-4-12B-it") == "gemma-4-12b");
    CHECK(model_of("poolside/Laguna-S-2.1-INT4") == "laguna-s-2.1");
    CHECK(model_of("Unheard-Of-7B") == "no description of the target model");
    CHECK(model_of("deepseek-ai/DeepSeek-R1-Distill-Llama-8B") == "llama-3.1-8b");
    CHECK(model_of("mistralai/Mixtral-8x7B-Instruct-v0.1") == "mixtral-8x7b");
    CHECK(model_of("deepseek-ai/DeepSeek-V2.5") == "deepseek-v2");
    CHECK(model_of("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B") == "qwen3-8b");
    CHECK(model_of("facebook/opt-13b") == "opt-13b");
    CHECK(model_of("ibm-granite/granite-4.0-h-small") == "granite-4.0-h-small");
    CHECK(model_of("state-spaces/mamba-2.8b-hf") == "mamba-2.8b");
    CHECK(model_of("allenai/Olmo-3.1-32B-Think") == "olmo-3-32b");
    // A version is not a date: V3.2 has an indexer that V3 lacks.
    CHECK(model_of("deepseek-ai/DeepSeek-V3.2") == "deepseek-v3.2");
}

TEST_CASE("devices and engines are found by what people call them") {
    CHECK(device_of("h100_sxm") == "h100-sxm");
    CHECK(device_of("H100 80GB") == "h100-sxm");
    CHECK(device_of("H100 NVL") == "h100-nvl");
    CHECK(device_of("8x NVIDIA A100-SXM4-80GB") == "a100-sxm-80");
    CHECK(device_of("8xH100") == "h100-sxm");
    CHECK(device_of("A100-SXM4-40GB") == "a100-sxm-40");
    CHECK(device_of("2x RTX4090 24GB") == "rtx-4090");
    CHECK(device_of("AMD RX7900 XTX") == "rx-7900-xtx");
    CHECK(device_of("AMD Instinct MI250X") == "mi250x");
    CHECK(device_of("Intel Xeon Platinum 8480+") == "xeon-8480plus");
    CHECK(device_of("4 x A100-80GB") == "a100-sxm-80");
    CHECK(device_of("GH200 480GB") == "gh200");
    CHECK(device_of("NVIDIA L20") == "l20");
    CHECK(device_of("Apple M5") == "m5");
    CHECK(device_of("NVIDIA GeForce RTX 4090") == "rtx-4090");
    CHECK(device_of("RTX PRO 6000 Blackwell Max-Q 96GB") == "rtx-pro-6000");
    CHECK(device_of("H20 (8x H20 stated only for the live-traffic figure of the same page set)") == "h20");
    CHECK(device_of("RTX 3090 24GB (Q4_K_M, 131K, 250W)") == "rtx-3090");
    CHECK(device_of("GB10 (4)") == "dgx-spark");
    CHECK(device_of("see thread") == "the device is not stated");
    CHECK(device_of("Apple M5 Max 128GB") == "m5-max");
    CHECK(device_of("NVIDIA GeForce RTX 3080 10GB") == "rtx-3080");
    CHECK(device_of("2x RTX 5060 Ti 16GB") == "rtx-5060-ti-16");
    CHECK(device_of("Ascend Atlas 800T A2") == "ascend-910b");
    CHECK(device_of("RTX 5080 16GB + RTX 3090 24GB (TP)") == "different cards in one machine");
    CHECK(device_of("Trainium") == "no description of the device");
    CHECK(std::get<std::string>(stack_named(parts(), "vllm or sglang (not stated)", "")) == "vllm");
    CHECK(std::get<std::string>(stack_named(parts(), "trtllm", "")) == "tensorrt-llm");
    CHECK(std::get<std::string>(stack_named(parts(), "vllm-ascend", "")) == "cuda-graph");
    CHECK(std::get<std::string>(stack_named(parts(), "mlx", "mlx 0.31.1")) == "mlx-0.31");
    CHECK(std::get<std::string>(stack_named(parts(), "mlx", "0.32")) == "mlx-0.32.1");
    CHECK(std::get<std::string>(stack_named(parts(), "mlx", "rapid-mlx 0.13.5")) == "mlx");  // a version of another program
    CHECK(std::get<std::string>(stack_named(parts(), "LM Studio", "")) == "llama.cpp");
    CHECK(std::get<std::string>(stack_named(parts(), "Dynamo + SGLang", "")) == "sglang");
    CHECK(std::get<std::string>(stack_named(parts(), "not stated", "")) == "cuda-graph");
    CHECK(std::get<Unmapped>(stack_named(parts(), "an engine of their own", "")).reason == "no stack of the engine");
}

TEST_CASE("a version of an engine picks the newest stack that is not newer") {
    ServingParts some = parts();
    const sim::Stack any = some.stacks.at("vllm");
    std::erase_if(some.stacks, [](const auto& named) { return named.first.starts_with("vllm-"); });
    for (const char* name : {"vllm-0.10", "vllm-0.18"}) {
        some.stacks[name] = any;
    }
    const auto stack = [&](const std::string& version) { return std::get<std::string>(stack_named(some, "vllm", version)); };
    CHECK(stack("0.10.1") == "vllm-0.10");
    CHECK(stack("v0.19.0 (rocm)") == "vllm-0.18");
    CHECK(stack("0.17.0rc1") == "vllm-0.10");
    CHECK(stack("0.6.2") == "vllm-0.10");  // older than all: the oldest
    CHECK(stack("") == "vllm");
    CHECK(stack("main 73b8394") == "vllm");
    CHECK(stack("2026-03 nightly") == "vllm");
}

TEST_CASE("formats are words of a row") {
    CHECK(weight_bytes_of("llama-3.1-8b", "") == std::pair(2.0, 2.0));
    CHECK(weight_bytes_of("llama-3.1-8b", "fp8 fp8_block") == std::pair(1.0, 1.0));
    // NVFP4: 4 bits and a scale of 8 for 16 elements. Experts alone are in it where checkpoints leave attention in 16 bits.
    CHECK(weight_bytes_of("llama-3.1-70b", "NVFP4") == std::pair(0.5625, 0.5625));
    CHECK(weight_bytes_of("glm-5", "nvfp4 (b12x W4A16 MoE), fp8 KV") == std::pair(2.0, 0.5625));
    CHECK(weight_bytes_of("qwen3.5-27b", "nvfp4").first == 0.5625);  // no experts: all of its layers
    // Kimi's own checkpoint: int4 experts with a 16-bit scale for 32 elements, the rest in bf16.
    CHECK(weight_bytes_of("kimi-k2.6", "int4 (compressed-tensors W4A16), fp8 KV") == std::pair(2.0, 0.5625));
    CHECK(precision_named(parts(), "kimi-k2.6", "int4, fp8 KV").kv_cache.format == sim::NumberFormat::fp8);
    CHECK(weight_bytes_of("llama-3.1-8b", "fp8 KV") == std::pair(2.0, 2.0));
    // (4 + 24/32) bits; the cache's format is another one.
    CHECK(weight_bytes_of("qwen3.5-27b", "UD-Q4_K_XL, q8_0 KV").first == 0.59375);
    CHECK(precision_named(parts(), "qwen3.5-27b", "UD-Q4_K_XL, q8_0 KV").kv_cache.format == sim::NumberFormat::int8);
    CHECK(weight_bytes_of("qwen3.5-27b", "Q8_0, q4_0 KV, 131K").first == 1.0625);
}

}  // namespace row_names_test
