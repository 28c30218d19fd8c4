#include "calibrate/held_out_layer.h"

#include <algorithm>

#include "sim/pass.h"

namespace treeline::calibrate {
namespace {

sim::Mamba2 mamba_of(const HeldOutLayer& layer) {
    sim::Mamba2 mamba;
    mamba.heads = layer.heads;
    mamba.head_dim = layer.head_dim;
    return mamba;
}

sim::Model model_of(const HeldOutLayer& layer) {
    sim::Model model;
    model.width = layer.width;
    sim::LayerKind kind{"layer", {}};
    if (layer.family == LayerFamily::transformer) {
        sim::Attention attention;
        attention.query_heads = layer.heads;
        attention.kv_heads = layer.kv_heads;
        attention.head_dim = layer.head_dim;
        sim::Mlp mlp;
        mlp.hidden = layer.hidden;
        kind.blocks = {{attention}, {mlp}};
    } else {
        kind.blocks = {{mamba_of(layer)}};
    }
    model.kinds = {kind};
    model.order = {0};
    return model;
}

HeldOutLayer transformer(sim::NumberFormat format, bool on_gpu, const sim::PassShape& shape) {
    return on_gpu ? HeldOutLayer{LayerFamily::transformer, format, 3584, 28, 4, 128, 18944, shape}
                  : HeldOutLayer{LayerFamily::transformer, format, 896, 14, 2, 64, 4864, shape};
}

HeldOutLayer mamba2(sim::NumberFormat format, bool on_gpu, const sim::PassShape& shape) {
    const sim::Count width = on_gpu ? 3584 : 896;
    return {LayerFamily::mamba2, format, width, width / 32, 0, 64, 0, shape};
}

}  // namespace

std::vector<HeldOutLayer> held_out_layers(bool on_gpu, bool quick) {
    const std::vector<sim::NumberFormat> formats =
        on_gpu ? std::vector{sim::NumberFormat::bf16} : std::vector{sim::NumberFormat::fp32, sim::NumberFormat::bf16};
    const std::vector<double> batches = on_gpu ? std::vector{1.0, 16.0, 64.0} : std::vector{1.0, 4.0};
    std::vector<HeldOutLayer> layers;
    for (const sim::NumberFormat format : formats) {
        for (const double batch : batches) {
            for (const double tokens : quick ? std::vector{1.0, 5.0} : std::vector{1.0, 3.0, 5.0, 9.0}) {
                for (const double context : {256.0, 1024.0}) {
                    layers.push_back(transformer(format, on_gpu, {batch, tokens, context, tokens}));
                }
                layers.push_back(mamba2(format, on_gpu, {batch, tokens, 0.0, tokens}));
            }
        }
    }
    return layers;
}

std::vector<sim::Operation> operations_of(const HeldOutLayer& layer) {
    std::vector<sim::Operation> operations =
        operations_of(model_of(layer), sim::uniform_precision(layer.format), sim::PassOptions{});
    std::erase_if(operations, [](const sim::Operation& operation) {
        return operation.part != sim::ModelPart::body || operation.name.find("rotary") != std::string::npos;
    });
    return operations;
}

Seconds predicted_time(const HeldOutLayer& layer, const sim::Device& device) {
    sim::Platform platform;
    platform.device = device;
    platform.mode = sim::CostMode::calibrated;
    const sim::CompiledPass pass =
        sim::compile_operations(operations_of(layer), sim::uniform_precision(layer.format), platform, Seconds(0.0));
    return sim::pass_time(pass, sim::totals_of(pass, layer.shape));
}

}  // namespace treeline::calibrate
