// Whole layers from the same kernels, one after the other: what calibrations are checked against.
#include <algorithm>
#include <memory>

#include "calibrate/held_out_layer.h"
#include "calibrate/measure/kernel_case.h"
#include "kernels/cuda_queue.h"

namespace treeline::calibrate {
namespace {

using kernels::ConstRows;
using kernels::ElementType;
using kernels::Rows;

ElementType type_of(const HeldOutLayer& layer) {
    return layer.format == sim::NumberFormat::fp32 ? ElementType::fp32 : ElementType::bf16;
}

/// The parts of a layer that both families have, on activations that stay in one place.
class LayerRun {
public:
    LayerRun(Workspace& workspace, const HeldOutLayer& layer)
        : workspace_(workspace),
          type_(type_of(layer)),
          rows_(static_cast<int>(layer.shape.sequences * layer.shape.tokens)),
          width_(static_cast<int>(layer.width)),
          ones_(workspace.floats(std::vector<float>(std::size_t(4 * layer.width + layer.hidden), 1.0F))) {
        workspace.start_activations();
        input_ = workspace.activations(rows_, width_, type_);
        residual_ = results(width_);
        normed_ = results(width_);
    }

    [[nodiscard]] Rows results(std::int64_t width) { return workspace_.results(rows_, width, type_); }
    void norm(kernels::Queue queue) const {
        workspace_.backend().rms_norm({rows_, width_, input_, residual_, ones_, 1e-5F, normed_}, queue);
    }
    /// Weights come from main memory, each time from another place.
    void linear(ConstRows x, int inputs, int outputs, Rows y, kernels::Queue queue) const {
        const ConstRows weight{workspace_.next_input(std::size_t(inputs) * std::size_t(outputs) * bytes_of(type_)), type_,
                               inputs};
        workspace_.backend().linear({rows_, inputs, outputs, x, weight, y}, queue);
    }
    [[nodiscard]] ConstRows normed() const { return normed_; }
    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] const float* ones() const { return ones_; }
    [[nodiscard]] const kernels::Backend& backend() const { return workspace_.backend(); }
    [[nodiscard]] Workspace& workspace() const { return workspace_; }

private:
    Workspace& workspace_;
    ElementType type_;
    int rows_, width_;
    const float* ones_;
    ConstRows input_;
    Rows residual_, normed_;
};

KernelRun prepare_transformer(Workspace& workspace, const HeldOutLayer& layer, std::size_t cache_bytes, bool on_gpu) {
    const ElementType type = type_of(layer);
    LayerRun run(workspace, layer);
    const int width = static_cast<int>(layer.width), hidden = static_cast<int>(layer.hidden);
    const int query_width = static_cast<int>(layer.heads * layer.head_dim),
              kv_width = static_cast<int>(layer.kv_heads * layer.head_dim);
    const Rows qkv = run.results(query_width + 2 * kv_width), gate_up = run.results(2 * hidden), active = run.results(hidden);
    const Rows out = run.results(width);
    kernels::Attention attention;
    attention.shape = {static_cast<int>(layer.shape.sequences), static_cast<int>(layer.shape.tokens),
                       static_cast<int>(layer.heads), static_cast<int>(layer.kv_heads), static_cast<int>(layer.head_dim)};
    attention.query = qkv;
    attention.output = run.results(query_width);
    attention.capacity = static_cast<int>(layer.shape.context + layer.shape.tokens);
    attention.context = workspace.integers(
        std::vector<int>(static_cast<std::size_t>(layer.shape.sequences), static_cast<int>(layer.shape.context)));
    if (on_gpu) {
        cut_context(attention, workspace);
    }
    const auto halves = [=](Rows rows, int at) {
        return Rows{static_cast<std::byte*>(rows.data) + std::size_t(at) * bytes_of(type), type, rows.stride};
    };
    return [=](kernels::Queue queue) mutable {
        run.norm(queue);
        run.linear(run.normed(), width, query_width + 2 * kv_width, qkv, queue);
        attention.keys = {run.workspace().next_input(cache_bytes), type, kv_width};
        attention.values = {run.workspace().next_input(cache_bytes), type, kv_width};
        run.backend().attention(attention, queue);
        run.linear(attention.output, query_width, width, out, queue);
        run.norm(queue);
        run.linear(run.normed(), width, 2 * hidden, gate_up, queue);
        run.backend().gated_activation({run.rows(), hidden, gate_up, halves(gate_up, hidden), active}, queue);
        run.linear(active, hidden, width, out, queue);
    };
}

KernelRun prepare_mamba2(Workspace& workspace, const HeldOutLayer& layer, std::size_t state_bytes, int channels) {
    constexpr int state_size = 128, window_width = 4;
    const ElementType type = type_of(layer);
    LayerRun run(workspace, layer);
    const int width = static_cast<int>(layer.width), heads = static_cast<int>(layer.heads);
    const int inner = heads * static_cast<int>(layer.head_dim);
    const Rows projected = run.results(inner + channels + heads), convolved = run.results(channels);
    const Rows y = run.results(inner), normed = run.results(inner), out = run.results(width);
    const auto part = [=](Rows rows, int at) {
        return Rows{static_cast<std::byte*>(rows.data) + std::size_t(at) * bytes_of(type), type, rows.stride};
    };
    kernels::ConvolutionUpdate convolution;
    convolution.shape = {static_cast<int>(layer.shape.sequences), static_cast<int>(layer.shape.tokens), channels, window_width};
    convolution.input = part(projected, inner);
    convolution.weight = workspace.floats(std::vector<float>(std::size_t(window_width) * std::size_t(channels), 0.25F));
    convolution.output = convolved;
    kernels::Scan scan;
    scan.shape = {
        convolution.shape.sequences, convolution.shape.tokens, heads, static_cast<int>(layer.head_dim), state_size, 1};
    scan.tokens = {convolved,
                   part(convolved, inner),
                   part(convolved, inner + state_size),
                   part(projected, inner + channels),
                   projected,
                   workspace.floats(std::vector<float>(std::size_t(heads), -1.0F)),
                   nullptr,
                   nullptr};
    scan.y = y;
    const std::size_t window_bytes =
        std::size_t(convolution.shape.sequences) * (window_width - 1) * std::size_t(channels) * bytes_of(type);
    return [=](kernels::Queue queue) mutable {
        run.norm(queue);
        run.linear(run.normed(), width, inner + channels + heads, projected, queue);
        std::byte* window = run.workspace().next_state(window_bytes, type);
        convolution.window = window;
        convolution.window_after = window;
        run.backend().convolution_update(convolution, queue);
        std::byte* states = run.workspace().next_state(state_bytes, type);
        scan.initial = {states, type};
        scan.written = {states, type};
        run.backend().scan(scan, queue);
        run.backend().gated_rms_norm({run.rows(), inner, 1, y, projected, run.ones(), 1e-5F, normed}, queue);
        run.linear(normed, inner, width, out, queue);
    };
}

KernelCase layer_case(const HeldOutLayer& layer, bool on_gpu) {
    KernelCase result;
    result.table = "layer";
    const auto whole = [](double value) { return std::to_string(static_cast<long long>(value)); };
    result.columns = {{"family", std::string(name_of(layer.family))}, {"batch", whole(layer.shape.sequences)},
                      {"tokens", whole(layer.shape.tokens)},          {"context", whole(layer.shape.context)},
                      {"width", std::to_string(layer.width)},         {"dtype", std::string(name_of(layer.format))}};
    const std::size_t element = bytes_of(type_of(layer));
    const auto sequences = static_cast<std::size_t>(layer.shape.sequences);
    const auto heads = static_cast<std::size_t>(layer.heads), dim = static_cast<std::size_t>(layer.head_dim);
    if (layer.family == LayerFamily::transformer) {
        const auto positions = static_cast<std::size_t>(layer.shape.context + layer.shape.tokens);
        const std::size_t cache_bytes = sequences * positions * static_cast<std::size_t>(layer.kv_heads) * dim * element;
        const auto width = static_cast<std::size_t>(layer.width), hidden = static_cast<std::size_t>(layer.hidden);
        const auto kv = static_cast<std::size_t>(layer.kv_heads);
        result.largest_piece = std::max(2 * cache_bytes, 2 * hidden * width * element);
        result.operand_bytes = 2 * cache_bytes + element * width * ((heads + 2 * kv) * dim + heads * dim + 3 * hidden);
        result.prepare = [=](Workspace& workspace) { return prepare_transformer(workspace, layer, cache_bytes, on_gpu); };
    } else {
        const std::size_t state_bytes = sequences * heads * dim * 128 * element;
        const int channels = static_cast<int>(heads * dim) + 2 * 128;
        const std::size_t inner = heads * dim, wide = std::size_t(channels);
        const std::size_t weights = element * static_cast<std::size_t>(layer.width) * (inner + wide + heads + inner);
        result.largest_piece = std::max(state_bytes, weights);
        result.operand_bytes = state_bytes + weights + sequences * 3 * wide * element;
        result.prepare = [=](Workspace& workspace) { return prepare_mamba2(workspace, layer, state_bytes, channels); };
    }
    return result;
}

/// A graph of so many empty kernels, launched and waited for.
KernelCase graph_case(int kernels_of_graph) {
    KernelCase result;
    result.table = "host";
    result.columns = {{"host_cost", "graph launched and awaited"}, {"kernels", std::to_string(kernels_of_graph)}};
    result.from_host = true;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        const auto queue = std::make_shared<const kernels::CudaQueue>();
        const auto graph = std::make_shared<const kernels::CudaGraph>(*queue, [&](kernels::Queue at) {
            for (int i = 0; i < kernels_of_graph; ++i) {
                workspace.backend().empty(at);
            }
        });
        return [=, &workspace](kernels::Queue /*default queue*/) {
            graph->replay(queue->queue());
            workspace.backend().wait(queue->queue());
        };
    };
    return result;
}

