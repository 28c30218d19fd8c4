#include "requests/precision_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/ggml_types.h"
#include "text/parse_number.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

std::string in_small_letters(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return word;
}

bool take_front(std::string_view& word, std::string_view start) {
    const bool starts = word.starts_with(start);
    word.remove_prefix(starts ? start.size() : 0);
    return starts;
}

bool take_back(std::string_view& word, std::string_view end) {
    const bool ends = word.ends_with(end);
    word.remove_suffix(ends ? end.size() : 0);
    return ends;
}

/// A number between `low` and `high`.
std::optional<double> number_within(std::string_view word, double low, double high) {
    const std::optional<double> value = text::parse_number<double>(word);
    return value && *value >= low && *value <= high ? value : std::nullopt;
}

/// "4bit", "4-bit", "mlx-4bit", "mlx-4bit-g32" and "4bit-gs128".
std::optional<sim::Precision> mlx_of_word(std::string_view word, sim::NumberFormat wide) {
    constexpr double usual_group = 64.0;  // mlx_lm.convert
    const bool says_mlx = take_front(word, "mlx-");
    double group = usual_group;
    for (const std::string_view mark : {"-gs", "-g"}) {
        if (const std::size_t at = word.rfind(mark); at != std::string_view::npos && group == usual_group) {
            const std::optional<double> size = number_within(word.substr(at + mark.size()), 16.0, 1024.0);
            if (size) {
                group = *size;
                word = word.substr(0, at);
            }
        }
    }
    if (!take_back(word, "-bit") && !take_back(word, "bit") && !says_mlx) {
        return std::nullopt;
    }
    const std::optional<double> bits = number_within(word, 2.0, 8.0);
    constexpr std::array widths = {2.0, 3.0, 4.0, 5.0, 6.0, 8.0};
    const bool known = bits && std::find(widths.begin(), widths.end(), *bits) != widths.end();
    return known ? std::optional(sim::mlx_precision(*bits, group, wide)) : std::nullopt;
}

/// "mlx-mxfp4", "mlx-nvfp4" and "mlx-mxfp8": MLX's other modes, whose scales have 8 bits for 32 or 16 elements.
std::optional<sim::Precision> mlx_mode_of_word(std::string_view word, sim::NumberFormat wide) {
    const bool says_mlx = take_front(word, "mlx-");
    if (!says_mlx || (word != "mxfp4" && word != "nvfp4" && word != "mxfp8")) {
        return std::nullopt;
    }
    sim::Precision precision = sim::mlx_precision(4.0, 64.0, wide);
    const sim::NumberFormat format = word == "mxfp8" ? sim::NumberFormat::fp8 : sim::NumberFormat::fp4;
    precision.weights = precision.experts = precision.embeddings = {format, word == "nvfp4" ? 16.0 : 32.0, 8.0};
    return precision;
}

/// The bits of "int3", "uint3" and "w3a16": integers of 2 to 8 bits.
std::optional<double> integer_bits(std::string_view word) {
    const bool weights_alone = word.starts_with('w') && take_back(word, "a16");
    word.remove_prefix(weights_alone ? 1 : 0);
    if (!weights_alone && !take_front(word, "int") && !take_front(word, "uint")) {
        return std::nullopt;
    }
    const std::optional<double> bits = number_within(word, 2.0, 8.0);
    return bits && *bits == std::floor(*bits) ? bits : std::nullopt;
}

/// So many bits of an integer, in the format in which kernels compute with it.
sim::Storage integer_storage(double bits) {
    sim::Storage storage{bits > 4.0 ? sim::NumberFormat::int8 : sim::NumberFormat::int4};
    storage.bits = bits == sim::bits_of(storage.format) ? 0.0 : bits;
    return storage;
}

/// "int3" and the like as checkpoints of GPTQ hold them: groups of 128 with a 16-bit scale, products in `wide`.
sim::Precision integer_precision(double bits, sim::NumberFormat wide) {
    sim::Precision precision = sim::checkpoint_precision(sim::NumberFormat::int4, wide);
    sim::Storage storage = integer_storage(bits);
    storage.group_size = precision.weights.group_size;
    precision.weights = precision.experts = storage;
    return precision;
}

/// "exl3-4.05bpw", "4.05bpw", "exl3-4.05" and "4.05-bpw".
std::optional<sim::Precision> exl3_of_word(std::string_view word, sim::NumberFormat wide) {
    const bool says_exl3 = take_front(word, "exl3-");
    if (!take_back(word, "-bpw") && !take_back(word, "bpw") && !says_exl3) {
        return std::nullopt;
    }
    const std::optional<double> bits = number_within(word, 1.0, 8.0);
    return bits ? std::optional(sim::exl3_precision(*bits, wide)) : std::nullopt;
}

