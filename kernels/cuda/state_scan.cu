// The fused scan: state update, verification, replay and unrolled trees (kernels/state_scan.h).
//
// A thread holds 32 numbers of the state from 4 or 8 rows, read and written 16 bytes at a time: 128 bytes in flight in fp32,
// 64 in bf16. Threads that share rows sum their outputs together, each step halving the rows that a thread is about.
//
// Estimate for an H100 SXM, which no device has confirmed: four blocks on an SM in fp32 have 64 KB on their way, six in bf16
// 48 KB. A token takes about 200 instructions of a scheduler and block (half are the three operations a number); in that
// time 2.5 KB pass at 22 bytes a ns and SM, of the block's 16 KB (fp32) or 8 KB (bf16) each way. So one token and every state
// written are bound by memory; with the last state written up to about 13 tokens in fp32 and 6 in bf16 are, with none half as
// many.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/scan_tokens.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int most_tokens = 4096;  // of a sequence: their dt and rows are kept in shared memory
constexpr int held_numbers = 32;   // of the state in a thread, 128 bytes of fp32 or 64 of bf16 in flight

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
    int lanes;     ///< threads that share a row of the state: a power of 2, at most a warp
    int parts;     ///< blocks that share a head
    bool aligned;  ///< rows of B and C to 16 bytes
};

template <class State>
constexpr int columns_of_thread = 16 / static_cast<int>(sizeof(State));

/// One token of one row of a state that `lanes` threads hold.
struct Step {
    int row;
    float decay;
    float dt;
};

/// Elements of a token's B or C row.
template <class Activation, int Columns>
__device__ void get_operand(const Activation* row, int at, bool aligned, float (&values)[Columns]) {
    if (aligned) {
        get_neighbours(row, at, values);
        return;
    }
#pragma unroll
    for (int i = 0; i < Columns; ++i) {
        values[i] = get(row, at + i);
    }
}

/// Sums of Rows values over aligned groups of `lanes` threads. With every step a thread gives half of the rows away, so that
/// in the end each has Rows / lanes sums, or one that others have as well: those of the rows from first_sum on.
template <int Rows>
__device__ void sum_rows(float (&values)[Rows], int lane, int lanes) {
#pragma unroll
    for (int s = 0; s < 5; ++s) {
        const int distance = lanes >> (s + 1), given_away = Rows >> (s + 1);
        const bool upper = (lane & distance) != 0;
        if (distance > 0 && given_away == 0) {
            values[0] += __shfl_xor_sync(0xffffffffU, values[0], distance);
        } else if (distance > 0) {
#pragma unroll
            for (int i = 0; i < given_away; ++i) {
                const float given = upper ? values[i] : values[i + given_away];
                values[i] = (upper ? values[i + given_away] : values[i]) + __shfl_xor_sync(0xffffffffU, given, distance);
            }
        }
    }
}
template <int Rows>
__device__ int first_sum(int lane, int lanes) {
    int first = 0;
    for (int distance = lanes / 2, count = Rows / 2; distance > 0 && count > 0; distance /= 2, count /= 2) {
        first += (lane & distance) != 0 ? count : 0;
    }
    return first;
}

