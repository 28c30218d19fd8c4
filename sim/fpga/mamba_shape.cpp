#include "sim/fpga/mamba_shape.h"

namespace treeline::sim::fpga {
namespace {

const Mamba2* only_block(const Model& model) {
    const Mamba2* found = nullptr;
    for (const std::size_t kind : model.order) {
        const LayerKind& layer = model.kinds[kind];
        const Mamba2* block = layer.blocks.size() == 1 ? std::get_if<Mamba2>(&layer.blocks.front().kind) : nullptr;
        if (block == nullptr || block->shared_width > 0 || (found != nullptr && found != block)) {
            return nullptr;
        }
        found = block;
    }
    return found;
}

}  // namespace

std::string shape_problem(const Model& model) {
    return only_block(model) != nullptr
               ? std::string()
               : "the accelerator runs Mamba-2 models whose layers are all alike; " + model.name + " is not one";
}

MambaShape shape_of(const Model& model) {
    const Mamba2& block = *only_block(model);
    const auto real = [](Count count) { return static_cast<double>(count); };
    MambaShape shape;
    shape.layers = static_cast<double>(model.order.size());
    shape.width = real(model.width);
    shape.inner = real(block.inner());
    shape.in_projection = real(block.in_proj_width());
    shape.shared_columns = real(2 * block.groups * block.state);
    shape.heads = real(block.heads);
    shape.state = real(block.state);
    shape.groups = real(block.groups);
    shape.conv_channels = real(block.conv_channels());
    shape.conv_width = real(block.conv_width);
    shape.state_elements = real(block.heads * block.head_dim * block.state);
    shape.vocabulary = real(model.vocabulary_size);
    return shape;
}

}  // namespace treeline::sim::fpga