/// An empty kernel, and a number that the host waits for.
KernelCase synchronisation_case() {
    KernelCase result;
    result.table = "host";
    result.columns = {{"host_cost", "number read by the host"}, {"kernels", "1"}};
    result.from_host = true;
    result.prepare = [](Workspace& workspace) -> KernelRun {
        const int* const number = workspace.integers({7});
        return [=, &workspace](kernels::Queue queue) {
            int read = 0;
            workspace.backend().empty(queue);
            workspace.backend().download(&read, number, sizeof(read), queue);
        };
    };
    return result;
}

/// A layer whose kernels the host launches one by one; as a graph it is among the layers.
KernelCase eager_case(const HeldOutLayer& layer) {
    KernelCase result = layer_case(layer, true);
    result.table = "host";
    result.columns.front() = {"host_cost", std::string(name_of(layer.family)) + " layer launched by the host"};
    result.from_host = true;
    return result;
}

}  // namespace

std::vector<KernelCase> host_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    if (!options.on_gpu) {
        return cases;
    }
    for (const int kernels_of_graph : {1, 100, 1000}) {
        cases.push_back(graph_case(kernels_of_graph));
    }
    cases.push_back(synchronisation_case());
    for (const HeldOutLayer& layer : held_out_layers(true, true)) {
        if (layer.shape.sequences == 1.0) {
            cases.push_back(eager_case(layer));
        }
    }
    return cases;
}

std::vector<KernelCase> layer_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    for (const HeldOutLayer& layer : held_out_layers(options.on_gpu, options.thoroughness == Thoroughness::quick)) {
        cases.push_back(layer_case(layer, options.on_gpu));
    }
    return cases;
}

}  // namespace treeline::calibrate
