// The formats of an imported model: what its config says of types and of quantisation.
#include "models/hugging_face/quantization.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/import.h"

namespace treeline::models {

namespace {

using json::Reader;

/// Some checkpoints say only in their name that they are quantised, because the file that says how was not copied along.
void note_claim_of_name(sim::Model& model) {
    for (const char* claim : {"NVFP4", "MXFP4", "FP8", "fp8", "AWQ", "GPTQ", "INT4", "Int4", "INT8", "Int8", "W4A16", "W8A8"}) {
        if (model.name.find(claim) != std::string::npos) {
            model.notes.push_back(std::string("The name says ") + claim +
                                  ", but the config holds no quantization_config and there is no hf_quant_config.json next to "
                                  "it: weights are priced as unquantised. Copy that file as well, or state the precision.");
            return;
        }
    }
}

sim::NumberFormat format_of_dtype(Reader& at, std::string_view key, sim::NumberFormat fallback) {
    std::string word = at.text_or(key, "");
    if (word.rfind("torch.", 0) == 0) {
        word = word.substr(6);
    }
    static const std::vector<std::string> words = {"bfloat16", "float16", "float32"};
    constexpr std::array formats = {sim::NumberFormat::bf16, sim::NumberFormat::fp16, sim::NumberFormat::fp32};
    const auto index = static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
    if (index < words.size()) {
        return formats[index];
    }
    if (!word.empty() && word != "auto") {
        at.problem(key, "\"" + word + "\" is not a type that can be priced; known are bfloat16, float16 and float32");
    }
    return fallback;
}

}  // namespace

void import_precision(Reader& root, Reader& text, Reader* quantization_file, sim::Model& model) {
    sim::NumberFormat base = sim::NumberFormat::bf16;
    sim::NumberFormat state = sim::NumberFormat::fp32;
    for (Reader* at : {&root, &text}) {
        base = format_of_dtype(*at, "dtype", format_of_dtype(*at, "torch_dtype", base));
        state = format_of_dtype(*at, "mamba_ssm_dtype", format_of_dtype(*at, "mamba_ssm_cache_dtype", state));
    }
    if (base ==
        sim::NumberFormat::fp32) {  // vLLM and SGLang take 16 bits for it (--dtype auto), llama.cpp's files have 16 or fewer
        base = sim::NumberFormat::bf16;
        model.notes.emplace_back(
            "Its weights are stored in fp32, which engines load in 16 bits: priced so. State fp32 where yours does not.");
    }
    model.precision = sim::uniform_precision(base);
    model.precision.state = sim::Storage{state};
    if (sim::compresses_cache(model)) {  // DeepSeek-V4 and V4.1: no engine keeps it otherwise
        model.precision.kv_cache = sim::Storage{sim::NumberFormat::fp8};
        model.notes.emplace_back(
            "The cache is kept in fp8, as engines serve it; its few elements in 16 bits are priced so, too.");
    }
    std::optional<Reader> config = text.optional_object("quantization_config");
    if (!config) {
        config = root.optional_object("quantization_config");
    }
    if (!config && root.has("quantization") && root.raw().at("quantization").is_object()) {
        config = root.optional_object("quantization");  // MLX, before it wrote the other key as well
    }
    // Of both, the file beside the config counts only where the config does not say which weights are meant.
    const bool says_which = config && (config->has("config_groups") || config->has("quant_algo") || config->has("bits") ||
                                       config->text_or("quant_method", "modelopt") != "modelopt");
    Reader* stated = quantization_file != nullptr && !says_which ? quantization_file : config ? &*config : nullptr;
    if (stated == nullptr) {
        note_claim_of_name(model);
    } else if (!model.order.empty()) {
        const hugging_face::Quantization quantization = hugging_face::read_quantization(*stated, base, model);
        hugging_face::apply_quantization(quantization, base, model);
        if (quantization.embeddings) {
            model.precision.embeddings = *quantization.embeddings;
        }
    }
    // DeepSeek-V4 and V4.1: MXFP4 experts beside what quantization_config describes.
    const std::string experts = config ? config->text_or("expert_dtype", "") : "";
    if (experts == "fp4" || text.text_or("expert_dtype", "") == "fp4") {
        model.precision.experts = sim::Storage{sim::NumberFormat::fp4, 32.0, 8.0};
    }
}

}  // namespace treeline::models
