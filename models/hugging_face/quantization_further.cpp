// Quantisation methods of few words: Transformers' own integrations and engines' (HQQ, torchao, quanto, AQLM, BitNet,
// SGLang's).
#include <algorithm>
#include <array>
#include <cctype>

#include <nlohmann/json.hpp>

#include "models/hugging_face/quantization_parts.h"

namespace treeline::models::hugging_face {

namespace {

using enum sim::NumberFormat;

/// A method whose name says all: bits and groups of weights, and what products run in where inputs are quantised, too.
struct NamedMethod {
    std::string_view name;
    sim::NumberFormat format;
    double bits, group_size, scale_bits;
    std::optional<sim::NumberFormat> math;
};

constexpr std::array<NamedMethod, 9> named_methods = {{
    {"bitnet", int8, 2.0, 0.0, 16.0, int8},  // three values, four weights a byte; inputs in int8
    {"eetq", int8, 8.0, 0.0, 16.0, std::nullopt},
    {"experts_int8", int8, 8.0, 0.0, 16.0, std::nullopt},
    {"w8a8_int8", int8, 8.0, 0.0, 32.0, int8},
    {"w8a8_fp8", fp8, 8.0, 0.0, 32.0, fp8},
    {"ptpc_fp8", fp8, 8.0, 0.0, 32.0, fp8},
    {"mxfp8", fp8, 8.0, 32.0, 8.0, fp8},
    {"petit_nvfp4", fp4, 4.0, 16.0, 8.0, std::nullopt},
    {"fp_quant", fp4, 4.0, 32.0, 8.0, fp4},
}};

const NamedMethod* named_method(std::string_view name) {
    const auto* const found = std::find_if(named_methods.begin(), named_methods.end(),
                                           [&](const NamedMethod& method) { return method.name == name; });
    return found == named_methods.end() ? nullptr : found;
}

bool has_part(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Letters and digits of a JSON value, in small letters: "int4weightonlyconfig".
std::string words_of(const nlohmann::ordered_json& value) {
    std::string letters;
    for (const char letter : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
    }
    return letters;
}

/// torchao's types by their names ("int4_weight_only", {"default": {"_type": "Float8DynamicActivationFloat8WeightConfig"}}).
std::optional<StoredFormat> torchao_format(Reader& config, sim::NumberFormat base) {
    const std::string type = config.has("quant_type") ? words_of(config.raw().at("quant_type")) : "";
    const bool inputs = has_part(type, "dynamicactivation");
    if (has_part(type, "float8")) {
        return StoredFormat{{fp8, 0.0, 32.0}, inputs ? fp8 : base};
    }
    if (has_part(type, "int4") || has_part(type, "uint4")) {
        return StoredFormat{{int4, 128.0, 32.0}, inputs ? int8 : base};
    }
    if (has_part(type, "int8")) {
        return StoredFormat{{int8, 0.0, 16.0}, inputs ? int8 : base};
    }
    config.problem("quant_type", "is not a type of torchao that can be priced; known are those of int4, int8 and float8");
    return std::nullopt;
}

std::optional<StoredFormat> hqq_format(Reader& config, sim::NumberFormat base) {
    Reader settings = config.object("quant_config");
    std::optional<Reader> weights = settings.optional_object("weight_quant_params");
    Reader& at = weights ? *weights : settings;
    const auto group = static_cast<double>(at.count_or("group_size", 64, 1, largest_group));
    return StoredFormat{integers_of(static_cast<double>(at.count("nbits", 1, 8)), group, 32.0), base};
}

std::optional<StoredFormat> quanto_format(Reader& config, sim::NumberFormat base) {
    const std::string weights = config.choice("weights", {"int2", "int4", "int8", "float8"});
    return weights == "float8" ? StoredFormat{{fp8, 0.0, 16.0}, base}
                               : StoredFormat{integers_of(weights.back() - '0', weights == "int8" ? 0.0 : 128.0, 32.0), base};
}

/// Codes of several weights at a time.
std::optional<StoredFormat> aqlm_format(Reader& config, sim::NumberFormat base) {
    const double bits = static_cast<double>(config.count_or("num_codebooks", 1, 1, 64)) *
                        static_cast<double>(config.count_or("nbits_per_codebook", 16, 1, 64)) /
                        static_cast<double>(config.count_or("in_group_size", 8, 1, 1024));
    return StoredFormat{integers_of(std::clamp(bits, 1.0, 8.0), 0.0, 16.0), base};
}

}  // namespace

const std::vector<std::string>& further_methods() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = {"torchao", "hqq", "quanto", "aqlm", "higgs"};
        for (const NamedMethod& method : named_methods) {
            all.emplace_back(method.name);
        }
        return all;
    }();
    return names;
}

void read_further(const std::string& method, Reader& config, sim::NumberFormat base, Quantization& result) {
    if (const NamedMethod* named = named_method(method)) {
        sim::Storage storage{named->format, named->group_size, named->scale_bits};
        storage.bits = named->bits == sim::bits_of(named->format) ? 0.0 : named->bits;
        result.linear = StoredFormat{storage, named->math.value_or(base)};
    } else if (method == "higgs") {
        const auto group = static_cast<double>(config.count_or("group_size", 256, 1, largest_group));
        result.linear = StoredFormat{integers_of(static_cast<double>(config.count_or("bits", 4, 2, 8)), group, 16.0), base};
    } else {
        result.linear = method == "torchao"  ? torchao_format(config, base)
                        : method == "hqq"    ? hqq_format(config, base)
                        : method == "quanto" ? quanto_format(config, base)
                                             : aqlm_format(config, base);
    }
}

}  // namespace treeline::models::hugging_face
