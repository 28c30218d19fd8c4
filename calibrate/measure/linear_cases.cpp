// Linear layers of published models, at the row counts of decoding and verification.
#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {
namespace {

using kernels::ElementType;

struct Layer {
    int outputs, inputs;
};

/// Projections of Mamba-2 130m and 370m, of small Llamas, a small LM head, and a few between: their weights take 1 to 100 MB.
const std::vector<Layer>& cpu_layers(Thoroughness thoroughness) {
    static const std::vector<Layer> quick = {{768, 768},   {3352, 768},  {768, 1536},  {2048, 2048},
                                             {8192, 2048}, {1024, 4096}, {3072, 1024}, {32000, 768}};
    static const std::vector<Layer> full = {{512, 512},   {768, 768},   {3352, 768},  {768, 1536},  {4384, 1024},
                                            {1024, 2048}, {1024, 1024}, {3072, 1024}, {2048, 2048}, {8192, 2048},
                                            {2048, 8192}, {1024, 4096}, {2560, 768},  {768, 2048},  {32000, 768}};
    return thoroughness == Thoroughness::quick ? quick : full;
}

/// Projections of Mamba-2 2.7B, Llama 3 8B and 70B (and slices of them), and LM heads.
const std::vector<Layer>& gpu_layers(Thoroughness thoroughness) {
    static const std::vector<Layer> quick = {{4096, 4096}, {6144, 4096},  {28672, 4096},  {4096, 14336}, {10576, 2560},
                                             {2560, 5120}, {10240, 8192}, {128256, 4096}, {57344, 8192}};
    static const std::vector<Layer> full = {{1024, 1024},  {2048, 2048},  {4096, 4096},  {6144, 4096},  {28672, 4096},
                                            {4096, 14336}, {10576, 2560}, {2560, 5120},  {10240, 8192}, {8192, 8192},
                                            {57344, 8192}, {8192, 28672}, {50288, 2560}, {128256, 4096}};
    return thoroughness == Thoroughness::quick ? quick : full;
}

std::vector<int> row_counts(const CaseOptions& options) {
    if (options.thoroughness == Thoroughness::quick) {
        return options.on_gpu ? std::vector{1, 4, 8, 32, 64, 128, 256} : std::vector{1, 2, 4, 5, 8, 16, 32, 64};
    }
    return options.on_gpu ? std::vector{1, 2, 4, 5, 8, 16, 24, 32, 64, 96, 128, 192, 256, 384, 512, 1024}
                          : std::vector{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256};
}

/// In which the products of a format leave the kernel.
ElementType result_type(ElementType type) {
    return type == ElementType::fp8 ? ElementType::bf16 : type == ElementType::int8 ? ElementType::int32 : type;
}

KernelCase linear_case(const Layer& layer, int rows, const MeasuredFormat& format) {
    KernelCase result;
    result.table = "gemm";
    result.columns = {{"dtype", format.name},
                      {"m", std::to_string(rows)},
                      {"n", std::to_string(layer.outputs)},
                      {"k", std::to_string(layer.inputs)}};
    const std::size_t weight_bytes = std::size_t(layer.outputs) * std::size_t(layer.inputs) * bytes_of(format.type);
    result.largest_piece = weight_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        kernels::Linear linear{rows, layer.inputs, layer.outputs, {}, {}, {}};
        linear.x = workspace.activations(rows, layer.inputs, format.type);
        linear.y = workspace.results(rows, layer.outputs, result_type(format.type));
        return [=, &workspace](kernels::Queue queue) mutable {
            linear.weight = {workspace.next_input(weight_bytes), format.type, layer.inputs};
            workspace.backend().linear(linear, queue);
        };
    };
    return result;
}

/// In 8 bits, without the scales that engines apply. Devices before Ada have no products in fp8: those cases fail there, and
/// are listed as missing.
void add_narrow_cases(const CaseOptions& options, std::vector<KernelCase>& cases) {
    const std::vector<int> rows = options.thoroughness == Thoroughness::quick
                                      ? std::vector{1, 16, 64, 256}
                                      : std::vector{1, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    for (const MeasuredFormat& format : {fp8_format, int8_format}) {
        for (const Layer& layer : gpu_layers(options.thoroughness)) {
            for (const int count : rows) {
                cases.push_back(linear_case(layer, count, format));
            }
        }
    }
}

/// The largest row counts on the largest layers say nothing new, and would take most of the time.
constexpr double most_cpu_flops = 8e9;

}  // namespace

std::vector<KernelCase> linear_cases(const CaseOptions& options) {
    std::vector<KernelCase> cases;
    for (const MeasuredFormat& format : measured_formats(options)) {
        for (const Layer& layer : options.on_gpu ? gpu_layers(options.thoroughness) : cpu_layers(options.thoroughness)) {
            for (const int rows : row_counts(options)) {
                const double flops = 2.0 * rows * layer.outputs * layer.inputs;
                if (options.on_gpu || flops <= most_cpu_flops) {
                    cases.push_back(linear_case(layer, rows, format));
                }
            }
        }
    }
    if (options.on_gpu) {
        add_narrow_cases(options, cases);
        // A GPU's description needs a peak in fp32, too; nothing decodes in it.
        for (const Layer& layer : {Layer{1024, 512}, Layer{4096, 4096}, Layer{8192, 4096}, Layer{4096, 8192}}) {
            for (const int rows : {1, 64, 1024}) {
                cases.push_back(linear_case(layer, rows, fp32_format));
            }
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
