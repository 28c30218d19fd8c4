// Scans by steps (kernels/channel_scan.h, kernels/delta_scan.h). A warp keeps its part of a state in registers over a chain; of
// a tree it keeps the part after each token in shared memory.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/step_walk.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int width = 4;       // neighbours of a state in a thread: 16 bytes of fp32, 8 of bf16
constexpr int most_warps = 4;  // of a block

template <class Activation, class State>
struct ChannelParameters {
    Steps<Activation, State> steps;
    int channels, size;
    Matrix<const Activation> x, dt, b, c, gate;
    const float *a, *dt_bias, *d;
};

/// blockIdx = (channels, sequence): 32 Width / size channels a piece, `Width` lanes' worth of numbers in each lane.
template <int Pieces, int Width, class Activation, class State>
__global__ void __launch_bounds__(most_warps* warp) channel_scan_kernel(ChannelParameters<Activation, State> p) {
    float* kept = dynamic_shared<float>();
    const int own_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
    const int lanes = p.size / Width, channels_of_piece = warp / lanes;  // lanes: that share a channel
    const int first =
        (static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / warp) + own_warp) * Pieces * channels_of_piece;
    if (first >= p.channels) {
        return;
    }
    const int n = lane % lanes * Width;
    const auto own = [&](int i) { return first + i * channels_of_piece + lane / lanes; };
    const auto channel = [&](int i) { return min(own(i), p.channels - 1); };
    float a[Pieces][Width], bias[Pieces];
#pragma unroll
    for (int i = 0; i < Pieces; ++i) {
        bias[i] = p.dt_bias != nullptr ? p.dt_bias[channel(i)] : 0.0F;
#pragma unroll
        for (int j = 0; j < Width; ++j) {
            a[i][j] = p.a[static_cast<std::int64_t>(channel(i)) * p.size + n + j];
        }
    }
    walk<Pieces, Width>(
        p.steps, static_cast<int>(blockIdx.y), static_cast<std::int64_t>(p.channels) * p.size,
        static_cast<std::int64_t>(first) * p.size, [&](int i) { return own(i) < p.channels ? (i * warp + lane) * Width : -1; },
        kept + own_warp * p.steps.tokens * Pieces * Width * warp,
        [&](float(&h)[Pieces][Width], std::int64_t row, std::int64_t place) {
            float b[Width], c[Width] = {};
#pragma unroll
            for (int j = 0; j < Width; ++j) {
                b[j] = get(p.b.row(row), n + j);
                c[j] = p.steps.y ? get(p.c.row(row), n + j) : 0.0F;
            }
#pragma unroll
            for (int i = 0; i < Pieces; ++i) {
                const float dt = softplus(get(p.dt.row(row), channel(i)) + bias[i]), x = get(p.x.row(row), channel(i));
                float sum = 0.0F;
#pragma unroll
                for (int j = 0; j < Width; ++j) {
                    h[i][j] = expf(a[i][j] * dt) * h[i][j] + dt * x * b[j];
                    sum += h[i][j] * c[j];
                }
                if (p.steps.y) {
                    sum = sum_over_lanes(sum, lanes);
                    if (n == 0 && own(i) < p.channels) {
                        const float value = sum + (p.d != nullptr ? p.d[channel(i)] * x : 0.0F);
                        put(p.steps.y.row(place), channel(i), p.gate ? value * silu(get(p.gate.row(row), channel(i))) : value);
                    }
                }
            }
        });
}

template <class Activation, class State>
struct DeltaParameters {
    Steps<Activation, State> steps;
    int key_heads, value_heads, key_dim, value_dim;
    Matrix<const Activation> q, k, v, beta, decay;
    const float *a, *decay_bias;
};

/// blockIdx = (rows of a value head's state, value head, sequence): a warp for `Rows` of them, with `Pieces` of a row in a
/// lane.
template <int Rows, int Pieces, class Activation, class State>
__global__ void __launch_bounds__(most_warps* warp, 4) delta_scan_kernel(DeltaParameters<Activation, State> p) {
    float* kept = dynamic_shared<float>();
    const int own_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
    const int head = static_cast<int>(blockIdx.y);
    const int value = (static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / warp) + own_warp) * Rows;
    if (value >= p.value_dim) {
        return;
    }
    const int key_column = head / (p.value_heads / p.key_heads) * p.key_dim;
    const std::int64_t column = static_cast<std::int64_t>(head) * p.value_dim + value;
    const float bias = p.decay_bias != nullptr ? p.decay_bias[head] : 0.0F;
    const auto key_at = [&](int piece) { return (piece * warp + lane) * width; };
    // value_dim is a multiple of 4, so that the rows of a warp are all there.
    walk<Rows * Pieces, width>(
        p.steps, static_cast<int>(blockIdx.z), static_cast<std::int64_t>(p.value_heads) * p.value_dim * p.key_dim,
        column * p.key_dim,
        [&](int i) { return key_at(i % Pieces) < p.key_dim ? i / Pieces * p.key_dim + key_at(i % Pieces) : -1; },
        kept + static_cast<std::int64_t>(own_warp) * p.steps.tokens * Rows * Pieces * width * warp,
        [&](float(&h)[Rows * Pieces][width], std::int64_t row, std::int64_t place) {
            const float decay = expf(p.a[head] * softplus(get(p.decay.row(row), head) + bias));
            const float beta = sigmoid(get(p.beta.row(row), head));
            float k[Pieces][width], q[Pieces][width];
#pragma unroll
            for (int i = 0; i < Pieces; ++i) {
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const bool there = key_at(i) < p.key_dim;
                    k[i][j] = there ? get(p.k.row(row), key_column + key_at(i) + j) : 0.0F;
                    q[i][j] = there && p.steps.y ? get(p.q.row(row), key_column + key_at(i) + j) : 0.0F;
                }
            }
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                float seen = 0.0F, sum = 0.0F;
#pragma unroll
                for (int i = 0; i < Pieces; ++i) {
#pragma unroll
                    for (int j = 0; j < width; ++j) {
                        h[r * Pieces + i][j] *= decay;
                        seen += h[r * Pieces + i][j] * k[i][j];
                    }
                }
                const float change = beta * (get(p.v.row(row), column + r) - sum_over_lanes(seen, warp));
#pragma unroll
                for (int i = 0; i < Pieces; ++i) {
#pragma unroll
                    for (int j = 0; j < width; ++j) {
                        h[r * Pieces + i][j] += change * k[i][j];
                        sum += h[r * Pieces + i][j] * q[i][j];
                    }
                }
                if (p.steps.y) {
                    sum = sum_over_lanes(sum, warp);
                    if (lane == 0) {
                        put(p.steps.y.row(place), column + r, sum);
                    }
                }
            }
        });
}