/// Mixtures of GGUF under the names of others: Unsloth's without their "UD-", and bartowski's "_L", whose embeddings and LM
/// head are q8_0.
std::optional<sim::Precision> gguf_of_mixture(const std::string& word) {
    if (std::optional<sim::Precision> known = sim::gguf_precision(word)) {
        return known;
    }
    if (word.ends_with("_k_xl")) {
        return sim::gguf_precision("ud-" + word);
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> plain = {
        {{"q6_k_l", "q6_k"}, {"q5_k_l", "q5_k_m"}, {"q4_k_l", "q4_k_m"}, {"q2_k_l", "q2_k"}}};
    const auto found = std::find_if(plain.begin(), plain.end(), [&](const auto& pair) { return pair.first == word; });
    std::optional<sim::Precision> precision = found == plain.end() ? std::nullopt : sim::gguf_precision(found->second);
    if (precision) {
        precision->embeddings = sim::ggml_type_named("q8_0")->storage();
        std::erase_if(precision->exceptions, [](const sim::WeightException& one) { return one.operation == "LM head"; });
    }
    return precision;
}

/// A mixture, also as files are called after it ("Qwen3.8-27B-UD-Q4_K_XL.gguf"), after Unsloth's "UD-", and with llama.cpp's
/// "_r4" and "_r8" of rows that are interleaved.
std::optional<sim::Precision> gguf_of_word(const std::string& said) {
    std::string_view word = said;
    const bool is_file = take_back(word, ".gguf");
    constexpr std::size_t of_part = std::string_view("-00001-of-00004").size();
    if (is_file && word.size() > of_part && word.substr(word.size() - of_part).find("-of-") == 6) {
        word.remove_suffix(of_part);
    }
    static_cast<void>(take_back(word, "_r4") || take_back(word, "_r8"));
    std::optional<sim::Precision> precision = gguf_of_mixture(std::string(word));
    for (bool more = is_file || word.starts_with("ud-"); more && !precision;) {
        const std::size_t mark = word.find_first_of("-./");
        more = mark != std::string_view::npos;
        word.remove_prefix(more ? mark + 1 : 0);
        precision = more ? gguf_of_mixture(std::string(word)) : precision;
    }
    return precision;
}

/// What methods and repositories call formats that have a word here.
std::string usual_word(std::string word) {
    std::replace(word.begin(), word.end(), '_', '-');
    constexpr std::array<std::pair<std::string_view, std::string_view>, 14> other_words = {{{"awq", "w4a16"},
                                                                                            {"gptq", "w4a16"},
                                                                                            {"awq-int4", "w4a16"},
                                                                                            {"int4-awq", "w4a16"},
                                                                                            {"gptq-int4", "w4a16"},
                                                                                            {"int4-gptq", "w4a16"},
                                                                                            {"int4-g128", "w4a16"},
                                                                                            {"int4-w4a16", "w4a16"},
                                                                                            {"w8a8", "int8"},
                                                                                            {"w8a8-int8", "int8"},
                                                                                            {"w8a8-fp8", "fp8"},
                                                                                            {"fp8-dynamic", "fp8"},
                                                                                            {"fp8-w8a8", "fp8"},
                                                                                            {"fp8-blockwise", "fp8-block"}}};
    const auto found =
        std::find_if(other_words.begin(), other_words.end(), [&](const auto& pair) { return pair.first == word; });
    return found == other_words.end() ? word : std::string(found->second);
}

/// Formats that engines other than llama.cpp load.
std::optional<sim::Precision> format_of_word(const std::string& said, sim::NumberFormat wide) {
    const std::string word = usual_word(said);
    if (word == "mxfp8") {
        sim::Precision precision = sim::checkpoint_precision(sim::NumberFormat::fp8, wide);
        precision.weights = precision.experts = {sim::NumberFormat::fp8, 32.0, 8.0};
        return precision;
    }
    if (word == "mxfp4") {
        return sim::mxfp4_precision(wide);
    }
    if (word == "nf4" || word == "bnb-4bit" || word == "bnb-nf4") {
        // bitsandbytes: a scale of 8 bits for each 64 weights, with its second quantisation.
        sim::Precision precision = sim::checkpoint_precision(sim::NumberFormat::int4, wide);
        precision.weights = precision.experts = {sim::NumberFormat::int4, 64.0, 8.0};
        return precision;
    }
    if (word == "fp8-block") {
        return sim::block_fp8_precision(wide);
    }
    const std::optional<sim::NumberFormat> format = word == "nvfp4"   ? sim::NumberFormat::fp4
                                                    : word == "w4a16" ? sim::NumberFormat::int4
                                                                      : value_named<sim::NumberFormat>(word);
    if (format) {
        return sim::checkpoint_precision(*format, wide);
    }
    const std::optional<double> bits = integer_bits(word);
    return bits ? std::optional(integer_precision(*bits, wide)) : std::nullopt;
}

}  // namespace

