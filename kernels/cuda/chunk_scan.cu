// The scan of prompts in chunks (kernels/state_scan.h), in three kernels: what each chunk adds to a state, on tensor cores; the
// states that chunks start from, one after another; the packed scan of each chunk (tree_scan.cu).
//
// A block of the first has 64 channels and 64 state columns of a chunk's head. It goes through the tokens 64 at a time, the
// next on their way meanwhile: the sum over tokens of x (x) B e^{L_end - L} dt. Weights multiply B, which is then the sum of
// two bf16, or of three where activations are fp32.
//
// Estimate for an H100 SXM, which no device has confirmed: Mamba-2 2.7B, chunks of 256, bf16; of a chunk and head (64 x 128) 64
// KB of x, B and C come in, 32 KB of y go out, and the fp32 state passes through memory three times: 96 KB and 5.2 MFLOP at the
// least. Memory takes about 9 us of an SM, tensor cores 2: bound by memory.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/scan_tokens.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int tile = 64;  // tokens, channels and state columns
constexpr int most_chunk = 256;
constexpr int columns_of_warp = 16;

template <class Activation>
struct Parameters {
    ScanShape shape;
    DeviceTokens<Activation> tokens;
    int tokens_of_chunk;
    int channel_tiles, column_tiles;
    bool aligned;   ///< rows of x and B to 16 bytes
    float* states;  ///< [sequence, chunk][head][channel][column]: what the chunk adds
    float* decays;  ///< [sequence, chunk][head]: by which it multiplies the state before it
};

template <class Activation>
struct Tiles {
    static constexpr int pieces = tile * ColumnTile<Activation>::pieces_of_row;
    ColumnTile<Activation> x, b;

    /// Two of each, in turns.
    __device__ Tiles(uint4* at, int turn) : x{at + 2 * turn * pieces}, b{at + (2 * turn + 1) * pieces} {}
    static constexpr std::size_t bytes = 4 * pieces * sizeof(uint4);
};

/// What a block works on.
template <class Activation>
struct Work {
    const Parameters<Activation>& p;
    std::int64_t chunk;  ///< of all sequences
    int head, first_channel, first_column;

    __device__ std::int64_t row(int token) const { return chunk * p.tokens_of_chunk + token; }

    __device__ void fetch(const Tiles<Activation>& tiles, int first_token) const {
        constexpr int per_row = ColumnTile<Activation>::pieces_of_row, in_piece = elements_of_piece<Activation>;
        const ScanShape& shape = p.shape;
        const int group_column = head / (shape.heads / shape.groups) * shape.state_size;
        for (int i = static_cast<int>(threadIdx.x); i < tile * per_row; i += threads) {
            const int token = i / per_row, number = i % per_row;
            const int channel = first_channel + number * in_piece, column = first_column + number * in_piece;
            const Activation* const x =
                channel < shape.head_dim
                    ? p.tokens.x.row(row(first_token + token)) + static_cast<std::int64_t>(head) * shape.head_dim + channel
                    : nullptr;
            const Activation* const b =
                column < shape.state_size ? p.tokens.b.row(row(first_token + token)) + group_column + column : nullptr;
            fetch_piece(tiles.x.piece(token, number), x, p.aligned);
            fetch_piece(tiles.b.piece(token, number), b, p.aligned);
        }
    }

