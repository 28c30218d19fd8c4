// Scans by steps (kernels/channel_scan.h, kernels/delta_scan.h). A warp keeps its part of a state in registers over a chain; of
// a tree it keeps the part after each token in shared memory.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int warp = 32;
constexpr int most_warps = 4;                       // of a block
constexpr std::size_t shared_of_block = 96 * 1024;  // what every GPU from compute capability 8.0 on grants

template <class Activation, class State>
struct Steps {
    int tokens;
    const int* row_of;
    TreeView tree;
    const State* initial;
    const int* state_of;
    Matrix<Activation> y;
    StateWrite write;
    State* written;
    const int* written_to;

    explicit Steps(const ScanSteps& steps)
        : tokens(steps.tokens),
          row_of(steps.row_of),
          tree(steps.tree),
          initial(static_cast<const State*>(steps.initial.data)),
          state_of(steps.state_of),
          y(typed<Activation>(steps.y)),
          write(steps.write),
          written(static_cast<State*>(steps.written.data)),
          written_to(steps.written_to) {}
};

__device__ inline float softplus(float value) { return value > 20.0F ? value : log1pf(expf(value)); }

/// Walks one warp over the tokens of a sequence. Each lane holds the elements first + 32 i of the state, i < Elements, below
/// `count`; `kept` has room for them after every token of a tree. step(h, row, place) advances h.
template <int Elements, class Activation, class State, class Step>
__device__ void walk(const Steps<Activation, State>& p, int sequence, std::int64_t elements_of_state, std::int64_t first,
                     int count, float* kept, Step step) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const std::int64_t from = p.state_of != nullptr ? p.state_of[sequence] : sequence;
    if (from < 0) {
        return;
    }
    float initial[Elements], h[Elements];
#pragma unroll
    for (int i = 0; i < Elements; ++i) {
        const int at = lane + i * warp;
        initial[i] = at < count ? get(p.initial, from * elements_of_state + first + at) : 0.0F;
        h[i] = initial[i];
    }
    const auto save = [&](std::int64_t state) {
#pragma unroll
        for (int i = 0; i < Elements; ++i) {
            const int at = lane + i * warp;
            if (at < count) {
                put(p.written, state * elements_of_state + first + at, h[i]);
            }
        }
    };
    for (int token = 0; token < p.tokens; ++token) {
        const std::int64_t place = static_cast<std::int64_t>(sequence) * p.tokens + token;
        const std::int64_t row = p.row_of != nullptr ? p.row_of[place] : place;
        if (row < 0) {
            break;
        }
        if (p.tree.parent != nullptr) {
            const int parent = p.tree.parent[token];
#pragma unroll
            for (int i = 0; i < Elements; ++i) {  // each lane reads what it wrote
                h[i] = parent < 0 ? initial[i] : kept[(parent * Elements + i) * warp + lane];
            }
        }
        step(h, row, place);
        if (p.tree.parent != nullptr) {
#pragma unroll
            for (int i = 0; i < Elements; ++i) {
                kept[(token * Elements + i) * warp + lane] = h[i];
            }
        }
        if (p.write == StateWrite::every) {
            save(place);
        }
    }
    if (p.write == StateWrite::final) {
        save(p.written_to != nullptr ? p.written_to[sequence] : sequence);
    }
}

template <class Activation, class State>
struct ChannelParameters {
    Steps<Activation, State> steps;
    int channels, size;
    Matrix<const Activation> x, dt, b, c, gate;
    const float *a, *dt_bias, *d;
};

