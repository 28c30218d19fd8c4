#include <algorithm>
#include <array>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

/// Channels that one thread works on at a time.
constexpr int block_channels = 512;

/// The inputs of one sequence in a block of channels: the window, oldest first, then this pass's tokens.
class InputBlock {
public:
    InputBlock(const ConvolutionShape& shape, int tokens)
        : kept_(shape.width - 1), channels_(shape.channels), values_(std::size_t(kept_ + tokens) * block_channels) {}

    void load_window(const void* window, ElementType type, int sequence, int first, int count) {
        for (int place = 0; place < kept_; ++place) {
            load(window, type, (std::int64_t{sequence} * kept_ + place) * channels_ + first, count, at(place));
        }
    }
    void store_window(void* window, ElementType type, int sequence, int first, int count, int first_place) const {
        for (int place = 0; place < kept_; ++place) {
            store(window, type, (std::int64_t{sequence} * kept_ + place) * channels_ + first, count, at(first_place + place));
        }
    }
    [[nodiscard]] float* at(int place) const { return values_ + std::int64_t{place} * block_channels; }
    [[nodiscard]] float* of_token(int token) const { return at(kept_ + token); }

private:
    int kept_, channels_;
    Buffer values_;
};

int parent_of(const TreeView& tree, int token) { return tree ? tree.parent[token] : token - 1; }

/// Output of one token, from its own input back through its ancestors and the window.
void convolve(const ConvolutionUpdate& update, const InputBlock& inputs, int token, int first, int count, float* sum) {
    if (update.bias != nullptr) {
        std::copy_n(update.bias + first, count, sum);
    } else {
        std::fill_n(sum, count, 0.0F);
    }
    int at = token;
    int place = update.shape.width - 2;
    for (int k = update.shape.width - 1; k >= 0; --k) {
        const float* input = at >= 0 ? inputs.of_token(at) : inputs.at(place--);
        at = at >= 0 ? parent_of(update.tree, at) : -1;
        multiply_add(update.weight + std::int64_t{k} * update.shape.channels + first, input, sum, count);
    }
    apply_silu(sum, count);
}

}  // namespace

void convolution_update(const ConvolutionUpdate& update, Queue /*queue*/) {
    check(update);
    const ConvolutionShape& shape = update.shape;
#pragma omp parallel
    {
        InputBlock inputs(shape, shape.tokens);
        Buffer sum(block_channels);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < shape.sequences; ++sequence) {
            for (int first = 0; first < shape.channels; first += block_channels) {
                const int count = std::min(block_channels, shape.channels - first);
                const std::int64_t row = std::int64_t{sequence} * shape.tokens;
                inputs.load_window(update.window, update.input.type, sequence, first, count);
                for (int token = 0; token < shape.tokens; ++token) {
                    load(update.input, row + token, first, count, inputs.of_token(token));
                }
                for (int token = 0; token < shape.tokens; ++token) {
                    convolve(update, inputs, token, first, count, sum.data());
                    store(update.output, row + token, first, count, sum.data());
                }
                if (update.window_after != nullptr) {
                    inputs.store_window(update.window_after, update.input.type, sequence, first, count, shape.tokens);
                }
            }
        }
    }
}

void convolution_advance(const ConvolutionAdvance& advance, Queue /*queue*/) {
    check(advance);
    const ConvolutionShape& shape = advance.shape;
#pragma omp parallel
    {
        InputBlock inputs(shape, shape.tokens);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < shape.sequences; ++sequence) {
            for (int first = 0; first < shape.channels; first += block_channels) {
                const int count = std::min(block_channels, shape.channels - first);
                inputs.load_window(advance.window, advance.input.type, sequence, first, count);
                const int* rows = advance.row_of + std::int64_t{sequence} * shape.tokens;
                int accepted = 0;
                for (; accepted < shape.tokens && rows[accepted] >= 0; ++accepted) {
                    load(advance.input, rows[accepted], first, count, inputs.of_token(accepted));
                }
                inputs.store_window(advance.window, advance.input.type, sequence, first, count, accepted);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
