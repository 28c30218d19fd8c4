// Latent attention and what surrounds it (kernels/latent_attention.h).
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int warp = 32;
constexpr int threads = 256;
constexpr int rows_at_once = 32;   // cached rows between two barriers
constexpr int sums_of_thread = 4;  // threads * sums_of_thread = the widest latent

template <class Element>
struct Parameters {
    int tokens, latent, turned, capacity, first_token;
    Matrix<const Element> query, cache;
    const int* context;
    TreeView tree;
    float scale;
    Matrix<Element> output;
};

__device__ inline bool sees(const TreeView& tree, int token, int other) {
    return tree.parent == nullptr ||
           (tree.ancestors[static_cast<std::int64_t>(token) * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0;
}

/// blockIdx = (head, token, sequence): warps score rows, then threads sum columns, with a running maximum.
template <class Element>
__global__ void __launch_bounds__(threads) latent_attention_kernel(Parameters<Element> p) {
    float* query = dynamic_shared<float>();
    __shared__ float weights[rows_at_once];
    const int head = static_cast<int>(blockIdx.x), token = static_cast<int>(blockIdx.y);
    const int sequence = static_cast<int>(blockIdx.z), width = p.latent + p.turned;
    const int lane = static_cast<int>(threadIdx.x) % warp, own_warp = static_cast<int>(threadIdx.x) / warp;
    const std::int64_t row = static_cast<std::int64_t>(sequence) * p.tokens + token;
    for (int i = static_cast<int>(threadIdx.x); i < width; i += threads) {
        query[i] = get(p.query.row(row), static_cast<std::int64_t>(head) * width + i) * p.scale;
    }
    __syncthreads();
    const int context = p.context[sequence], own = p.first_token + token, end = context + own + 1;
    float sums[sums_of_thread] = {}, largest = -INFINITY, total = 0.0F;
    for (int first = 0; first < end; first += rows_at_once) {
        const int count = min(rows_at_once, end - first);
        const std::int64_t cached = static_cast<std::int64_t>(sequence) * p.capacity + first;
        for (int i = own_warp; i < count; i += threads / warp) {
            const Element* keys = p.cache.row(cached + i);
            float score = 0.0F;
            for (int at = lane; at < width; at += warp) {
                score += query[at] * get(keys, at);
            }
            score = sum_over_lanes(score, warp);
            const int place = first + i;
            if (lane == 0) {
                weights[i] = place < context || sees(p.tree, own, place - context) ? score : -INFINITY;
            }
        }
        __syncthreads();
        float now = largest;
        for (int i = 0; i < count; ++i) {
            now = fmaxf(now, weights[i]);
        }
        if (now != -INFINITY) {
            const float kept = expf(largest - now);
            total *= kept;
#pragma unroll
            for (int k = 0; k < sums_of_thread; ++k) {
                sums[k] *= kept;
            }
            for (int i = 0; i < count; ++i) {
                const float weight = expf(weights[i] - now);
                total += weight;
                const Element* values = p.cache.row(cached + i);
#pragma unroll
                for (int k = 0; k < sums_of_thread; ++k) {
                    const int column = static_cast<int>(threadIdx.x) + k * threads;
                    sums[k] += column < p.latent ? weight * get(values, column) : 0.0F;
                }
            }
            largest = now;
        }
        __syncthreads();  // weights are written again
    }
#pragma unroll
    for (int k = 0; k < sums_of_thread; ++k) {
        const int column = static_cast<int>(threadIdx.x) + k * threads;
        if (column < p.latent) {
            put(p.output.row(row), static_cast<std::int64_t>(head) * p.latent + column, sums[k] / total);
        }
    }
}

constexpr int outputs_of_block = threads / warp;
constexpr int linear_rows_at_once = 8;

/// blockIdx = (part of a head's outputs, head): each warp multiplies one row of weights with up to 8 rows at a time.
template <class Element>
__global__ void __launch_bounds__(threads)
    head_linear_kernel(int rows, int inputs, int outputs, Matrix<const Element> x, int input_stride,
                       Matrix<const Element> weight, Matrix<Element> y, int output_stride) {
    const int head = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x) % warp;
    const int output = static_cast<int>(blockIdx.x) * outputs_of_block + static_cast<int>(threadIdx.x) / warp;
    if (output >= outputs) {
        return;
    }
    const Element* weights = weight.row(static_cast<std::int64_t>(head) * outputs + output);
    const std::int64_t column = static_cast<std::int64_t>(head) * input_stride;
    for (int first = 0; first < rows; first += linear_rows_at_once) {
        float sum[linear_rows_at_once] = {};
        for (int at = lane; at < inputs; at += warp) {
            const float w = get(weights, at);
#pragma unroll
            for (int i = 0; i < linear_rows_at_once; ++i) {
                sum[i] += w * get(x.row(min(first + i, rows - 1)), column + at);
            }
        }
#pragma unroll
        for (int i = 0; i < linear_rows_at_once; ++i) {
            const float total = sum_over_lanes(sum[i], warp);
            if (lane == 0 && first + i < rows) {
                put(y.row(first + i), static_cast<std::int64_t>(head) * output_stride + output, total);
            }
        }
    }
}

/// blockIdx = (part of the row, row).
template <class Element>
__global__ void __launch_bounds__(threads)
    repeat_heads_kernel(int heads, int copies, int width, Matrix<const Element> from, Matrix<Element> to) {
    const int i = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x);
    if (i < heads * width) {
        to.row(blockIdx.x)[i] = from.row(blockIdx.x)[i / width / copies * width + i % width];
    }
}

}  // namespace

void latent_attention(const LatentAttention& attention, Queue queue) {
    check(attention);
    with_type(attention.query.type, [&](auto element) {
        using Element = decltype(element);
        const Parameters<Element> parameters{attention.tokens,
                                             attention.latent,
                                             attention.turned,
                                             attention.capacity,
                                             attention.first_token,
                                             typed<Element>(attention.query),
                                             typed<Element>(attention.cache),
                                             attention.context,
                                             attention.tree,
                                             attention.scale,
                                             typed<Element>(attention.output)};
        launch("latent attention", latent_attention_kernel<Element>,
               {dim3(static_cast<unsigned>(attention.heads), static_cast<unsigned>(attention.tokens),
                     static_cast<unsigned>(attention.sequences)),
                threads, static_cast<std::size_t>(attention.latent + attention.turned) * sizeof(float)},
               queue, parameters);
    });
}

void head_linear(const HeadLinear& linear, Queue queue) {
    check(linear);
    with_type(linear.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("linear layer of heads", head_linear_kernel<Element>,
               {dim3(blocks_for(linear.outputs, outputs_of_block), static_cast<unsigned>(linear.heads)), threads}, queue,
               linear.rows, linear.inputs, linear.outputs, typed<Element>(linear.x), linear.input_stride,
               typed<Element>(linear.weight), typed<Element>(linear.y), linear.output_stride);
    });
}

void repeat_heads(const RepeatHeads& repeat, Queue queue) {
    check(repeat);
    with_type(repeat.from.type, [&](auto element) {
        using Element = decltype(element);
        const std::int64_t columns = std::int64_t{repeat.heads} * repeat.width;
        launch("repeating heads", repeat_heads_kernel<Element>,
               {dim3(static_cast<unsigned>(repeat.rows), blocks_for(columns, threads)), threads}, queue, repeat.heads,
               repeat.copies, repeat.width, typed<Element>(repeat.from), typed<Element>(repeat.to));
    });
}

}  // namespace treeline::kernels::cuda
