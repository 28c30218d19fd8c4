// Recurrent states of Mamba-2 layers: plain update, fused scans, tree scans, replay.
#include "calibrate/measure/kernel_case.h"
#include "sim/enum_names.h"

namespace treeline::calibrate {
namespace {

using kernels::ElementType;
using kernels::StateWrite;

/// Heads, head width, state size.
struct Layer {
    int heads, dim, state;
};

/// Mamba-2 130m, 780m and 2.7b; Codestral Mamba, Zamba2 1.2b and 7b, Falcon-H1 7b: states of 64, 128 and 256 elements a row.
const std::vector<Layer>& scan_layers(Thoroughness thoroughness) {
    static const std::vector<Layer> quick = {{24, 64, 128}, {32, 64, 128}, {48, 64, 128}, {80, 64, 128}};
    static const std::vector<Layer> full = {{24, 64, 128}, {48, 64, 128}, {80, 64, 128}, {128, 64, 128},
                                            {64, 64, 64},  {112, 64, 64}, {24, 128, 256}};
    return thoroughness == Thoroughness::quick ? quick : full;
}

enum class Form { none, final, every, tree, replay };
constexpr auto names_in(Form) {
    using enum Form;
    return enum_names<Form>({{none, "none"}, {final, "final"}, {every, "every"}, {tree, "tree"}, {replay, "replay"}});
}

struct Point {
    Form form;
    int batch, tokens;
};

std::vector<Point> points(const CaseOptions& options) {
    const bool quick = options.thoroughness == Thoroughness::quick;
    const std::vector<int> batches = options.on_gpu ? std::vector{1, 8, 32, 128}
                                     : quick        ? std::vector{1, 8}
                                                    : std::vector{1, 4, 16};
    const std::vector<int> steps = quick ? std::vector{5} : std::vector{2, 3, 5, 8, 16};
    const std::vector<int> nodes = quick ? std::vector{7, 31} : std::vector{3, 7, 15, 31, 63};
    const std::vector<int> accepted = quick ? std::vector{1, 4} : std::vector{1, 2, 4, 8};
    std::vector<Point> all;
    for (const int batch : batches) {
        all.push_back({Form::final, batch, 1});
        for (const Form form : {Form::none, Form::final, Form::every}) {
            for (const int count : steps) {
                all.push_back({form, batch, count});
            }
        }
        for (const int count : nodes) {
            all.push_back({Form::tree, batch, count});
        }
        for (const int count : accepted) {
            all.push_back({Form::replay, batch, count});
        }
    }
    return all;
}

kernels::ScanTokens tokens_for(Workspace& workspace, const kernels::ScanShape& shape, ElementType type) {
    const std::int64_t rows = std::int64_t{shape.sequences} * shape.tokens;
    const std::int64_t inner = std::int64_t{shape.heads} * shape.head_dim;
    kernels::ScanTokens tokens;
    tokens.x = workspace.activations(rows, inner, type);
    tokens.b = workspace.activations(rows, shape.state_size, type);
    tokens.c = workspace.activations(rows, shape.state_size, type);
    tokens.dt = workspace.activations(rows, shape.heads, type);
    tokens.gate = workspace.activations(rows, inner, type);
    const auto heads = static_cast<std::size_t>(shape.heads);
    tokens.a = workspace.floats(std::vector<float>(heads, -1.0F));  // states stay bounded, however often they are updated
    tokens.dt_bias = workspace.floats(std::vector<float>(heads, 0.1F));
    tokens.d = workspace.floats(std::vector<float>(heads, 1.0F));
    return tokens;
}

KernelRun prepare_tree(Workspace& workspace, const kernels::ScanShape& shape, const MeasuredFormat& format, ElementType state,
                       std::size_t state_bytes) {
    int levels = 1;
    while ((1 << levels) - 1 < shape.tokens) {
        ++levels;
    }
    kernels::TreeScan scan;
    scan.shape = shape;
    scan.tokens = tokens_for(workspace, shape, format.type);
    scan.tree = tree_on(workspace, kernels::packed_tree(binary_tree(levels)));
    scan.y = workspace.results(std::int64_t{shape.sequences} * shape.tokens, std::int64_t{shape.heads} * shape.head_dim,
                               format.type);
    return [=, &workspace](kernels::Queue queue) mutable {
        scan.initial = {workspace.next_state(state_bytes, state), state};
        workspace.backend().tree_scan(scan, queue);
    };
}

/// States that are written back are changed in place, as in decoding; with every state written, each goes to memory of its own.
KernelRun prepare_scan(Workspace& workspace, const kernels::ScanShape& shape, Form form, const MeasuredFormat& format,
                       ElementType state, std::size_t state_bytes) {
    kernels::Scan scan;
    scan.shape = shape;
    scan.tokens = tokens_for(workspace, shape, format.type);
    if (form != Form::replay) {
        scan.y = workspace.results(std::int64_t{shape.sequences} * shape.tokens, std::int64_t{shape.heads} * shape.head_dim,
                                   format.type);
    } else {
        scan.tokens.c = {};
        scan.tokens.gate = {};
    }
    scan.write = form == Form::none ? StateWrite::none : form == Form::every ? StateWrite::every : StateWrite::final;
    return [=, &workspace](kernels::Queue queue) mutable {
        std::byte* states = workspace.next_state(state_bytes, state);
        scan.initial = {states, state};
        if (form == Form::every) {
            scan.written = {workspace.next_output(state_bytes * static_cast<std::size_t>(shape.tokens)), state};
        } else {
            scan.written = {states, state};
        }
        workspace.backend().scan(scan, queue);
    };
}

KernelCase scan_case(const Layer& layer, const Point& point, const MeasuredFormat& format, const MeasuredFormat& state) {
    KernelCase result;
    result.table = "mamba2_scan";
    result.columns = {{"form", std::string(name_of(point.form))},
                      {"batch", std::to_string(point.batch)},
                      {"tokens", std::to_string(point.tokens)},
                      {"heads", std::to_string(layer.heads)},
                      {"head_dim", std::to_string(layer.dim)},
                      {"state_size", std::to_string(layer.state)},
                      {"dtype", format.name},
                      {"state_dtype", state.name}};
    const kernels::ScanShape shape{point.batch, point.tokens, layer.heads, layer.dim, layer.state, 1};
    const std::size_t state_bytes = std::size_t(point.batch) * std::size_t(layer.heads) * std::size_t(layer.dim) *
                                    std::size_t(layer.state) * bytes_of(state.type);
    result.largest_piece = state_bytes * (point.form == Form::every ? std::size_t(point.tokens) : 1);
    result.operand_bytes = state_bytes * (point.form == Form::every ? std::size_t(point.tokens) + 1 : 1);
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        return point.form == Form::tree ? prepare_tree(workspace, shape, format, state.type, state_bytes)
                                        : prepare_scan(workspace, shape, point.form, format, state.type, state_bytes);
    };
    return result;
}

/// A prompt that is scanned in chunks from a state that is changed in place. What its tokens bring was just computed.
KernelCase prompt_case(const Layer& layer, int batch, int tokens) {
    constexpr int chunk = 256;
    constexpr ElementType state_type = ElementType::fp32;
    KernelCase result;
    result.table = "mamba2_prompt";
    result.columns = {{"batch", std::to_string(batch)},
                      {"tokens", std::to_string(tokens)},
                      {"heads", std::to_string(layer.heads)},
                      {"head_dim", std::to_string(layer.dim)},
                      {"state_size", std::to_string(layer.state)},
                      {"chunk", std::to_string(chunk)},
                      {"dtype", bf16_format.name},
                      {"state_dtype", fp32_format.name}};
    const kernels::ScanShape shape{batch, tokens, layer.heads, layer.dim, layer.state, 1};
    const std::size_t state_bytes = std::size_t(batch) * std::size_t(layer.heads) * std::size_t(layer.dim) *
                                    std::size_t(layer.state) * bytes_of(state_type);
    result.largest_piece = state_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        kernels::ChunkScan scan;
        scan.shape = shape;
        scan.tokens = tokens_for(workspace, shape, bf16_format.type);
        scan.chunk = tree_on(workspace, kernels::packed_tree(chain_tree(chunk)));
        scan.y = workspace.results(std::int64_t{batch} * tokens, std::int64_t{layer.heads} * layer.dim, bf16_format.type);
        scan.scratch = static_cast<float*>(workspace.scratch(sizeof(float) * kernels::chunk_scan_scratch_floats(shape, chunk)));
        return [=, &workspace](kernels::Queue queue) mutable {
            std::byte* states = workspace.next_state(state_bytes, state_type);
            scan.initial = {states, state_type};
            scan.written = {states, state_type};
            workspace.backend().chunk_scan(scan, queue);
        };
    };
    return result;
}