    /// weights[t] = e^{L_end - L_t} dt_t; returns the sum of all dt. All threads must call it.
    __device__ float weigh(float* weights, float* sums) const {
        constexpr int most = most_chunk / threads;
        const int count = p.tokens_of_chunk;
        float dt[most], sum[most];
#pragma unroll
        for (int i = 0; i < most; ++i) {
            const int t = static_cast<int>(threadIdx.x) + i * threads;
            dt[i] = t < count ? p.tokens.step(row(t), head) : 0.0F;
            sums[t] = dt[i];
        }
        __syncthreads();
        // Sums from each token to the end.
        for (int reach = 1; reach < count; reach *= 2) {
#pragma unroll
            for (int i = 0; i < most; ++i) {
                const int t = static_cast<int>(threadIdx.x) + i * threads;
                sum[i] = sums[t] + (t + reach < count ? sums[t + reach] : 0.0F);
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < most; ++i) {
                sums[static_cast<int>(threadIdx.x) + i * threads] = sum[i];
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < most; ++i) {
            const int t = static_cast<int>(threadIdx.x) + i * threads;
            weights[t] = expf(p.tokens.a[head] * (t + 1 < count ? sums[t + 1] : 0.0F)) * dt[i];
        }
        return sums[0];
    }
};

/// Which 8 channels of a tile the thread's rows are: those of a group are neighbours in memory, and no two groups whose pieces
/// are read together share a bank.
__device__ inline int piece_of(int group) { return group / 2 + group % 2 * 4; }

/// sum[m][j] += the tile's product. Rows of product m are channels 8 piece_of(group) + 2 m, and + 1 in its lower half; column c
/// of product j is the warp's column 2 c + j.
template <class Activation, int Parts>
__device__ void multiply(const Tiles<Activation>& tiles, const float* weights, float (&sum)[4][2][4]) {
    constexpr int in_piece = elements_of_piece<Activation>, pieces = 8 / in_piece;
    const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, quad = lane % 4;
    const int column = static_cast<int>(threadIdx.x) / 32 * columns_of_warp + 2 * group;
    const auto weighed = [&](int token, int j) {
        const auto* row = reinterpret_cast<const Activation*>(tiles.b.piece(token, column / in_piece));
        return weights[token] * get(row, column % in_piece + j);
    };
#pragma unroll 1
    for (int first = 0; first < tile; first += 16) {
        const int low_token = first + 2 * quad, high_token = low_token + 8;
        Pair<Parts> low_b[2], high_b[2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            low_b[j] = split<Parts>(weighed(low_token, j), weighed(low_token + 1, j));
            high_b[j] = split<Parts>(weighed(high_token, j), weighed(high_token + 1, j));
        }
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
            Pair<parts_of<Activation, Parts>> low[in_piece], high[in_piece];
            tiles.x.pairs(low_token, piece_of(group) * pieces + i, low);
            tiles.x.pairs(high_token, piece_of(group) * pieces + i, high);
#pragma unroll
            for (int n = 0; n < in_piece; n += 2) {
                const Pair<parts_of<Activation, Parts>> a[4] = {low[n], low[n + 1], high[n], high[n + 1]};
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    multiply_add(sum[(i * in_piece + n) / 2][j], a, low_b[j], high_b[j]);
                }
            }
        }
    }
}

/// blockIdx.x = (chunk of a sequence, head, channels, columns), the last the fastest.
template <class Activation>
__global__ void __launch_bounds__(threads) chunk_states_kernel(Parameters<Activation> p) {
    __shared__ float weights[most_chunk], sums[most_chunk];
    uint4* const memory = dynamic_shared<uint4>();
    int number = static_cast<int>(blockIdx.x);
    const int column_tile = number % p.column_tiles;
    number /= p.column_tiles;
    const int channel_tile = number % p.channel_tiles;
    number /= p.channel_tiles;
    const Work<Activation> work{p, number / p.shape.heads, number % p.shape.heads, channel_tile * tile, column_tile * tile};
    work.fetch(Tiles<Activation>(memory, 0), 0);
    const float total = work.weigh(weights, sums);
    const std::int64_t place = work.chunk * p.shape.heads + work.head;
    if (threadIdx.x == 0 && column_tile == 0 && channel_tile == 0) {
        p.decays[place] = expf(p.tokens.a[work.head] * total);
    }
    float sum[4][2][4] = {};
    constexpr int parts = sizeof(Activation) == 4 ? 3 : 2;
    for (int at = 0; at < p.tokens_of_chunk / tile; ++at) {
        wait_for_copies();
        __syncthreads();  // all copies are there, and all are done with the tile before
        if ((at + 1) * tile < p.tokens_of_chunk) {
            work.fetch(Tiles<Activation>(memory, (at + 1) % 2), (at + 1) * tile);
        }
        multiply<Activation, parts>(Tiles<Activation>(memory, at % 2), weights + at * tile, sum);
    }
    const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, quad = lane % 4;
    const int column = work.first_column + static_cast<int>(threadIdx.x) / 32 * columns_of_warp + 4 * quad;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int channel = work.first_channel + 8 * piece_of(group) + i, half = i % 2;
        if (channel < p.shape.head_dim && column < p.shape.state_size) {
            put4(p.states, (place * p.shape.head_dim + channel) * p.shape.state_size + column,
                 make_float4(sum[i / 2][0][2 * half], sum[i / 2][1][2 * half], sum[i / 2][0][2 * half + 1],
                             sum[i / 2][1][2 * half + 1]));
        }
    }
}

