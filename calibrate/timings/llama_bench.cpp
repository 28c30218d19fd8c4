#include "calibrate/timings/llama_bench.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/timings/timing_formats.h"

namespace treeline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

/// What distinguishes runs of llama-bench besides model and depth.
const std::vector<std::string>& llama_settings() {
    static const std::vector<std::string> keys = {"build_commit", "cpu_info",   "gpu_info",  "backends",      "model_filename",
                                                  "n_batch",      "n_ubatch",   "n_threads", "type_k",        "type_v",
                                                  "n_gpu_layers", "split_mode", "main_gpu",  "no_kv_offload", "flash_attn",
                                                  "tensor_split", "use_mmap",   "embeddings"};
    return keys;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// The settings that are not the same in all rows.
std::vector<std::string> varying_settings(const Json& rows) {
    std::vector<std::string> varying;
    for (const std::string& key : llama_settings()) {
        for (const Json& row : rows) {
            if (row.contains(key) && rows[0].contains(key) && row[key] != rows[0][key]) {
                varying.push_back(key);
                break;
            }
        }
    }
    return varying;
}

/// The spread of a mean: the scatter of its samples over √samples. Without samples, the stated scatter.
std::optional<Seconds> spread_of_mean(json::Reader& row) {
    if (!row.has("stddev_ns")) {
        return std::nullopt;
    }
    const double scatter = 1e-9 * row.number("stddev_ns", 0.0, longest_time * 1e9);
    const std::size_t samples = row.has("samples_ns") ? row.numbers("samples_ns", 0.0, longest_time * 1e9).size() : 1;
    return Seconds(scatter / std::sqrt(static_cast<double>(std::max<std::size_t>(samples, 1))));
}

struct LeftOut {
    int generations = 0;  ///< rows of several passes: text generation
    int split = 0;        ///< prompts longer than a micro-batch
};

std::string first_text(json::Reader& row, const char* preferred, const char* otherwise) {
    const std::string text = row.text_or(preferred, "");
    return text.empty() ? row.text_or(otherwise, "") : text;
}

std::optional<LlamaPass> read_pass(json::Reader& row, const std::vector<std::string>& varying, LeftOut& left_out) {
    const auto prompt = row.count("n_prompt", 0, 1'000'000'000);
    const auto generated = row.count_or("n_gen", 0, 0, 1'000'000'000);
    const auto depth = row.count_or("n_depth", 0, 0, 1'000'000'000);
    const auto micro_batch = row.count_or("n_ubatch", prompt, 1, 1'000'000'000);
    const double time = 1e-9 * row.number("avg_ns", 0.0, longest_time * 1e9);
    LlamaPass pass;
    pass.spread = spread_of_mean(row);
    const bool one_pass = (generated == 0 && prompt > 0) || (generated == 1 && prompt == 0);
    if (!one_pass || prompt > micro_batch) {
        ++(one_pass ? left_out.split : left_out.generations);
        return std::nullopt;
    }
    if (!(time > 0.0)) {
        row.problem("avg_ns", "must be above zero");
    }
    pass.model = row.text_or("model_type", "model");
    pass.device = first_text(row, "gpu_info", "cpu_info");
    pass.context = static_cast<double>(depth);
    pass.tokens = static_cast<double>(std::max<std::int64_t>(prompt, 1));
    pass.model_bytes = row.number_or("model_size", 0.0, 0.0, 1e16);
    pass.parameters = row.number_or("model_n_params", 0.0, 0.0, 1e16);
    pass.time = Seconds(time > 0.0 ? time : 1.0);
    for (const std::string& key : varying) {
        pass.settings += fmt::format(", {} {}", key, row.raw().contains(key) ? text_of(row.raw()[key]) : "unknown");
    }
    return pass;
}

}  // namespace

bool is_llama_bench(const Json& rows) {
    return rows.is_array() && !rows.empty() && rows[0].is_object() && rows[0].contains("avg_ns");
}

LlamaPasses read_llama_passes(std::vector<json::Reader> rows, const Json& raw) {
    const std::vector<std::string> varying = varying_settings(raw);
    LeftOut left_out;
    LlamaPasses result;
    for (json::Reader& row : rows) {
        if (std::optional<LlamaPass> pass = read_pass(row, varying, left_out)) {
            result.passes.push_back(std::move(*pass));
        }
    }
    if (left_out.generations > 0) {
        result.notes.push_back(
            fmt::format("{} rows of llama-bench that generate several tokens were left out: they are not single passes",
                        left_out.generations));
    }
    if (left_out.split > 0) {
        result.notes.push_back(
            fmt::format("{} rows of llama-bench with more prompt tokens than n_ubatch were left out: they are several passes",
                        left_out.split));
    }
    return result;
}

}  // namespace treeline::calibrate