/// A block's rows of one head of one sequence: blockIdx = (sequence, head, part of the head's rows), the last the fastest. A
/// thread has 16 bytes of a row, and as much again `Chunks` - 1 times.
template <class Activation, class State, int Chunks>
__global__ void __launch_bounds__(threads, sizeof(State) == 2 ? 6 : 4) scan_kernel(Parameters<Activation, State> p) {
    constexpr int columns = columns_of_thread<State>, rows = held_numbers / columns / Chunks;
    Step* steps = dynamic_shared<Step>();
    const ScanShape& shape = p.shape;
    const int part = static_cast<int>(blockIdx.x) % p.parts, head = static_cast<int>(blockIdx.x) / p.parts % shape.heads;
    const int sequence = static_cast<int>(blockIdx.x) / p.parts / shape.heads;
    const int lane = static_cast<int>(threadIdx.x) % p.lanes;
    const int rows_at_once = threads / p.lanes;
    const int first_row = part * rows_at_once * rows + static_cast<int>(threadIdx.x) / p.lanes;
    const std::int64_t initial = p.state_of != nullptr ? p.state_of[sequence] : sequence;
    if (initial < 0) {
        return;
    }
    const auto row_at = [&](int r) { return first_row + r * rows_at_once; };
    const auto column_at = [&](int chunk) { return columns * (lane + chunk * p.lanes); };
    const auto element = [&](std::int64_t state, int r, int chunk) {
        return ((state * shape.heads + head) * shape.head_dim + row_at(r)) * shape.state_size + column_at(chunk);
    };
    const auto holds = [&](int r, int chunk) { return row_at(r) < shape.head_dim && column_at(chunk) < shape.state_size; };

    float h[rows][Chunks][columns] = {};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int chunk = 0; chunk < Chunks; ++chunk) {
            if (holds(r, chunk)) {
                get_neighbours(p.initial, element(initial, r, chunk), h[r][chunk]);
            }
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
        for (int r = 0; r < rows; ++r) {
#pragma unroll
            for (int chunk = 0; chunk < Chunks; ++chunk) {
                if (holds(r, chunk)) {
                    put_neighbours(p.written, element(state, r, chunk), h[r][chunk]);
                }
            }
        }
    };
    // The rows whose sums the thread gets; of those who get the same, one writes it.
    const int own_sums = max(rows / p.lanes, 1), own_row = row_at(first_sum<rows>(lane, p.lanes));
    const bool writes = lane % max(p.lanes / rows, 1) == 0;
    for (int t = 0; t < shape.tokens; ++t) {
        const Step step = steps[t];
        if (step.row < 0) {
            break;
        }
        const auto column_of_row = [&](int row) { return static_cast<std::int64_t>(head) * shape.head_dim + row; };
        float x[rows], y[rows] = {};
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            x[r] = row_at(r) < shape.head_dim ? step.dt * get(p.tokens.x.row(step.row), column_of_row(row_at(r))) : 0.0F;
        }
#pragma unroll
        for (int chunk = 0; chunk < Chunks; ++chunk) {
            if (column_at(chunk) < shape.state_size) {
                float b[columns], c[columns] = {};
                get_operand(p.tokens.b.row(step.row), group_column + column_at(chunk), p.aligned, b);
                if (p.y) {
                    get_operand(p.tokens.c.row(step.row), group_column + column_at(chunk), p.aligned, c);
                }
#pragma unroll
                for (int r = 0; r < rows; ++r) {
#pragma unroll
                    for (int i = 0; i < columns; ++i) {
                        h[r][chunk][i] = step.decay * h[r][chunk][i] + x[r] * b[i];
                        y[r] += h[r][chunk][i] * c[i];
                    }
                }
            }
        }
        if (p.y) {
            sum_rows(y, lane, p.lanes);
#pragma unroll
            for (int i = 0; i < rows / 2; ++i) {
                const int row = own_row + i * rows_at_once;
                if (writes && i < own_sums && row < shape.head_dim) {
                    put(p.y.row(static_cast<std::int64_t>(sequence) * shape.tokens + t), column_of_row(row),
                        p.tokens.finish(y[i], step.row, head, column_of_row(row)));
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

int lanes_for(int state_size, int columns) {
    int lanes = 1;
    while (lanes < 32 && columns * lanes < state_size) {
        lanes *= 2;
    }
    return lanes;
}

template <class Activation, class State, int Chunks>
void launch_scan(const Scan& scan, Queue queue) {
    constexpr int columns = columns_of_thread<State>, rows = held_numbers / columns / Chunks;
    const int lanes = lanes_for(scan.shape.state_size, columns);
    const unsigned parts = blocks_for(scan.shape.head_dim, std::int64_t{threads / lanes} * rows);
    const LaunchShape shape{dim3(parts * static_cast<unsigned>(scan.shape.heads) * static_cast<unsigned>(scan.shape.sequences)),
                            threads, static_cast<std::size_t>(scan.shape.tokens) * sizeof(Step)};
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
                                                   static_cast<int>(parts),
                                                   is_aligned(scan.tokens.b) && is_aligned(scan.tokens.c)};
    launch("scan", scan_kernel<Activation, State, Chunks>, shape, queue, parameters);
}

}  // namespace

void scan(const Scan& scan, Queue queue) {
    check(scan);
    if (scan.shape.tokens > most_tokens) {
        throw std::invalid_argument("scan: CUDA takes at most 4096 tokens of a sequence at once");
    }
    with_type(scan.tokens.x.type, [&](auto activation) {
        with_type(scan.initial.type, [&](auto state) {
            using Activation = decltype(activation);
            using State = decltype(state);
            if constexpr (sizeof(State) == 4) {
                if (scan.shape.state_size > 128) {
                    launch_scan<Activation, State, 2>(scan, queue);
                    return;
                }
            }
            launch_scan<Activation, State, 1>(scan, queue);
        });
    });
}

}  // namespace treeline::kernels::cuda
