// Scans by steps on GPUs: Mamba (1) and the gated delta rule, and their verification with a state written after every token.
#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

using kernels::ElementType;
using kernels::StateWrite;

constexpr ElementType state_type = ElementType::fp32;  // in which engines keep these states

struct Point {
    int batch, tokens;
};

std::vector<Point> points(const CaseOptions& options) {
    const bool quick = options.thoroughness == Thoroughness::quick;
    std::vector<Point> all;
    for (const int batch : quick ? std::vector{1, 32} : std::vector{1, 8, 32, 128}) {
        for (const int tokens : quick ? std::vector{1, 4} : std::vector{1, 2, 4, 8}) {
            all.push_back({batch, tokens});
        }
    }
    return all;
}

/// One token changes its state in place; several leave a state each.
void take_states(Workspace& workspace, kernels::ScanSteps& steps, std::size_t bytes) {
    std::byte* const states = workspace.next_state(bytes, state_type);
    steps.initial = {states, state_type};
    steps.written = {
        steps.write == StateWrite::every ? workspace.next_output(bytes * static_cast<std::size_t>(steps.tokens)) : states,
        state_type};
}

kernels::ScanSteps steps_of(Workspace& workspace, const Point& point, int width) {
    kernels::ScanSteps steps;
    steps.sequences = point.batch;
    steps.tokens = point.tokens;
    steps.write = point.tokens > 1 ? StateWrite::every : StateWrite::final;
    steps.y = workspace.results(std::int64_t{point.batch} * point.tokens, width, ElementType::bf16);
    return steps;
}

KernelCase made(const char* table, const Point& point, std::size_t state_bytes,
                std::vector<std::pair<std::string, std::string>> shape) {
    KernelCase result;
    result.table = table;
    result.columns = {{"form", point.tokens > 1 ? "every" : "final"},
                      {"batch", std::to_string(point.batch)},
                      {"tokens", std::to_string(point.tokens)}};
    result.columns.insert(result.columns.end(), shape.begin(), shape.end());
    const auto tokens = static_cast<std::size_t>(point.tokens);
    result.largest_piece = state_bytes * tokens;
    result.operand_bytes = point.tokens > 1 ? state_bytes * (tokens + 1) : state_bytes;
    return result;
}

KernelCase mamba_case(const Point& point, int channels, int state_size) {
    const std::size_t state_bytes = sizeof(float) * std::size_t(point.batch) * std::size_t(channels) * std::size_t(state_size);
    KernelCase result =
        made("mamba1_scan", point, state_bytes,
             {{"channels", std::to_string(channels)}, {"state_size", std::to_string(state_size)}, {"state_dtype", "fp32"}});
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        const std::int64_t rows = std::int64_t{point.batch} * point.tokens;
        const auto wide = static_cast<std::size_t>(channels);
        kernels::ChannelScan scan;
        scan.steps = steps_of(workspace, point, channels);
        scan.channels = channels;
        scan.state_size = state_size;
        scan.x = workspace.activations(rows, channels, ElementType::bf16);
        scan.dt = workspace.activations(rows, channels, ElementType::bf16);
        scan.b = workspace.activations(rows, state_size, ElementType::bf16);
        scan.c = workspace.activations(rows, state_size, ElementType::bf16);
        scan.gate = workspace.activations(rows, channels, ElementType::bf16);
        scan.a = workspace.floats(std::vector<float>(wide * static_cast<std::size_t>(state_size), -1.0F));
        scan.dt_bias = workspace.floats(std::vector<float>(wide, 0.1F));
        scan.d = workspace.floats(std::vector<float>(wide, 1.0F));
        return [=, &workspace](kernels::Queue queue) mutable {
            take_states(workspace, scan.steps, state_bytes);
            workspace.backend().channel_scan(scan, queue);
        };
    };
    return result;
}

KernelCase delta_case(const Point& point, int key_heads, int value_heads) {
    constexpr int dim = 128;
    const std::size_t state_bytes = sizeof(float) * std::size_t(point.batch) * std::size_t(value_heads) * dim * dim;
    KernelCase result = made("delta_scan", point, state_bytes,
                             {{"key_heads", std::to_string(key_heads)},
                              {"value_heads", std::to_string(value_heads)},
                              {"key_dim", std::to_string(dim)},
                              {"value_dim", std::to_string(dim)},
                              {"state_dtype", "fp32"}});
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        const std::int64_t rows = std::int64_t{point.batch} * point.tokens;
        kernels::DeltaScan scan;
        scan.steps = steps_of(workspace, point, value_heads * dim);
        scan.key_heads = key_heads;
        scan.value_heads = value_heads;
        scan.key_dim = dim;
        scan.value_dim = dim;
        scan.q = workspace.activations(rows, std::int64_t{key_heads} * dim, ElementType::bf16);
        scan.k = workspace.activations(rows, std::int64_t{key_heads} * dim, ElementType::bf16);
        scan.v = workspace.activations(rows, std::int64_t{value_heads} * dim, ElementType::bf16);
        scan.beta = workspace.activations(rows, value_heads, ElementType::bf16);
        scan.decay = workspace.activations(rows, value_heads, ElementType::bf16);
        // Keys are not of length 1 here: a decay that outweighs what they add keeps states bounded, however often they change.
        scan.a = workspace.floats(std::vector<float>(std::size_t(value_heads), -8.0F));
        return [=, &workspace](kernels::Queue queue) mutable {
            take_states(workspace, scan.steps, state_bytes);
            workspace.backend().delta_scan(scan, queue);
        };
    };
    return result;
}

}  // namespace

std::vector<KernelCase> step_scan_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    if (!options.on_gpu) {
        return cases;
    }
    for (const Point& point : points(options)) {
        for (const int channels : {1536, 5120, 8192}) {  // Mamba 130m and 2.8b, Falcon Mamba 7b
            cases.push_back(mamba_case(point, channels, 16));
        }
        for (const int value_heads : {16, 32, 64}) {  // Qwen3-Next's is 32, Qwen3.5's range from 16 to 64
            cases.push_back(delta_case(point, 16, value_heads));
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
