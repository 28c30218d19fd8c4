#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/fit/timing_formats.h"
#include "json/reader.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double most_tokens = 1e9;
constexpr double longest_time = 1e9;  ///< seconds: anything above is a slip of the pen

/// A time under "time_ms" or the like; nothing where no unit's key is there.
std::optional<Seconds> time_under(json::Reader& row, const std::string& prefix, bool zero_allowed) {
    std::optional<Seconds> found;
    for (const TimeUnit& unit : time_units) {
        const std::string key = fmt::format("{}_{}", prefix, unit.name);
        if (!row.has(key)) {
            continue;
        }
        if (found) {
            row.problem(key, "says the same thing twice, as another unit is given, too");
        }
        const double value = row.number(key, 0.0, longest_time / unit.seconds);
        if (!zero_allowed && value <= 0.0) {
            row.problem(key, "must be above zero");
        }
        found = Seconds(value * unit.seconds);
    }
    return found;
}

void read_row(json::Reader& row, TimingFile& file) {
    const double tokens = row.number("tokens", 0.0, most_tokens);
    const std::optional<Seconds> time = time_under(row, "time", false);
    if (!time) {
        row.problem({}, "needs one of time_s, time_ms, time_us and time_ns");
    }
    const std::optional<Seconds> spread = time_under(row, "spread", true);
    const std::string series = row.text_or("series", "");
    row.finish();
    add_timing(file, series, {tokens, time.value_or(Seconds(1.0)), spread});
}

/// What distinguishes runs of llama-bench beside model and depth.
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

/// The spread of a mean: the scatter of its samples over √samples. Without samples, the scatter as it stands.
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

void read_llama_row(json::Reader& row, const std::vector<std::string>& varying, TimingFile& file, LeftOut& left_out) {
    const auto prompt = row.count("n_prompt", 0, 1'000'000'000);
    const auto generated = row.count_or("n_gen", 0, 0, 1'000'000'000);
    const auto depth = row.count_or("n_depth", 0, 0, 1'000'000'000);
    const auto micro_batch = row.count_or("n_ubatch", prompt, 1, 1'000'000'000);
    const double time = 1e-9 * row.number("avg_ns", 0.0, longest_time * 1e9);
    const std::optional<Seconds> spread = spread_of_mean(row);
    const bool one_pass = (generated == 0 && prompt > 0) || (generated == 1 && prompt == 0);
    if (!one_pass) {
        ++left_out.generations;
        return;
    }
    if (prompt > micro_batch) {
        ++left_out.split;
        return;
    }
    if (!(time > 0.0)) {
        row.problem("avg_ns", "must be above zero");
    }
    std::string series = fmt::format("{} at context {}", row.text_or("model_type", "model"), depth);
    for (const std::string& key : varying) {
        series += fmt::format(", {} {}", key, row.raw().contains(key) ? text_of(row.raw()[key]) : "unknown");
    }
    add_timing(file, series,
               {static_cast<double>(std::max<std::int64_t>(prompt, 1)), Seconds(time > 0.0 ? time : 1.0), spread});
}

void read_llama_rows(std::vector<json::Reader> rows, const Json& raw, TimingFile& file) {
    const std::vector<std::string> varying = varying_settings(raw);
    LeftOut left_out;
    for (json::Reader& row : rows) {
        read_llama_row(row, varying, file, left_out);
    }
    if (left_out.generations > 0) {
        file.notes.push_back(
            fmt::format("{} rows of llama-bench that generate several tokens were left out: they are no single pass",
                        left_out.generations));
    }
    if (left_out.split > 0) {
        file.notes.push_back(
            fmt::format("{} rows of llama-bench with more prompt tokens than n_ubatch were left out: they are several passes",
                        left_out.split));
    }
}

bool is_llama_bench(const Json& rows) {
    return rows.is_array() && !rows.empty() && rows[0].is_object() && rows[0].contains("avg_ns");
}

}  // namespace

void read_timings_json(const std::string& text, TimingFile& file) {
    const bool array = text.find_first_not_of(" \t\r\n") != std::string::npos && text[text.find_first_not_of(" \t\r\n")] == '[';
    json::Document document = json::Document::parse(array ? "{\"rows\":" + text + "}" : text, file.path);
    document.throw_if_problems();
    json::Reader root = document.root();
    file.title = root.text_or("title", "");
    file.source = root.text_or("source", "");
    if (root.text_or("format", "treeline-fit") != "treeline-fit") {
        root.problem("format", "must be treeline-fit where it is given");
    }
    for (const char* const of_result : {"version", "series", "notes"}) {
        static_cast<void>(root.has(of_result));
    }
    std::vector<json::Reader> rows = root.objects("rows");
    root.finish();
    if (root.raw().contains("rows") && is_llama_bench(root.raw()["rows"])) {
        read_llama_rows(std::move(rows), root.raw()["rows"], file);
    } else {
        for (json::Reader& row : rows) {
            read_row(row, file);
        }
    }
    document.throw_if_problems();
}

}  // namespace treeline
