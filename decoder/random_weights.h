// The weights of one block after another, drawn at random.
#pragma once

#include "decoder/weights.h"

namespace treeline::decoder {

/// Draws one tensor after another, each from a seed of its own.
class RandomWeights {
public:
    RandomWeights(Memory& memory, kernels::ElementType elements, std::uint64_t seed)
        : memory_(memory), elements_(elements), seed_(seed) {}

    /// Of deviation gain / sqrt(inputs), so that outputs are `gain` times as large as inputs; the first `large` outputs three
    /// times that. With `copies` above 1, that many matrices one below the other.
    Dense dense(sim::Count inputs, sim::Count outputs, double gain, sim::Count large = 0, sim::Count copies = 1);
    /// A bias with a fifth of the deviation that outputs have.
    Dense with_bias(Dense made, bool bias, double gain);
    /// Not random.
    const float* given(const std::vector<float>& values);
    const float* floats(sim::Count count, double center, double spread);
    NormWeights norm(sim::Count width, bool layer_norm);
    /// `gain` is that of the block's last projection.
    BlockWeights block(const sim::Block& block, sim::Count width, double gain);

private:
    std::uint64_t next_seed();

    Memory& memory_;
    kernels::ElementType elements_;
    std::uint64_t seed_, drawn_ = 0;
};

}  // namespace treeline::decoder
