// The fused scan: state update, verification, replay and unrolled trees (kernels/state_scan.h).
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/scan_tokens.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int rows_of_thread = 4;  // independent loads of 16 bytes in flight
constexpr int chunks = 2;          // of 4 columns that a thread holds of a row; the second is for state sizes over 128
constexpr int most_tokens = 4096;  // of a sequence: their dt and rows are kept in shared memory

template <class Activation, class State>
struct Parameters {
    ScanShape shape;
    DeviceTokens<Activation> tokens;
    const int* row_of;
    const State* initial;
    const int* state_of;
    Matrix<Activation> y;
    StateWrite write;
    State* written;
    const int* written_to;
    int lanes;  ///< threads that share a row of the state: state_size / 4 rounded up to a power of 2, at most a warp
    int parts;  ///< blocks that share a head
};

/// One token of one row of a state that `lanes` threads hold.
struct Step {
    int row;
    float decay;
    float dt;
};

__device__ inline float advance(float4& h, float decay, float input, float4 b, float4 c) {
    h.x = decay * h.x + input * b.x;
    h.y = decay * h.y + input * b.y;
    h.z = decay * h.z + input * b.z;
    h.w = decay * h.w + input * b.w;
    return h.x * c.x + h.y * c.y + h.z * c.z + h.w * c.w;
}

/// Four elements of a token's B or C row, which need not be aligned.
template <class Activation>
__device__ float4 four(const Activation* row, int at) {
    return make_float4(get(row, at), get(row, at + 1), get(row, at + 2), get(row, at + 3));
}

/// A block's rows of one head of one sequence: blockIdx = (sequence, head, part of the head's rows), the last the fastest.
template <class Activation, class State>
__global__ void __launch_bounds__(threads) scan_kernel(Parameters<Activation, State> p) {
    Step* steps = dynamic_shared<Step>();
    const ScanShape& shape = p.shape;
    const int part = static_cast<int>(blockIdx.x) % p.parts, head = static_cast<int>(blockIdx.x) / p.parts % shape.heads;
    const int sequence = static_cast<int>(blockIdx.x) / p.parts / shape.heads;
    const int lane = static_cast<int>(threadIdx.x) % p.lanes;
    const int rows_at_once = threads / p.lanes;
    const int first_row = part * rows_at_once * rows_of_thread + static_cast<int>(threadIdx.x) / p.lanes;
    const std::int64_t initial = p.state_of != nullptr ? p.state_of[sequence] : sequence;
    if (initial < 0) {
        return;
    }
    const auto element = [&](std::int64_t state, int r, int chunk) {
        return ((state * shape.heads + head) * shape.head_dim + first_row + r * rows_at_once) * shape.state_size +
               4 * (lane + chunk * p.lanes);
    };
    const auto holds = [&](int r, int chunk) {
        return first_row + r * rows_at_once < shape.head_dim && 4 * (lane + chunk * p.lanes) < shape.state_size;
    };

    float4 h[rows_of_thread][chunks];
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
            h[r][chunk] = holds(r, chunk) ? get4(p.initial, element(initial, r, chunk)) : make_float4(0, 0, 0, 0);
        }
    }
    // While the state is on its way:
    for (int t = static_cast<int>(threadIdx.x); t < shape.tokens; t += threads) {
        const int place = sequence * shape.tokens + t;
        const int row = p.row_of != nullptr ? p.row_of[place] : place;
        const float dt = row < 0 ? 0.0F : p.tokens.step(row, head);
        steps[t] = {row, expf(p.tokens.a[head] * dt), dt};
    }
    __syncthreads();

    const int group_column = head / (shape.heads / shape.groups) * shape.state_size;
    const auto save = [&](std::int64_t state) {
#pragma unroll
        for (int r = 0; r < rows_of_thread; ++r) {
#pragma unroll
            for (int chunk = 0; chunk < chunks; ++chunk) {
                if (holds(r, chunk)) {
                    put4(p.written, element(state, r, chunk), h[r][chunk]);
                }
            }
        }
    };
    for (int t = 0; t < shape.tokens; ++t) {
        const Step step = steps[t];
        if (step.row < 0) {
            break;
        }
        float y[rows_of_thread] = {};
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const int column = 4 * (lane + chunk * p.lanes);
            if (column < shape.state_size) {
                const float4 b = four(p.tokens.b.row(step.row), group_column + column);
                const float4 c = p.y ? four(p.tokens.c.row(step.row), group_column + column) : make_float4(0, 0, 0, 0);
#pragma unroll
                for (int r = 0; r < rows_of_thread; ++r) {
                    const int row = first_row + r * rows_at_once;
                    const float x = row < shape.head_dim ? get(p.tokens.x.row(step.row), head * shape.head_dim + row) : 0.0F;
                    y[r] += advance(h[r][chunk], step.decay, step.dt * x, b, c);
                }
            }
        }
        if (p.y) {
#pragma unroll
            for (int r = 0; r < rows_of_thread; ++r) {
                const float sum = sum_over_lanes(y[r], p.lanes);
                const int row = first_row + r * rows_at_once;
                if (lane == 0 && row < shape.head_dim) {
                    const std::int64_t column = head * shape.head_dim + row;
                    put(p.y.row(static_cast<std::int64_t>(sequence) * shape.tokens + t), column,
                        p.tokens.finish(sum, step.row, head, column));
                }
            }
        }
        if (p.write == StateWrite::every) {
            save(static_cast<std::int64_t>(sequence) * shape.tokens + t);
        }
    }
    if (p.write == StateWrite::final) {
        save(p.written_to != nullptr ? p.written_to[sequence] : sequence);
    }
}

int lanes_for(int state_size) {
    int lanes = 1;
    while (lanes < 32 && 4 * lanes < state_size) {
        lanes *= 2;
    }
    return lanes;
}

}  // namespace

void scan(const Scan& scan, Queue queue) {
    check(scan);
    if (scan.shape.tokens > most_tokens) {
        throw std::invalid_argument("scan: CUDA takes at most 4096 tokens of a sequence at once");
    }
    const int lanes = lanes_for(scan.shape.state_size);
    const unsigned parts = blocks_for(scan.shape.head_dim, std::int64_t{threads / lanes} * rows_of_thread);
    const LaunchShape shape{dim3(parts * static_cast<unsigned>(scan.shape.heads) * static_cast<unsigned>(scan.shape.sequences)),
                            threads, static_cast<std::size_t>(scan.shape.tokens) * sizeof(Step)};
    with_type(scan.tokens.x.type, [&](auto activation) {
        with_type(scan.initial.type, [&](auto state) {
            using Activation = decltype(activation);
            using State = decltype(state);
            const Parameters<Activation, State> parameters{scan.shape,
                                                           DeviceTokens<Activation>(scan.tokens),
                                                           scan.row_of,
                                                           static_cast<const State*>(scan.initial.data),
                                                           scan.state_of,
                                                           typed<Activation>(scan.y),
                                                           scan.write,
                                                           static_cast<State*>(scan.written.data),
                                                           scan.written_to,
                                                           lanes,
                                                           static_cast<int>(parts)};
            launch("scan", scan_kernel<Activation, State>, shape, queue, parameters);
        });
    });
}

}  // namespace treeline::kernels::cuda
