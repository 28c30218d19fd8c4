// What quantisation configs say, method by method.
#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"
#include "models/hugging_face/quantization.h"
#include "models/hugging_face/quantization_parts.h"

namespace treeline::models::hugging_face {

namespace {

using enum sim::NumberFormat;

/// An algorithm of ModelOpt, as `quant_algo` names it. Scales: NVFP4 has one fp8 scale for 16 weights, MX formats one power of
/// two in a byte for 32, AWQ a 16-bit one for its group, blocks of fp8 a 32-bit one for 128 × 128.
struct Algorithm {
    std::string_view name;
    sim::NumberFormat weights;
    double group_size;
    double scale_bits;
    std::optional<sim::NumberFormat> math;  ///< of products where inputs are quantised; none: that of unquantised weights
};

constexpr std::array<Algorithm, 17> algorithms = {{
    {"FP8", fp8, 0.0, 32.0, fp8},
    {"FP8_PER_CHANNEL_PER_TOKEN", fp8, 0.0, 32.0, fp8},
    {"FP8_BLOCK_SCALES", fp8, 16'384.0, 32.0, fp8},
    {"FP8_PB_REAL", fp8, 16'384.0, 32.0, fp8},
    {"FP8_PB_WO", fp8, 16'384.0, 32.0, std::nullopt},
    {"MXFP8", fp8, 32.0, 8.0, fp8},
    {"NVFP4", fp4, 16.0, 8.0, fp4},
    {"NVFP4_AWQ", fp4, 16.0, 8.0, fp4},
    {"NVFP4_SVDQUANT", fp4, 16.0, 8.0, fp4},
    {"W4A16_NVFP4", fp4, 16.0, 8.0, std::nullopt},
    {"W4A8_NVFP4_FP8", fp4, 32.0, 8.0, fp8},
    {"MXFP4", fp4, 32.0, 8.0, fp4},
    {"W4A8_MXFP4_FP8", fp4, 32.0, 8.0, fp8},
    {"W4A16_AWQ", int4, 128.0, 16.0, std::nullopt},
    {"W4A8_AWQ", int4, 128.0, 16.0, fp8},
    {"W8A16", int8, 0.0, 16.0, std::nullopt},
    {"W8A8_SQ_PER_CHANNEL", int8, 0.0, 16.0, int8},
}};

/// The wider of two formats: products of 4-bit weights with 8-bit inputs run in 8 bits.
sim::NumberFormat wider(sim::NumberFormat a, sim::NumberFormat b) { return sim::bits_of(b) > sim::bits_of(a) ? b : a; }

/// The format that an algorithm stands for; nothing for weights that stay as they are.
std::optional<StoredFormat> format_of_algorithm(Reader& at, sim::NumberFormat base) {
    std::string name = at.text("quant_algo");
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (name == "UNQUANTIZED" || name == "NONE") {
        return std::nullopt;
    }
    std::string known;
    for (const Algorithm& algorithm : algorithms) {
        if (algorithm.name == name) {
            const auto group =
                static_cast<double>(at.count_or("group_size", static_cast<sim::Count>(algorithm.group_size), 0, largest_group));
            // "group_size": 128 of block-wise fp8 means blocks of 128 × 128.
            const bool edge = algorithm.group_size == 16'384.0;
            return StoredFormat{{algorithm.weights, edge ? algorithm.group_size : group, algorithm.scale_bits},
                                algorithm.math.value_or(base)};
        }
        known += (known.empty() ? "" : ", ") + std::string(algorithm.name);
    }
    at.problem("quant_algo", "\"" + name + "\" is not an algorithm that can be priced; known are " + known);
    return std::nullopt;
}

sim::Storage integer_storage(Reader& at, std::string_view bits_key, double group_size) {
    return integers_of(static_cast<double>(at.count(bits_key, 2, 8)), group_size, 16.0);
}

/// Weights or inputs of one config group of compressed-tensors or ModelOpt.
sim::Storage group_storage(Reader& at) {
    auto group_size = static_cast<double>(std::max<sim::Count>(0, at.count_or("group_size", 0, -1, largest_group)));
    if (at.has("block_structure")) {
        group_size = 1.0;
        for (const sim::Count edge : at.counts("block_structure", 1, 1 << 16)) {
            group_size *= static_cast<double>(edge);
        }
    }
    if (at.text_or("type", "int") != "float") {
        return integer_storage(at, "num_bits", group_size);
    }
    const sim::NumberFormat format = at.count("num_bits", 4, 8) == 8 ? fp8 : fp4;
    return {format, group_size, format == fp4 ? 8.0 : 32.0};
}

StoredFormat group_format(Reader& group, sim::NumberFormat base) {
    Reader weights = group.object("weights");
    StoredFormat format{group_storage(weights), base};
    if (std::optional<Reader> inputs = group.optional_object("input_activations")) {
        format.math = wider(format.storage.format, group_storage(*inputs).format);
    }
    return format;
}

/// The texts of a list; nothing where it is absent or empty.
std::vector<std::string> texts_or_none(Reader& at, std::string_view key) {
    const bool empty = at.has(key) && at.raw().at(std::string(key)).is_array() && at.raw().at(std::string(key)).empty();
    return at.has(key) && !empty ? at.texts(key) : std::vector<std::string>{};
}

void read_groups(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    for (auto& [name, group] : config.members("config_groups")) {
        const StoredFormat format = group_format(group, base);
        // Checkpoints of ModelOpt 0.31 name no targets: all linear layers.
        const std::vector<std::string> targets =
            group.has("targets") ? texts_or_none(group, "targets") : std::vector<std::string>{"Linear"};
        for (const std::string& target : targets) {
            if (target == "Linear") {
                result.linear = format;
                result.lm_head = true;
            } else {
                add_pattern(result.named, target, format, model);
            }
        }
    }
}

void read_layers(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    for (auto& [name, layer] : config.members("quantized_layers")) {
        const std::optional<StoredFormat> format = format_of_algorithm(layer, base);
        add_pattern(format ? result.named : result.excluded, name, format.value_or(StoredFormat{}), model);
    }
}

/// compressed-tensors and ModelOpt. What is said of single layers goes before what is said of groups, and that before the one
/// algorithm: ModelOpt writes all three of the same checkpoint, and engines read them so.
void read_groups_or_algorithm(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    const bool mixed = config.text_or("quant_algo", "") == "MIXED_PRECISION";
    if (config.has("quantized_layers")) {
        read_layers(config, base, result, model);
    } else if (config.has("config_groups")) {
        read_groups(config, base, result, model);
    } else if (config.has("quant_algo") && !mixed) {
        result.linear = format_of_algorithm(config, base);
        result.lm_head = true;
    } else {
        model.notes.emplace_back(
            "The config says that weights are quantised but not which ones (it has neither quantized_layers nor "
            "config_groups): they are priced as unquantised.");
    }
}

void read_gptq(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    const auto group_size = static_cast<double>(std::max<sim::Count>(0, config.count_or("group_size", 128, -1, largest_group)));
    result.linear = StoredFormat{integer_storage(config, "bits", group_size), base};
    result.lm_head = config.flag_or("lm_head", false);
    const bool has_rules =
        config.has("dynamic") && config.raw().at("dynamic").is_object() && !config.raw().at("dynamic").empty();
    for (auto& [rule, at] : has_rules ? config.members("dynamic") : std::vector<std::pair<std::string, Reader>>{}) {
        // "-:pattern" leaves out; "+:pattern" or the pattern alone has its own bits.
        const std::string pattern = "re:" + (rule.starts_with("-:") || rule.starts_with("+:") ? rule.substr(2) : rule);
        if (rule.starts_with("-:") || !at.has("bits")) {
            add_pattern(result.excluded, pattern, {}, model);
        } else {
            const auto own_group = static_cast<double>(
                std::max<sim::Count>(0, at.count_or("group_size", static_cast<sim::Count>(group_size), -1, largest_group)));
            add_pattern(result.named, pattern, {integer_storage(at, "bits", own_group), base}, model);
        }
    }
    // AutoRound lists modules with settings of their own; 16 bits and more are unquantised.
    const bool has_extra =
        config.has("extra_config") && config.raw().at("extra_config").is_object() && !config.raw().at("extra_config").empty();
    for (auto& [name, at] : has_extra ? config.members("extra_config") : std::vector<std::pair<std::string, Reader>>{}) {
        if (at.count_or("bits", 16, 2, 32) >= 16) {
            add_pattern(result.excluded, name, {}, model);
        } else {
            add_pattern(result.named, name, {integer_storage(at, "bits", group_size), base}, model);
        }
    }
}

void read_bitsandbytes(Reader& config, sim::NumberFormat base, Quantization& result) {
    if (config.flag_or("load_in_4bit", false) || config.flag_or("_load_in_4bit", false)) {
        // Blocks of 64 share a 32-bit scale; quantised twice, an 8-bit one and 32 bits for 256 of those.
        const double scale_bits = config.flag_or("bnb_4bit_use_double_quant", false) ? 8.0 + 32.0 / 256.0 : 32.0;
        result.linear = StoredFormat{{int4, 64.0, scale_bits}, base};
    } else {
        result.linear = StoredFormat{{int8}, int8};
    }
}

/// One tensor of Quark: {"dtype": "fp8_e4m3", "group_size": 32, "qscheme": ...}.
sim::Storage quark_storage(Reader& at) {
    const std::string type = at.text("dtype");
    const auto group_size = static_cast<double>(std::max<sim::Count>(0, at.count_or("group_size", 0, -1, largest_group)));
    if (type.starts_with("fp8")) {
        return {fp8, group_size, 32.0};
    }
    if (type.starts_with("fp4")) {
        return {fp4, group_size, 8.0};
    }
    if (type == "int8" || type == "int4" || type == "uint4") {
        return {type == "int8" ? int8 : int4, group_size, 16.0};
    }
    at.problem("dtype", "\"" + type + "\" is not a type that can be priced; known are fp8_e4m3, fp4, int8 and int4");
    return {};
}

void read_quark(Reader& config, sim::NumberFormat base, Quantization& result, sim::Model& model) {
    const auto format_of = [&](Reader& at) {
        Reader weight = at.object("weight");
        StoredFormat format{quark_storage(weight), base};
        if (std::optional<Reader> inputs = at.optional_object("input_tensors")) {
            format.math = wider(format.storage.format, quark_storage(*inputs).format);
        }
        return format;
    };
    Reader global = config.object("global_quant_config");
    result.linear = format_of(global);
    const bool has_layers = config.has("layer_quant_config") && config.raw().at("layer_quant_config").is_object() &&
                            !config.raw().at("layer_quant_config").empty();
    for (auto& [name, at] : has_layers ? config.members("layer_quant_config") : std::vector<std::pair<std::string, Reader>>{}) {
        add_pattern(result.named, name, format_of(at), model);
    }
}

/// fp8 with one 32-bit scale a block of weights, or a tensor where no block is given.
sim::Storage fp8_storage(Reader& config) {
    sim::Storage storage{fp8};
    if (config.has("weight_block_size")) {
        storage.group_size = 1.0;
        for (const sim::Count edge : config.counts("weight_block_size", 1, 1 << 16)) {
            storage.group_size *= static_cast<double>(edge);
        }
        storage.scale_bits = 32.0;
    }
    return storage;
}

void read_cache(Reader& config, Quantization& result, sim::Model& model) {
    // compressed-tensors writes an object, ModelOpt in some files a word.
    const bool is_word = config.has("kv_cache_scheme") && config.raw().at("kv_cache_scheme").is_string();
    const char* key = is_word ? "kv_cache_scheme" : "kv_cache_quant_algo";
    if (!is_word) {
        if (std::optional<Reader> cache = config.optional_object("kv_cache_scheme")) {
            result.kv_cache = group_storage(*cache);
            result.kv_cache->group_size = 0.0;
        }
    }
    std::string algorithm = config.text_or(key, "");
    std::transform(algorithm.begin(), algorithm.end(), algorithm.begin(), [](unsigned char c) { return std::toupper(c); });
    if (algorithm == "NONE" || algorithm == "AUTO") {
        return;
    }
    if (algorithm.starts_with("FP8")) {
        result.kv_cache = sim::Storage{fp8};
    } else if (algorithm == "INT8") {
        result.kv_cache = sim::Storage{int8};
    } else if (algorithm == "NVFP4") {
        result.kv_cache = sim::Storage{fp4, 16.0, 8.0};
    } else if (!algorithm.empty()) {
        model.notes.push_back("The config's " + std::string(key) + ", \"" + algorithm +
                              "\", is not known (FP8, INT8 and NVFP4 are): the format of the cache is left as that of "
                              "unquantised weights; state \"kv_cache\" as part of the precision.");
    }
}

}  // namespace

Quantization read_quantization(json::Reader& file, sim::NumberFormat base, sim::Model& model) {
    std::optional<Reader> inner = file.optional_object("quantization");  // of an hf_quant_config.json
    Reader& config = inner ? *inner : file;
    const bool is_modelopt = inner || (!config.has("quant_method") && config.has("quant_algo"));
    const bool is_mlx = !is_modelopt && !config.has("quant_method") && (config.has("bits") || config.has("mode"));
    std::vector<std::string> methods = {
        "fp8",  "fbgemm_fp8", "mxfp4",      "compressed-tensors", "modelopt", "modelopt_fp4", "modelopt_mixed",
        "gptq", "awq",        "auto-round", "bitsandbytes",       "quark",    "exl3"};
    methods.insert(methods.end(), further_methods().begin(), further_methods().end());
    const std::string method = is_modelopt ? "modelopt" : is_mlx ? "mlx" : config.choice("quant_method", methods);
    const bool further = std::find(further_methods().begin(), further_methods().end(), method) != further_methods().end();
    Quantization result;
    bool names_layers = false;
    if (method == "fp8" || method == "fbgemm_fp8") {
        result.linear = StoredFormat{fp8_storage(config), fp8};
        // ModelOpt requantises some layers of an fp8 checkpoint: they are listed, and what it ignores stays in fp8.
        names_layers = config.has("quantized_layers");
        if (names_layers) {
            read_layers(config, base, result, model);
        }
    } else if (method == "mxfp4") {
        result.linear = StoredFormat{{fp4, 32.0, 8.0}, base};
    } else if (method == "gptq" || method == "awq" || method == "auto-round") {
        read_gptq(config, base, result, model);
    } else if (method == "bitsandbytes") {
        read_bitsandbytes(config, base, result);
    } else if (method == "mlx") {
        read_mlx(config, base, result, model);
    } else if (method == "exl3") {
        read_exl3(config, base, result, model);
    } else if (further) {
        read_further(method, config, base, result);
    } else if (method == "quark") {
        read_quark(config, base, result, model);
    } else {
        read_groups_or_algorithm(config, base, result, model);
    }
    for (const char* key :
         {"ignore", "modules_to_not_convert", "exclude_modules", "exclude", "ignored_layers", "llm_int8_skip_modules"}) {
        if (names_layers && std::string_view(key) == "ignore") {
            continue;
        }
        for (const std::string& pattern : texts_or_none(config, key)) {
            add_pattern(result.excluded, pattern, {}, model);
        }
    }
    read_cache(config, result, model);
    return result;
}

}  // namespace treeline::models::hugging_face
