// Attention of decoding and of verification, chains and trees, on contexts of several lengths.
#include <algorithm>

#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

struct Heads {
    int query, kv, dim;
};

const std::vector<Heads>& layer_heads(const CaseOptions& options) {
    static const std::vector<Heads> cpu = {{12, 12, 64}, {16, 16, 64}, {8, 8, 128}, {20, 20, 64},
                                           {32, 8, 64},  {16, 4, 128}, {24, 8, 64}, {16, 8, 128}};
    static const std::vector<Heads> quick = {{12, 12, 64}, {16, 16, 64}, {8, 8, 128}, {32, 8, 64}, {16, 4, 128}, {24, 8, 64}};
    static const std::vector<Heads> gpu = {{32, 32, 128}, {16, 16, 128}, {32, 32, 64}, {64, 64, 128}, {32, 8, 128},
                                           {64, 8, 128},  {40, 8, 128},  {32, 8, 64},  {8, 1, 128}};
    return options.on_gpu ? gpu : options.thoroughness == Thoroughness::quick ? quick : cpu;
}

struct Point {
    int batch, tokens, context;
};

std::vector<Point> points(const CaseOptions& options) {
    std::vector<Point> all;
    const bool quick = options.thoroughness == Thoroughness::quick;
    const std::vector<int> batches = options.on_gpu ? std::vector{1, 8, 32, 128} : std::vector{1, 4};
    const std::vector<int> tokens = quick ? std::vector{1, 5, 16} : std::vector{1, 2, 4, 8, 16, 32};
    const std::vector<int> contexts = options.on_gpu ? std::vector{512, 4096, 32768}
                                      : quick        ? std::vector{256, 2048}
                                                     : std::vector{128, 512, 2048, 4096};
    for (const int batch : batches) {
        for (const int count : tokens) {
            for (const int context : contexts) {
                all.push_back({batch, count, context});
            }
        }
    }
    return all;
}

KernelCase attention_case(const Heads& heads, const Point& point, const MeasuredFormat& format, bool on_gpu) {
    KernelCase result;
    result.table = "attention_decode";
    // The table's context holds the new tokens.
    result.columns = {{"batch", std::to_string(point.batch)},
                      {"query_tokens", std::to_string(point.tokens)},
                      {"context", std::to_string(point.context + point.tokens)},
                      {"q_heads", std::to_string(heads.query)},
                      {"kv_heads", std::to_string(heads.kv)},
                      {"head_dim", std::to_string(heads.dim)},
                      {"window", "0"},
                      {"kv_dtype", format.name}};
    const std::int64_t width = std::int64_t{heads.kv} * heads.dim;
    const int capacity = point.context + point.tokens;
    const std::size_t cache_bytes =
        std::size_t(point.batch) * std::size_t(capacity) * std::size_t(width) * bytes_of(format.type);
    result.largest_piece = 2 * cache_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        kernels::Attention attention;
        attention.shape = {point.batch, point.tokens, heads.query, heads.kv, heads.dim};
        const std::int64_t rows = std::int64_t{point.batch} * point.tokens;
        attention.query = workspace.activations(rows, std::int64_t{heads.query} * heads.dim, format.type);
        attention.output = workspace.results(rows, std::int64_t{heads.query} * heads.dim, format.type);
        attention.capacity = capacity;
        attention.context = workspace.integers(std::vector<int>(std::size_t(point.batch), point.context));
        if (on_gpu) {
            cut_context(attention, workspace);
        }
        return [=, &workspace](kernels::Queue queue) mutable {
            attention.keys = {workspace.next_input(cache_bytes), format.type, width};
            attention.values = {workspace.next_input(cache_bytes), format.type, width};
            workspace.backend().attention(attention, queue);
        };
    };
    return result;
}

/// A prompt without anything cached: all of its keys and values were just computed.
KernelCase prompt_case(const Heads& heads, int batch, int tokens) {
    KernelCase result;
    result.table = "attention_prefill";
    result.columns = {{"batch", std::to_string(batch)},
                      {"tokens", std::to_string(tokens)},
                      {"q_heads", std::to_string(heads.query)},
                      {"kv_heads", std::to_string(heads.kv)},
                      {"head_dim", std::to_string(heads.dim)},
                      {"window", "0"},
                      {"kv_dtype", bf16_format.name}};
    const std::int64_t width = std::int64_t{heads.kv} * heads.dim;
    const std::size_t cache_bytes = std::size_t(batch) * std::size_t(tokens) * std::size_t(width) * bytes_of(bf16_format.type);
    result.largest_piece = 2 * cache_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        kernels::Attention attention;
        attention.shape = {batch, tokens, heads.query, heads.kv, heads.dim};
        const std::int64_t rows = std::int64_t{batch} * tokens;
        attention.query = workspace.activations(rows, std::int64_t{heads.query} * heads.dim, bf16_format.type);
        attention.output = workspace.results(rows, std::int64_t{heads.query} * heads.dim, bf16_format.type);
        attention.capacity = tokens;
        attention.context = workspace.integers(std::vector<int>(std::size_t(batch), 0));
        return [=, &workspace](kernels::Queue queue) mutable {
            attention.keys = {workspace.next_input(cache_bytes), bf16_format.type, width};
            attention.values = {workspace.next_input(cache_bytes), bf16_format.type, width};
            workspace.backend().attention(attention, queue);
        };
    };
    return result;
}

/// Scalar products: longer prompts would take the run's whole time.
void add_prompts(const CaseOptions& options, std::vector<KernelCase>& cases) {
    for (const Heads& heads :
         {Heads{32, 8, 128}, Heads{32, 32, 128}, Heads{64, 8, 128}, Heads{32, 8, 64}, Heads{16, 16, 64}, Heads{8, 8, 64}}) {
        for (const int tokens : options.thoroughness == Thoroughness::quick ? std::vector{512} : std::vector{256, 512, 1024}) {
            for (const int batch : {1, 4}) {
                cases.push_back(prompt_case(heads, batch, tokens));
            }
        }
    }
}

constexpr double most_cpu_flops = 3e9;

}  // namespace

std::vector<KernelCase> attention_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    for (const MeasuredFormat& format : measured_formats(options)) {
        for (const Heads& heads : layer_heads(options)) {
            for (const Point& point : points(options)) {
                const double flops = 4.0 * point.batch * point.tokens * heads.query * heads.dim * point.context;
                if (options.on_gpu || flops <= most_cpu_flops) {
                    cases.push_back(attention_case(heads, point, format, options.on_gpu));
                }
            }
        }
    }
    if (options.on_gpu) {
        add_prompts(options, cases);
    }
    return cases;
}

}  // namespace treeline::calibrate
