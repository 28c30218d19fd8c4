// Causal depthwise convolution (kernels/convolution.h): a thread for each channel, so that neighbours read neighbours.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int widest = 8;

template <class Element>
struct Parameters {
    ConvolutionShape shape;
    Matrix<const Element> input;
    const float* weight;
    const float* bias;
    const Element* window;
    TreeView tree;
    Matrix<Element> output;
    Element* window_after;
};

template <class Element>
__device__ std::int64_t window_place(const Parameters<Element>& p, int sequence, int place, int channel) {
    return (static_cast<std::int64_t>(sequence) * (p.shape.width - 1) + place) * p.shape.channels + channel;
}

template <class Element>
__device__ float convolve(const Parameters<Element>& p, int sequence, int token, int channel) {
    float sum = p.bias != nullptr ? p.bias[channel] : 0.0F;
    int at = token, place = p.shape.width - 2;
    for (int k = p.shape.width - 1; k >= 0; --k) {
        float input;
        if (at >= 0) {
            input = get(p.input.row(static_cast<std::int64_t>(sequence) * p.shape.tokens + at), channel);
            at = p.tree.parent != nullptr ? p.tree.parent[at] : at - 1;
        } else {
            input = get(p.window, window_place(p, sequence, place--, channel));
        }
        sum += p.weight[static_cast<std::int64_t>(k) * p.shape.channels + channel] * input;
    }
    return silu(sum);
}

/// The last inputs before and among `count` tokens become the window; `row_of` names their rows. All of a thread's reads come
/// before its writes, so the window may be the same memory before and after.
template <class Element, class RowOf>
__device__ void move_window(const ConvolutionShape& shape, Matrix<const Element> input, const Element* before, Element* after,
                            int sequence, int channel, int count, RowOf row_of) {
    const int kept = shape.width - 1;
    const auto at = [&](int place) { return (static_cast<std::int64_t>(sequence) * kept + place) * shape.channels + channel; };
    Element values[widest - 1];
#pragma unroll
    for (int place = 0; place < widest - 1; ++place) {
        if (place < kept) {
            const int from = count + place;  // counted over the window and the tokens
            values[place] = from < kept ? before[at(from)] : input.row(row_of(from - kept))[channel];
        }
    }
#pragma unroll
    for (int place = 0; place < widest - 1; ++place) {
        if (place < kept) {
            after[at(place)] = values[place];
        }
    }
}

/// Chains: blockIdx = (sequence, part of the channels). The tokens of a channel follow one another in one thread, which can
/// then overwrite the window it alone reads.
template <class Element>
__global__ void __launch_bounds__(threads) chain_kernel(Parameters<Element> p) {
    const int channel = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x),
              sequence = static_cast<int>(blockIdx.x);
    if (channel >= p.shape.channels) {
        return;
    }
    const std::int64_t first_row = static_cast<std::int64_t>(sequence) * p.shape.tokens;
    for (int token = 0; token < p.shape.tokens; ++token) {
        put(p.output.row(first_row + token), channel, convolve(p, sequence, token, channel));
    }
    if (p.window_after != nullptr) {
        move_window(p.shape, p.input, p.window, p.window_after, sequence, channel, p.shape.tokens,
                    [&](int token) { return first_row + token; });
    }
}

/// Trees: blockIdx = (sequence, part of the channels, token).
template <class Element>
__global__ void __launch_bounds__(threads) tree_kernel(Parameters<Element> p) {
    const int channel = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x),
              sequence = static_cast<int>(blockIdx.x);
    if (channel < p.shape.channels) {
        const int token = static_cast<int>(blockIdx.z);
        put(p.output.row(static_cast<std::int64_t>(sequence) * p.shape.tokens + token), channel,
            convolve(p, sequence, token, channel));
    }
}

template <class Element>
__global__ void __launch_bounds__(threads)
    advance_kernel(ConvolutionShape shape, Matrix<const Element> input, const int* row_of, Element* window) {
    const int channel = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x),
              sequence = static_cast<int>(blockIdx.x);
    if (channel >= shape.channels) {
        return;
    }
    const int* rows = row_of + static_cast<std::int64_t>(sequence) * shape.tokens;
    int accepted = 0;
    while (accepted < shape.tokens && rows[accepted] >= 0) {
        ++accepted;
    }
    move_window(shape, input, window, window, sequence, channel, accepted, [&](int step) { return rows[step]; });
}

}  // namespace

void convolution_update(const ConvolutionUpdate& update, Queue queue) {
    check(update);
    const ConvolutionShape& shape = update.shape;
    const unsigned tokens = update.tree ? static_cast<unsigned>(shape.tokens) : 1;
    const LaunchShape launch_shape{dim3(static_cast<unsigned>(shape.sequences), blocks_for(shape.channels, threads), tokens),
                                   threads};
    with_type(update.input.type, [&](auto element) {
        using Element = decltype(element);
        const Parameters<Element> parameters{shape,
                                             typed<Element>(update.input),
                                             update.weight,
                                             update.bias,
                                             static_cast<const Element*>(update.window),
                                             update.tree,
                                             typed<Element>(update.output),
                                             static_cast<Element*>(update.window_after)};
        launch("convolution update", update.tree ? tree_kernel<Element> : chain_kernel<Element>, launch_shape, queue,
               parameters);
    });
}

void convolution_advance(const ConvolutionAdvance& advance, Queue queue) {
    check(advance);
    const LaunchShape shape{dim3(static_cast<unsigned>(advance.shape.sequences), blocks_for(advance.shape.channels, threads)),
                            threads};
    with_type(advance.input.type, [&](auto element) {
        using Element = decltype(element);
        launch("convolution advance", advance_kernel<Element>, shape, queue, advance.shape, typed<Element>(advance.input),
               advance.row_of, static_cast<Element*>(advance.window));
    });
}

}  // namespace treeline::kernels::cuda