std::optional<sim::Precision> precision_of_word(const std::string& word, const sim::Precision& published) {
    const sim::NumberFormat kept = published.activations.format;
    const sim::NumberFormat wide = sim::bits_of(kept) == 16.0 ? kept : sim::NumberFormat::bf16;
    const std::string name = in_small_letters(word);
    if (std::optional<sim::Precision> format = format_of_word(name, wide)) {
        return format;
    }
    if (std::optional<sim::Precision> gguf = gguf_of_word(name)) {
        return gguf;
    }
    std::optional<sim::Precision> mlx = mlx_of_word(name, wide);
    mlx = mlx ? mlx : mlx_mode_of_word(name, wide);
    return mlx ? mlx : exl3_of_word(name, wide);
}

std::string loading_problem(const std::string& word, std::string_view engine) {
    const std::string name = in_small_letters(word), usual = usual_word(name);
    if (engine.empty()) {
        return {};
    }
    // A width in words ("4bit") is taken as such on every engine, as people say it.
    if (name.starts_with("mlx-") &&
        (mlx_of_word(name, sim::NumberFormat::bf16) || mlx_mode_of_word(name, sim::NumberFormat::bf16))) {
        return fmt::format("a checkpoint of MLX, which runs on Apple's devices alone (stack mlx){}",
                           engine == "llama.cpp" ? "; quantisations of GGUF are q4_k_m, q8_0 and others"
                                                 : "; integers of other checkpoints are int4, w4a16, int8 and others");
    }
    if (name.find("exl3") != std::string::npos && exl3_of_word(name, sim::NumberFormat::bf16)) {
        return "a checkpoint of ExLlamaV3, which this engine does not load";
    }
    constexpr std::array<std::string_view, 7> tensors = {"fp8", "fp8-block", "w4a16", "nf4", "bnb-4bit", "bnb-nf4", "mxfp8"};
    if (engine == "llama.cpp" && std::find(tensors.begin(), tensors.end(), usual) != tensors.end()) {
        return "not a type of GGUF, which llama.cpp loads: q8_0, q6_k, q4_k_m and others, mxfp4, nvfp4, fp16, bf16";
    }
    if (engine == "tensorrt-llm" && names_gguf(word)) {
        return "a quantisation of GGUF, which TensorRT-LLM does not load";
    }
    return {};
}

bool names_gguf(const std::string& word) {
    const std::string name = in_small_letters(word);
    return !format_of_word(name, sim::NumberFormat::bf16) && gguf_of_word(name);
}

std::optional<sim::Storage> storage_of_word(const std::string& word) {
    const std::string name = in_small_letters(word);
    if (const std::optional<sim::NumberFormat> format = value_named<sim::NumberFormat>(name)) {
        return sim::Storage{*format};
    }
    if (const sim::GgmlType* type = sim::ggml_type_named(name)) {
        return type->storage();
    }
    if (const std::optional<double> bits = integer_bits(name)) {
        return integer_storage(*bits);
    }
    std::optional<sim::Precision> width = mlx_of_word(name, sim::NumberFormat::bf16);
    width = width ? width : mlx_mode_of_word(name, sim::NumberFormat::bf16);
    return width ? std::optional(width->weights) : std::nullopt;
}

std::string other_precisions(const std::string& word) {
    std::vector<std::string> known = names_of<sim::NumberFormat>();
    known.insert(known.end(), {"nvfp4", "mxfp4", "fp8-block", "w4a16", "mlx-4bit", "mlx-6bit", "mlx-8bit", "mlx-mxfp4",
                               "mlx-nvfp4", "int3", "int6", "exl3-4.05bpw"});
    const std::vector<std::string> gguf = sim::gguf_names();
    known.insert(known.end(), gguf.begin(), gguf.end());
    return text::did_you_mean(in_small_letters(word), known);
}

}  // namespace treeline::requests
