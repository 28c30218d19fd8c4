// Norms and the gated activation (kernels/pointwise.h). Each element of a row belongs to one thread in every pass over it.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 256;        ///< of a block that takes a part of a row
constexpr int most_threads = 1024;  ///< of one that walks along a row (threads_along)

/// blockIdx = (part of the row, row).
template <class Element>
__global__ void __launch_bounds__(threads) add_bias_kernel(int width, Matrix<Element> x, const float* bias) {
    const int i = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x);
    if (i < width) {
        Element* row = x.row(blockIdx.x);
        put(row, i, get(row, i) + bias[i]);
    }
}

/// blockIdx = row. Without a bias it is RMSNorm, whose mean counts as 0.
template <class Element>
__global__ void __launch_bounds__(most_threads)
    rms_norm_kernel(int width, Matrix<const Element> x, Matrix<Element> residual, const float* weight, const float* bias,
                    float epsilon, Matrix<Element> output) {
    const std::int64_t row = blockIdx.x;
    const auto sum_at = [&](int i) { return get(x.row(row), i) + (residual ? get(residual.row(row), i) : 0.0F); };
    float mean = 0.0F;
    if (bias != nullptr) {
#pragma unroll 4
        for (int i = static_cast<int>(threadIdx.x); i < width; i += static_cast<int>(blockDim.x)) {
            mean += sum_at(i);
        }
        mean = sum_over_block(mean) / static_cast<float>(width);
    }
    float squares = 0.0F;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < width; i += static_cast<int>(blockDim.x)) {
        const float u = sum_at(i) - mean;
        squares += u * u;
    }
    const float factor = rsqrtf(sum_over_block(squares) / static_cast<float>(width) + epsilon);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < width; i += static_cast<int>(blockDim.x)) {
        const float u = sum_at(i);
        put(output.row(row), i, weight[i] * ((u - mean) * factor) + (bias != nullptr ? bias[i] : 0.0F));
        if (residual) {
            put(residual.row(row), i, u);
        }
    }
}

/// blockIdx = (row, group).
template <class Element>
__global__ void __launch_bounds__(most_threads)
    gated_rms_norm_kernel(int part, Matrix<const Element> x, Matrix<const Element> gate, bool gate_after, const float* weight,
                          float epsilon, Matrix<Element> output) {
    const std::int64_t row = blockIdx.x;
    const int begin = static_cast<int>(blockIdx.y) * part;
    const auto factor_at = [&](int i) { return gate ? silu(get(gate.row(row), i)) : 1.0F; };
    const auto gated_at = [&](int i) { return get(x.row(row), i) * (gate_after ? 1.0F : factor_at(i)); };
    float squares = 0.0F;
#pragma unroll 4
    for (int i = begin + static_cast<int>(threadIdx.x); i < begin + part; i += static_cast<int>(blockDim.x)) {
        const float u = gated_at(i);
        squares += u * u;
    }
    const float factor = rsqrtf(sum_over_block(squares) / static_cast<float>(part) + epsilon);
#pragma unroll 4
    for (int i = begin + static_cast<int>(threadIdx.x); i < begin + part; i += static_cast<int>(blockDim.x)) {
        put(output.row(row), i, weight[i] * (gated_at(i) * factor) * (gate_after ? factor_at(i) : 1.0F));
    }
}

__device__ inline bool takes_four(const void* data, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 8 == 0;
}

/// blockIdx = (row, part of the row). Four elements a thread: enough loads in flight for rows that come from main memory.
template <class Element>
__global__ void __launch_bounds__(threads)
    gated_activation_kernel(int width, Matrix<const Element> gate, Matrix<const Element> up, GateFunction function,
                            Matrix<Element> output) {
    const auto gated = [function](float value) { return function == GateFunction::sigmoid ? sigmoid(value) : silu(value); };
    const std::int64_t row = blockIdx.x;
    const int first = 4 * (static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x));
    if (first + 4 <= width && takes_four(gate.data, gate.stride) && takes_four(up.data, up.stride) &&
        takes_four(output.data, output.stride)) {
        const float4 g = get4(gate.row(row), first), u = get4(up.row(row), first);
        put4(output.row(row), first, make_float4(gated(g.x) * u.x, gated(g.y) * u.y, gated(g.z) * u.z, gated(g.w) * u.w));
        return;
    }
    for (int i = first; i < min(width, first + 4); ++i) {
        put(output.row(row), i, gated(get(gate.row(row), i)) * get(up.row(row), i));
    }
}

}  // namespace

void add_bias(const AddBias& sum, Queue queue) {
    check(sum);
    with_type(sum.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("bias", add_bias_kernel<Element>,
               {dim3(static_cast<unsigned>(sum.rows), blocks_for(sum.width, threads)), threads}, queue, sum.width,
               typed<Element>(sum.x), sum.bias);
    });
}

void rms_norm(const RmsNorm& norm, Queue queue) {
    check(norm);
    with_type(norm.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("RMSNorm", rms_norm_kernel<Element>, {dim3(static_cast<unsigned>(norm.rows)), threads_along(norm.width)}, queue,
               norm.width, typed<Element>(norm.x), typed<Element>(norm.residual), norm.weight, norm.bias, norm.epsilon,
               typed<Element>(norm.output));
    });
}

void gated_rms_norm(const GatedRmsNorm& norm, Queue queue) {
    check(norm);
    with_type(norm.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("gated RMSNorm", gated_rms_norm_kernel<Element>,
               {dim3(static_cast<unsigned>(norm.rows), static_cast<unsigned>(norm.groups)),
                threads_along(norm.width / norm.groups)},
               queue, norm.width / norm.groups, typed<Element>(norm.x), typed<Element>(norm.gate), norm.gate_after, norm.weight,
               norm.epsilon, typed<Element>(norm.output));
    });
}

void gated_activation(const GatedActivation& activation, Queue queue) {
    check(activation);
    with_type(activation.gate.type, [&](auto element) {
        using Element = decltype(element);
        launch("gated activation", gated_activation_kernel<Element>,
               {dim3(static_cast<unsigned>(activation.rows), blocks_for(activation.width, 4 * threads)), threads}, queue,
               activation.width, typed<Element>(activation.gate), typed<Element>(activation.up), activation.function,
               typed<Element>(activation.output));
    });
}

}  // namespace treeline::kernels::cuda
