#include <array>
#include <string_view>

#include "models/hugging_face/import.h"

namespace treeline::models {

namespace {

struct KnownTokenizer {
    std::string_view model_type;  ///< what the model's type starts with
    sim::Count smallest;          ///< vocabulary sizes, padding included
    sim::Count largest;
    std::string_view vocabulary;
};

// Longer prefixes come before the shorter ones that they start with.
constexpr std::array<KnownTokenizer, 40> known_tokenizers = {{
    {"llama4", 202'048, 202'048, "llama-4"},
    {"llama", 128'256, 128'256, "llama-3"},
    {"nemotron-nas", 128'256, 128'256, "llama-3"},
    {"bamba", 128'256, 128'256, "llama-3"},
    {"mamba_in_llama", 128'256, 128'256, "llama-3"},
    {"llama", 32'000, 32'000, "llama-2"},
    {"mistral", 32'000, 32'000, "mistral-v1"},
    {"mixtral", 32'000, 32'000, "mistral-v1"},
    {"zamba2", 32'000, 32'000, "mistral-v1"},
    {"mistral", 32'768, 32'768, "mistral-v3"},
    {"mixtral", 32'768, 32'768, "mistral-v3"},
    {"mamba2", 32'768, 32'768, "mistral-v3"},
    {"gpt_neox", 50'254, 50'688, "gpt-neox-20b"},
    {"mamba", 50'254, 50'304, "gpt-neox-20b"},
    {"qwen3_5", 248'320, 248'320, "qwen3.5"},
    {"qwen3", 151'936, 151'936, "qwen3"},
    {"qwen2", 151'646, 152'064, "qwen2"},
    {"deepseek", 129'280, 129'280, "deepseek-v3"},
    {"kimi", 163'840, 163'840, "kimi-k2"},
    {"glm_moe_dsa", 154'880, 154'880, "glm-5"},
    {"gpt_oss", 201'088, 201'088, "o200k-harmony"},
    {"minimax", 200'064, 200'064, "minimax"},
    {"nemotron_h", 131'072, 131'072, "nemotron-h"},
    {"gemma4", 262'144, 262'144, "gemma-4"},
    {"step3", 128'896, 128'896, "step-3"},
    {"jamba", 65'536, 65'536, "jamba"},
    {"falcon_h1", 32'768, 32'784, "falcon-h1-32k"},
    {"falcon_h1", 65'536, 65'552, "falcon-h1-64k"},
    {"falcon_h1", 130'048, 130'064, "falcon-h1-128k"},
    {"falcon_h1", 261'120, 261'136, "falcon-h1-256k"},
    // Kimi K2.5 quantised by others calls its language model deepseek_v3.
    {"deepseek", 163'840, 163'840, "kimi-k2"},
    {"kimi_linear", 163'840, 163'840, "kimi-k2"},
    {"gptoss", 201'088, 201'088, "o200k-harmony"},
    {"mistral", 131'072, 131'072, "mistral-tekken"},
    {"ministral", 131'072, 131'072, "mistral-tekken"},
    {"gemma3", 262'144, 262'208, "gemma-3"},
    {"gemma", 256'000, 256'128, "gemma-2"},
    {"glm4", 151'552, 151'552, "glm-4"},
    {"cohere", 256'000, 256'000, "cohere"},
    {"granite", 49'152, 49'216, "granite-3"},
}};

}  // namespace

std::string inferred_vocabulary(const std::string& model_type, sim::Count vocabulary_size) {
    for (const KnownTokenizer& known : known_tokenizers) {
        const bool right_size = vocabulary_size >= known.smallest && vocabulary_size <= known.largest;
        if (right_size && model_type.rfind(known.model_type, 0) == 0) {
            return std::string(known.vocabulary);
        }
    }
    return model_type + "-" + std::to_string(vocabulary_size);
}

}  // namespace treeline::models