void add_prompts(const CaseOptions& options, std::vector<KernelCase>& cases) {
    const bool quick = options.thoroughness == Thoroughness::quick;
    for (const Layer& layer : {Layer{24, 64, 128}, Layer{48, 64, 128}, Layer{80, 64, 128}, Layer{112, 64, 64}}) {
        for (const int batch : {1, 4}) {
            for (const int tokens : quick ? std::vector{512} : std::vector{512, 1024, 2048, 4096}) {
                cases.push_back(prompt_case(layer, batch, tokens));
            }
        }
    }
}

/// The format of activations matters little beside that of the state; engines keep states in fp32 by default.
std::vector<std::pair<MeasuredFormat, MeasuredFormat>> formats(const CaseOptions& options) {
    if (options.on_gpu) {
        return {{bf16_format, fp32_format}, {bf16_format, bf16_format}};
    }
    return {{fp32_format, fp32_format}, {bf16_format, bf16_format}};
}

}  // namespace

std::vector<KernelCase> scan_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    for (const auto& [format, state] : formats(options)) {
        for (const Layer& layer : scan_layers(options.thoroughness)) {
            for (const Point& point : points(options)) {
                cases.push_back(scan_case(layer, point, format, state));
            }
        }
    }
    if (options.on_gpu) {
        add_prompts(options, cases);
    }
    return cases;
}

}  // namespace treeline::calibrate