/// Warps of a block whose parts of the tree's states fit its shared memory.
int warps_for(const ScanSteps& steps, std::size_t bytes_of_token) {
    const std::size_t of_warp = steps.tree ? static_cast<std::size_t>(steps.tokens) * bytes_of_token : 0;
    if (of_warp == 0) {
        return most_warps;
    }
    const auto shared_of_block = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    for (int warps = most_warps; warps > 0; warps /= 2) {
        if (static_cast<std::size_t>(warps) * of_warp <= shared_of_block) {
            return warps;
        }
    }
    throw std::invalid_argument("scan by steps: the tree's states do not fit the shared memory of this GPU");
}

/// Calls use(activation, state) with values of the two types.
template <class Use>
void with_types(ElementType activation, ElementType state, Use use) {
    with_type(activation, [&](auto a) { with_type(state, [&](auto s) { use(a, s); }); });
}

}  // namespace

namespace {

template <int Pieces, int Width, class Activation, class State>
void launch_channels(const ChannelScan& scan, Queue queue) {
    constexpr std::size_t bytes_of_token = Pieces * Width * warp * sizeof(float);
    const int warps = warps_for(scan.steps, bytes_of_token);
    const std::size_t shared = scan.steps.tree ? std::size_t(warps) * std::size_t(scan.steps.tokens) * bytes_of_token : 0;
    const LaunchShape shape{dim3(blocks_for(scan.channels, std::int64_t{warps} * Pieces * (warp * Width / scan.state_size)),
                                 static_cast<unsigned>(scan.steps.sequences)),
                            static_cast<unsigned>(warps * warp), shared};
    const ChannelParameters<Activation, State> parameters{Steps<Activation, State>(scan.steps),
                                                          scan.channels,
                                                          scan.state_size,
                                                          typed<Activation>(scan.x),
                                                          typed<Activation>(scan.dt),
                                                          typed<Activation>(scan.b),
                                                          typed<Activation>(scan.c),
                                                          typed<Activation>(scan.gate),
                                                          scan.a,
                                                          scan.dt_bias,
                                                          scan.d};
    launch("channel scan", channel_scan_kernel<Pieces, Width, Activation, State>, shape, queue, parameters);
}

template <int Rows, int Pieces>
void launch_delta(const DeltaScan& scan, Queue queue) {
    constexpr std::size_t bytes_of_token = Rows * Pieces * width * warp * sizeof(float);
    const int warps = warps_for(scan.steps, bytes_of_token);
    const std::size_t shared = scan.steps.tree ? std::size_t(warps) * std::size_t(scan.steps.tokens) * bytes_of_token : 0;
    const LaunchShape shape{dim3(blocks_for(scan.value_dim, std::int64_t{warps} * Rows),
                                 static_cast<unsigned>(scan.value_heads), static_cast<unsigned>(scan.steps.sequences)),
                            static_cast<unsigned>(warps * warp), shared};
    with_types(scan.k.type, scan.steps.initial.type, [&](auto activation, auto state) {
        using Activation = decltype(activation);
        using State = decltype(state);
        const DeltaParameters<Activation, State> parameters{Steps<Activation, State>(scan.steps),
                                                            scan.key_heads,
                                                            scan.value_heads,
                                                            scan.key_dim,
                                                            scan.value_dim,
                                                            typed<Activation>(scan.q),
                                                            typed<Activation>(scan.k),
                                                            typed<Activation>(scan.v),
                                                            typed<Activation>(scan.beta),
                                                            typed<Activation>(scan.decay),
                                                            scan.a,
                                                            scan.decay_bias};
        launch("delta scan", delta_scan_kernel<Rows, Pieces, Activation, State>, shape, queue, parameters);
    });
}

}  // namespace

// Over a tree the states that are kept fill the shared memory, so that warps hold little; over a chain they hold enough to keep
// 24 KB of states and more on their way to an SM.

void channel_scan(const ChannelScan& scan, Queue queue) {
    check(scan);
    with_types(scan.x.type, scan.steps.initial.type, [&](auto activation, auto state) {
        using Activation = decltype(activation);
        using State = decltype(state);
        if (scan.steps.tree) {
            launch_channels<1, 1, Activation, State>(scan, queue);
        } else {
            launch_channels<sizeof(State) == 2 ? 4 : 2, width, Activation, State>(scan, queue);
        }
    });
}

void delta_scan(const DeltaScan& scan, Queue queue) {
    check(scan);
    if (scan.key_dim > warp * width) {
        scan.steps.tree ? launch_delta<1, 2>(scan, queue) : launch_delta<2, 2>(scan, queue);
    } else {
        scan.steps.tree ? launch_delta<1, 1>(scan, queue) : launch_delta<4, 1>(scan, queue);
    }
}

}  // namespace treeline::kernels::cuda
