// quantization_config to Precision: fp8 blocks, NVFP4, MXFP4, packed integers (compressed-tensors, GPTQ, AWQ).
#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"
#include "models/hugging_face/import.h"

namespace treeline {

namespace {

using json::Reader;

/// The parts of a model that quantisers treat apart. `mixer` is attention or what replaces it.
struct Coverage {
    std::optional<Storage> mixer;
    std::optional<Storage> dense;    ///< MLP of dense layers
    std::optional<Storage> shared;   ///< shared experts
    std::optional<Storage> experts;  ///< routed experts
    std::optional<Storage> head;     ///< LM head (and with it the embedding); only where a target names it
    bool inputs_too = false;         ///< activations are quantised for the product, so it runs in the weights' format
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// True when a pattern names the whole module ("...self_attn*", "re:.*self_attn.*") and not one tensor inside it.
bool names_whole(std::string_view pattern, std::string_view module) {
    const std::size_t at = pattern.rfind(module);
    if (at == std::string_view::npos) {
        return false;
    }
    return pattern.substr(at + module.size()).find_first_not_of(".*$") == std::string_view::npos;
}

void cover(Coverage& coverage, std::string_view target, const Storage& storage) {
    if (target == "Linear") {
        coverage.mixer = coverage.dense = coverage.shared = coverage.experts = storage;
    } else if (contains(target, "lm_head")) {
        coverage.head = storage;
    } else if (contains(target, "shared_expert")) {
        coverage.shared = storage;
    } else if (contains(target, ".experts")) {
        coverage.experts = storage;
    } else if (contains(target, "attn") || contains(target, "mixer")) {
        coverage.mixer = storage;
    } else if (contains(target, "mlp")) {
        coverage.dense = storage;
    }
}

void uncover(Coverage& coverage, std::string_view pattern) {
    if (names_whole(pattern, "self_attn") || names_whole(pattern, "linear_attn")) {
        coverage.mixer.reset();
    }
    if (names_whole(pattern, "shared_experts") || names_whole(pattern, "shared_expert")) {
        coverage.shared.reset();
    }
    if (names_whole(pattern, "experts") && !contains(pattern, "shared_expert")) {
        coverage.experts.reset();
    }
    if (names_whole(pattern, "mlp") || contains(pattern, "mlp\\.(gate|up|gate_up|down)_proj")) {
        coverage.dense.reset();
    }
}

Storage integer_storage(Reader& at, std::string_view bits_key, double group_size) {
    Storage storage;
    storage.format = at.count(bits_key, 4, 8) == 8 ? NumberFormat::int8 : NumberFormat::int4;
    storage.group_size = group_size;
    storage.scale_bits = 16.0;
    return storage;
}

/// Weights of one config group of compressed-tensors or ModelOpt.
Storage group_storage(Reader weights) {
    const double group_size = static_cast<double>(weights.count_or("group_size", 0, 0, 1 << 20));
    if (weights.text_or("type", "int") != "float") {
        return integer_storage(weights, "num_bits", group_size);
    }
    Storage storage;
    storage.format = weights.count("num_bits", 4, 8) == 8 ? NumberFormat::fp8 : NumberFormat::fp4;
    storage.group_size = group_size;
    storage.scale_bits = storage.format == NumberFormat::fp4 ? 8.0 : 32.0;  // MX and NVFP4 block scales are bytes
    return storage;
}

Coverage coverage_of_groups(Reader& config) {
    Coverage coverage;
    for (auto& [name, group] : config.members("config_groups")) {
        const Storage storage = group_storage(group.object("weights"));
        coverage.inputs_too = group.has("input_activations");
        for (const std::string& target : group.texts("targets")) {
            cover(coverage, target, storage);
        }
    }
    return coverage;
}

/// fp8 with one 32-bit scale a block of weights, or a tensor where no block is given.
Storage fp8_storage(Reader& config) {
    Storage storage{NumberFormat::fp8};
    if (config.has("weight_block_size")) {
        storage.group_size = 1.0;
        for (const Count edge : config.counts("weight_block_size", 1, 1 << 16)) {
            storage.group_size *= static_cast<double>(edge);
        }
        storage.scale_bits = 32.0;
    }
    return storage;
}

Coverage coverage_of(Reader& config, Model& model) {
    const std::string method = config.choice("quant_method", {"fp8", "mxfp4", "compressed-tensors", "modelopt", "gptq", "awq"});
    Coverage coverage;
    if (method == "fp8") {
        cover(coverage, "Linear", fp8_storage(config));
        coverage.inputs_too = true;
    } else if (method == "mxfp4") {
        cover(coverage, "Linear", Storage{NumberFormat::fp4, 32.0, 8.0});
    } else if (method == "gptq" || method == "awq") {
        const double group_size = static_cast<double>(std::max<Count>(0, config.count_or("group_size", 128, -1, 1 << 20)));
        cover(coverage, "Linear", integer_storage(config, "bits", group_size));
    } else if (config.has("config_groups")) {
        coverage = coverage_of_groups(config);
    } else {
        model.notes.emplace_back("The config says that weights are quantised but not which: they are priced as unquantised.");
    }
    for (const char* key : {"ignore", "modules_to_not_convert", "exclude_modules"}) {
        const bool empty = config.has(key) && config.raw().at(key).is_array() && config.raw().at(key).empty();
        if (config.has(key) && !empty) {
            for (const std::string& pattern : config.texts(key)) {
                uncover(coverage, pattern);
            }
        }
    }
    return coverage;
}

/// Notes parts of the model that are stored in another format than the one they are priced as.
void note_differences(const Coverage& coverage, const Storage& priced, NumberFormat base, bool has_experts, Model& model) {
    std::string parts;
    const auto compare = [&](const std::optional<Storage>& part, const char* what) {
        const Storage stored = part.value_or(Storage{base});
        if (stored.format != priced.format) {
            parts += (parts.empty() ? "" : ", ") + std::string(what) + " (" + std::string(name_of(stored.format)) + ")";
        }
    };
    const auto has = [&](auto is_kind) {
        return std::any_of(model.kinds.begin(), model.kinds.end(),
                           [&](const LayerKind& kind) { return std::any_of(kind.blocks.begin(), kind.blocks.end(), is_kind); });
    };
    compare(coverage.mixer, "attention");
    if (has([](const Block& block) { return std::holds_alternative<Mlp>(block.kind); })) {
        compare(coverage.dense, "dense MLP");
    }
    if (has_experts && has([](const Block& block) {
            const auto* moe = std::get_if<MixtureOfExperts>(&block.kind);
            return moe != nullptr && moe->shared_hidden > 0;
        })) {
        compare(coverage.shared, "shared experts");
    }
    if (!parts.empty()) {
        model.notes.push_back("Priced as " + std::string(name_of(priced.format)) +
                              " like the other weights, though stored otherwise: " + parts + ".");
    }
}

/// Fills weights, experts, embeddings and math. Precision has one storage for all other weights: where attention and MLP
/// differ, attention speaks for a mixture of experts and the MLP (the larger part) for a dense model.
void apply(const Coverage& coverage, Precision& precision, Model& model) {
    const NumberFormat base = precision.math;
    bool has_experts = false;
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            has_experts = has_experts || std::holds_alternative<MixtureOfExperts>(block.kind);
        }
    }
    const std::optional<Storage>& speaker = has_experts ? coverage.mixer : coverage.dense;
    precision.weights = speaker.value_or(Storage{base});
    precision.experts = has_experts ? coverage.experts.value_or(Storage{base}) : precision.weights;
    precision.embeddings = coverage.head.value_or(Storage{base});
    if (speaker && coverage.inputs_too) {
        precision.math = speaker->format;
    }
    if (speaker || coverage.experts) {
        note_differences(coverage, precision.weights, base, has_experts, model);
    }
}

/// Some checkpoints say only in their name, or in a file beside the config, that they are quantised.
void note_claim_of_name(Model& model) {
    for (const char* claim : {"NVFP4", "FP8", "AWQ", "GPTQ", "INT4", "Int4", "W4A16"}) {
        if (model.name.find(claim) != std::string::npos) {
            model.notes.push_back(std::string("The name says ") + claim +
                                  ", but the config holds no quantization_config: weights are priced as unquantised.");
            return;
        }
    }
}

NumberFormat format_of_dtype(Reader& at, std::string_view key, NumberFormat fallback) {
    std::string word = at.text_or(key, "");
    if (word.rfind("torch.", 0) == 0) {
        word = word.substr(6);
    }
    static const std::vector<std::string> words = {"bfloat16", "float16", "float32"};
    constexpr std::array formats = {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};
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

Precision imported_precision(Reader& root, Reader& text, Model& model) {
    NumberFormat base = NumberFormat::bf16;
    NumberFormat state = NumberFormat::fp32;
    for (Reader* at : {&root, &text}) {
        base = format_of_dtype(*at, "dtype", format_of_dtype(*at, "torch_dtype", base));
        state = format_of_dtype(*at, "mamba_ssm_dtype", format_of_dtype(*at, "mamba_ssm_cache_dtype", state));
    }
    Precision precision = uniform_precision(base);
    precision.state = Storage{state};
    std::optional<Reader> config = text.optional_object("quantization_config");
    if (!config) {
        config = root.optional_object("quantization_config");
    }
    if (config) {
        apply(coverage_of(*config, model), precision, model);
        if (std::optional<Reader> cache = config->optional_object("kv_cache_scheme")) {
            precision.kv_cache = group_storage(*cache);
            precision.kv_cache.group_size = 0.0;
        }
    } else {
        note_claim_of_name(model);
    }
    return precision;
}

}  // namespace treeline