/// blockIdx = (channels, sequence): 32 / size channels a warp, a lane for each number of their states.
template <class Activation, class State>
__global__ void __launch_bounds__(most_warps* warp) channel_scan_kernel(ChannelParameters<Activation, State> p) {
    float* kept = dynamic_shared<float>();
    const int own_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
    const int channels_of_warp = warp / p.size;
    const int first = (static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / warp) + own_warp) * channels_of_warp;
    if (first >= p.channels) {
        return;
    }
    const int n = lane % p.size, own = first + lane / p.size;
    const int channel = min(own, p.channels - 1);
    const float a = p.a[static_cast<std::int64_t>(channel) * p.size + n];
    const float bias = p.dt_bias != nullptr ? p.dt_bias[channel] : 0.0F;
    walk<1>(p.steps, static_cast<int>(blockIdx.y), static_cast<std::int64_t>(p.channels) * p.size,
            static_cast<std::int64_t>(first) * p.size, min(warp, (p.channels - first) * p.size),
            kept + own_warp * p.steps.tokens * warp, [&](float(&h)[1], std::int64_t row, std::int64_t place) {
                const float dt = softplus(get(p.dt.row(row), channel) + bias), x = get(p.x.row(row), channel);
                h[0] = expf(a * dt) * h[0] + dt * x * get(p.b.row(row), n);
                if (p.steps.y) {
                    const float sum = sum_over_lanes(h[0] * get(p.c.row(row), n), p.size);
                    if (n == 0 && own < p.channels) {
                        const float value = sum + (p.d != nullptr ? p.d[channel] * x : 0.0F);
                        put(p.steps.y.row(place), channel, p.gate ? value * silu(get(p.gate.row(row), channel)) : value);
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

/// blockIdx = (rows of a value head's state, value head, sequence): a warp for each row.
template <int Elements, class Activation, class State>
__global__ void __launch_bounds__(most_warps* warp) delta_scan_kernel(DeltaParameters<Activation, State> p) {
    float* kept = dynamic_shared<float>();
    const int own_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
    const int head = static_cast<int>(blockIdx.y);
    const int value = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / warp) + own_warp;
    if (value >= p.value_dim) {
        return;
    }
    const int key_column = head / (p.value_heads / p.key_heads) * p.key_dim;
    const std::int64_t column = static_cast<std::int64_t>(head) * p.value_dim + value;
    const float bias = p.decay_bias != nullptr ? p.decay_bias[head] : 0.0F;
    walk<Elements>(p.steps, static_cast<int>(blockIdx.z), static_cast<std::int64_t>(p.value_heads) * p.value_dim * p.key_dim,
                   column * p.key_dim, p.key_dim, kept + static_cast<std::int64_t>(own_warp) * p.steps.tokens * Elements * warp,
                   [&](float(&h)[Elements], std::int64_t row, std::int64_t place) {
                       const float decay = expf(p.a[head] * softplus(get(p.decay.row(row), head) + bias));
                       float k[Elements], seen = 0.0F;
#pragma unroll
                       for (int i = 0; i < Elements; ++i) {
                           const int at = lane + i * warp;
                           k[i] = at < p.key_dim ? get(p.k.row(row), key_column + at) : 0.0F;
                           h[i] *= decay;
                           seen += h[i] * k[i];
                       }
                       const float change =
                           sigmoid(get(p.beta.row(row), head)) * (get(p.v.row(row), column) - sum_over_lanes(seen, warp));
                       float sum = 0.0F;
#pragma unroll
                       for (int i = 0; i < Elements; ++i) {
                           const int at = lane + i * warp;
                           h[i] += change * k[i];
                           sum += p.steps.y && at < p.key_dim ? h[i] * get(p.q.row(row), key_column + at) : 0.0F;
                       }
                       if (p.steps.y) {
                           sum = sum_over_lanes(sum, warp);
                           if (lane == 0) {
                               put(p.steps.y.row(place), column, sum);
                           }
                       }
                   });
}

/// Warps of a block whose parts of the tree's states fit its shared memory.
int warps_for(const ScanSteps& steps, std::size_t bytes_of_token) {
    const std::size_t of_warp = steps.tree ? static_cast<std::size_t>(steps.tokens) * bytes_of_token : 0;
    for (int warps = most_warps; warps > 0; warps /= 2) {
        if (static_cast<std::size_t>(warps) * of_warp <= shared_of_block) {
            return warps;
        }
    }
    throw std::invalid_argument("scan by steps: the tree's states do not fit the shared memory of a GPU");
}

/// Calls use(activation, state) with values of the two types.
template <class Use>
void with_types(ElementType activation, ElementType state, Use use) {
    with_type(activation, [&](auto a) { with_type(state, [&](auto s) { use(a, s); }); });
}

}  // namespace

void channel_scan(const ChannelScan& scan, Queue queue) {
    check(scan);
    constexpr std::size_t bytes_of_token = warp * sizeof(float);
    const int warps = warps_for(scan.steps, bytes_of_token);
    const std::size_t shared = scan.steps.tree ? std::size_t(warps) * std::size_t(scan.steps.tokens) * bytes_of_token : 0;
    const LaunchShape shape{dim3(blocks_for(scan.channels, std::int64_t{warps} * (warp / scan.state_size)),
                                 static_cast<unsigned>(scan.steps.sequences)),
                            static_cast<unsigned>(warps * warp), shared};
    with_types(scan.x.type, scan.steps.initial.type, [&](auto activation, auto state) {
        using Activation = decltype(activation);
        using State = decltype(state);
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
        launch("channel scan", channel_scan_kernel<Activation, State>, shape, queue, parameters);
    });
}

namespace {

template <int Elements>
void launch_delta(const DeltaScan& scan, Queue queue) {
    constexpr std::size_t bytes_of_token = Elements * warp * sizeof(float);
    const int warps = warps_for(scan.steps, bytes_of_token);
    const std::size_t shared = scan.steps.tree ? std::size_t(warps) * std::size_t(scan.steps.tokens) * bytes_of_token : 0;
    const LaunchShape shape{dim3(blocks_for(scan.value_dim, warps), static_cast<unsigned>(scan.value_heads),
                                 static_cast<unsigned>(scan.steps.sequences)),
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
        launch("delta scan", delta_scan_kernel<Elements, Activation, State>, shape, queue, parameters);
    });
}

}  // namespace

void delta_scan(const DeltaScan& scan, Queue queue) {
    check(scan);
    if (scan.key_dim <= 128) {
        launch_delta<4>(scan, queue);
    } else {
        launch_delta<8>(scan, queue);
    }
}

}  // namespace treeline::kernels::cuda