constexpr int numbers_of_thread = 4;

/// blockIdx.x = (sequence, head, part of the state), the last the fastest. In the place of what a chunk adds, the state that it
/// starts from.
template <class State>
__global__ void __launch_bounds__(threads)
    pass_states_kernel(int heads, int chunks, int parts, std::int64_t numbers, const State* initial, State* written,
                       float* states, const float* decays) {
    const std::int64_t number = (static_cast<std::int64_t>(blockIdx.x) % parts * threads + threadIdx.x) * numbers_of_thread;
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) / parts, sequence = place / heads, head = place % heads;
    if (number >= numbers) {
        return;
    }
    const auto chunk_at = [&](int chunk) { return (sequence * chunks + chunk) * heads + head; };
    float4 state = get4(initial, place * numbers + number);
    float4 next = get4(states, chunk_at(0) * numbers + number);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const float4 added = next;
        if (chunk + 1 < chunks) {
            next = get4(states, chunk_at(chunk + 1) * numbers + number);
        }
        put4(states, chunk_at(chunk) * numbers + number, state);
        const float decay = decays[chunk_at(chunk)];
        state = make_float4(decay * state.x + added.x, decay * state.y + added.y, decay * state.z + added.z,
                            decay * state.w + added.w);
    }
    put4(written, place * numbers + number, state);
}

template <class Activation>
void find_additions(const ChunkScan& scan, float* decays, Queue queue) {
    const ScanShape& shape = scan.shape;
    const unsigned channel_tiles = blocks_for(shape.head_dim, tile), column_tiles = blocks_for(shape.state_size, tile);
    const unsigned chunks = static_cast<unsigned>(shape.sequences) * static_cast<unsigned>(shape.tokens / scan.chunk.tokens);
    const Parameters<Activation> parameters{shape,
                                            DeviceTokens<Activation>(scan.tokens),
                                            scan.chunk.tokens,
                                            static_cast<int>(channel_tiles),
                                            static_cast<int>(column_tiles),
                                            is_aligned(scan.tokens.x) && is_aligned(scan.tokens.b),
                                            scan.scratch,
                                            decays};
    launch(
        "states of chunks", chunk_states_kernel<Activation>,
        {dim3(chunks * static_cast<unsigned>(shape.heads) * channel_tiles * column_tiles), threads, Tiles<Activation>::bytes},
        queue, parameters);
}

template <class State>
void pass_states(const ChunkScan& scan, const float* decays, Queue queue) {
    const ScanShape& shape = scan.shape;
    const std::int64_t numbers = std::int64_t{shape.head_dim} * shape.state_size;
    const unsigned parts = blocks_for(numbers, std::int64_t{threads} * numbers_of_thread);
    launch("passing states", pass_states_kernel<State>,
           {dim3(static_cast<unsigned>(shape.sequences) * static_cast<unsigned>(shape.heads) * parts), threads}, queue,
           shape.heads, shape.tokens / scan.chunk.tokens, static_cast<int>(parts), numbers,
           static_cast<const State*>(scan.initial.data), static_cast<State*>(scan.written.data), scan.scratch, decays);
}

}  // namespace

void chunk_scan(const ChunkScan& scan, Queue queue) {
    check(scan);
    const int chunks = scan.shape.sequences * (scan.shape.tokens / scan.chunk.tokens);
    float* const decays = scan.scratch + std::int64_t{chunks} * scan.shape.heads * scan.shape.head_dim * scan.shape.state_size;
    with_type(scan.tokens.x.type, [&](auto activation) { find_additions<decltype(activation)>(scan, decays, queue); });
    with_type(scan.initial.type, [&](auto state) { pass_states<decltype(state)>(scan, decays, queue); });
    TreeScan packed;
    packed.shape = scan.shape;
    packed.shape.sequences = chunks;
    packed.shape.tokens = scan.chunk.tokens;
    packed.tokens = scan.tokens;
    packed.tree = scan.chunk;
    packed.initial = {scan.scratch, ElementType::fp32};
    packed.y = scan.y;
    tree_scan(packed, queue);
}

}  // namespace treeline::kernels::cuda
