// The packed scan of a tree in one pass (kernels/state_scan.h), on tensor cores: C h_0, and the masked and weighed C B^T times
// x.
//
// A block has 64 tokens of a sequence and goes through several heads of a group, 64 channels of each; a warp has 16 of the
// tokens. The products <C, B> serve all heads of the group and stay in registers, weights are made of them in registers, too,
// where the second product reads them, and only h_0 and x pass through shared memory: while the weights of a head are at work,
// the next head's h_0 and x are on their way.
//
// Operands are bf16. What is fp32 in memory, and the weights always, is the sum of two bf16 (product_tiles.cuh), so that
// products are good to about 2^-17 whatever the types. Three products of bf16 cost less than one in fp32 outside the tensor
// cores, and half of three in tf32.
//
// Estimate for an H100 SXM, which no device has confirmed: Mamba-2 2.7B (80 heads of 64 x 128, 1 group), 63 nodes, bf16
// activations, with a gate. A sequence and head moves 40.4 KB with states in bf16 (16 h_0; 8 each of x, gate and y) and 56.4 KB
// in fp32; a state update moves 32.8 and 65.6 KB. So the ratio to a state update is 1.24 (bf16) and 0.86 (fp32) where both run
// at one bandwidth; 1.5 allows the tree 83 % of the update's bandwidth in bf16, 57 % in fp32. With activations in fp32 it
// is 1.23 for states in fp32, but 2.2 for states in bf16, out of reach of any kernel. At 22 GB/s an SM (2.9 TB/s in all) that
// is 1.9 us in bf16 and 2.6 us in fp32. Arithmetic of a sequence and head in that time: 64 (fp32: 128) mma a warp for C h_0 and
// 40 for the second product in the mean, 1.7 (2.8) MFLOP, 0.4 (0.7) us at the rate of mma.sync on an A100 (1024 multiply-adds a
// cycle and SM); about 1000 (1500) instructions a scheduler, 0.6 (0.9) us; 110 (200) KB through shared memory, 0.5 (0.9) us at
// 128 bytes a cycle. Four (three) blocks share an SM, so these overlap; their copies keep 60 KB and more in flight. Plain FMAs
// would need 1.3 million of them, 6 us.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/scan_tokens.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int tile = 64;   // tokens or channels
constexpr int strip = 16;  // tokens of a warp
constexpr int most_tokens = 1024;
constexpr int most_heads = 5;       // of a block; more would take the shared memory of a fourth block
constexpr int wanted_blocks = 528;  // four for each SM of an H100

template <class Activation, class State>
struct Parameters {
    ScanShape shape;
    DeviceTokens<Activation> tokens;
    const int* row_of;
    TreeView tree;
    const State* initial;
    const int* state_of;
    Matrix<Activation> y;
    bool aligned;  ///< all rows to 16 bytes
    int heads_of_block;
    int parts_of_group;  ///< blocks that share the heads of a group
    int channel_blocks;
};

/// e^{L_i - L_j} needs the difference of two large sums: each is kept as the nearest float and what it leaves. In units of
/// ln 2.
struct alignas(8) DecaySum {
    float sum;
    float rest;
};

__device__ inline float decay_between(DecaySum from, DecaySum to) { return exp2f((to.sum - from.sum) + (to.rest - from.rest)); }

/// Tokens whose decays are kept, for `tokens` of them.
__host__ __device__ constexpr int padded(int tokens) { return (tokens + strip - 1) / strip * strip; }

/// The shared memory of a block.
template <class Activation, class State>
struct Tiles {
    static constexpr int depth = 256 / static_cast<int>(sizeof(Activation));  // of the products between two barriers
    static constexpr int operand_pieces = tile * 256 / 16;
    static constexpr int state_pieces = tile * depth / elements_of_piece<State>;
    static constexpr int input_pieces = tile * ColumnTile<Activation>::pieces_of_row;
    static constexpr int pieces = operand_pieces + state_pieces + 2 * input_pieces;
    static_assert(2 * input_pieces >= operand_pieces);

    RowTile<Activation, depth> c, b;  ///< b in the place of the inputs
    RowTile<State, depth> state;
    uint4* both_inputs;
    double* sums;  ///< [heads][padded]: what becomes `decays`, which lies there, too
    DecaySum* decays;
    float* dt;  ///< [heads][padded]
    int* jump;  ///< [padded]

    static std::size_t bytes(int heads, int tokens) {
        return pieces * sizeof(uint4) +
               std::size_t(padded(tokens)) * (std::size_t(heads) * (sizeof(double) + sizeof(float)) + sizeof(int));
    }
    __device__ Tiles(int heads, int tokens) {
        uint4* at = dynamic_shared<uint4>();
        c.data = at;
        state.data = at + operand_pieces;
        both_inputs = b.data = at + operand_pieces + state_pieces;
        sums = reinterpret_cast<double*>(at + pieces);
        decays = reinterpret_cast<DecaySum*>(sums);
        dt = reinterpret_cast<float*>(sums + heads * padded(tokens));
        jump = reinterpret_cast<int*>(dt + heads * padded(tokens));
    }
    /// x of the block's heads in turns.
    __device__ ColumnTile<Activation> inputs(int head) const { return {both_inputs + head % 2 * input_pieces}; }
};

/// Where channel is among the rows of the state's tile: column c of product n is channel c / 2 * 8 + c % 2 * 32 + n, so that a
/// thread's eight products are neighbours in memory.
__device__ inline int row_of_channel(int channel) { return channel % 8 * 8 + channel % 32 / 8 * 2 + channel / 32; }

template <class Activation, class State>
struct Block {
    static constexpr int depth = Tiles<Activation, State>::depth;
    static constexpr int most_parts = sizeof(Activation) == 4 ? 3 : 2;

    const Parameters<Activation, State>& p;
    Tiles<Activation, State> tiles;
    int sequence, first_head, heads, first_channel, channels, group_column;
    int first_token, tokens;  ///< of the block's tile
    int own_strip, group, quad;

    __device__ std::int64_t column(int head) const {
        return static_cast<std::int64_t>(first_head + head) * p.shape.head_dim + first_channel;
    }
    __device__ std::int64_t place(int token) const { return static_cast<std::int64_t>(sequence) * p.shape.tokens + token; }
    /// Where the tokens have a token of this sequence.
    __device__ std::int64_t row(int token) const { return p.row_of != nullptr ? p.row_of[place(token)] : place(token); }
    __device__ int end() const { return first_token + tokens; }
    __device__ int decay_place(int head, int token) const { return head * padded(end()) + token; }

    /// C or B of a tile's tokens, from column chunk * depth on.
    __device__ void fetch_operand(RowTile<Activation, depth> to, Matrix<const Activation> from, int first, int chunk) const {
        constexpr int per_row = RowTile<Activation, depth>::pieces_of_row, in_piece = elements_of_piece<Activation>;
        const int there = min(tile, end() - first);
        for (int i = static_cast<int>(threadIdx.x); i < padded(there) * per_row; i += threads) {
            const int token = i / per_row, at = chunk * depth + i % per_row * in_piece;
            const bool exists = token < there && at < p.shape.state_size;
            fetch_piece(to.piece(token, i % per_row), exists ? from.row(row(first + token)) + group_column + at : nullptr,
                        p.aligned);
        }
    }
    __device__ void fetch_state(int head, int chunk) const {
        constexpr int per_row = RowTile<State, depth>::pieces_of_row, in_piece = elements_of_piece<State>;
        const std::int64_t number = p.state_of != nullptr ? p.state_of[sequence] : sequence;
        const State* from = p.initial + (number * p.shape.heads * p.shape.head_dim + column(head)) * p.shape.state_size;
#pragma unroll 4
        for (int i = static_cast<int>(threadIdx.x); i < tile * per_row; i += threads) {
            const int channel = i / per_row, at = chunk * depth + i % per_row * in_piece;
            const bool exists = channel < channels && at < p.shape.state_size;
            fetch_piece(tiles.state.piece(row_of_channel(channel), i % per_row),
                        exists ? from + channel * p.shape.state_size + at : nullptr, p.aligned);
        }
    }
    __device__ void fetch_inputs(ColumnTile<Activation> to, int head, int first) const {
        constexpr int per_row = ColumnTile<Activation>::pieces_of_row, in_piece = elements_of_piece<Activation>;
        const int there = min(tile, end() - first);
        for (int i = static_cast<int>(threadIdx.x); i < padded(there) * per_row; i += threads) {
            const int token = i / per_row, channel = i % per_row * in_piece;
            const bool exists = token < there && channel < channels;
            fetch_piece(to.piece(token, i % per_row),
                        exists ? p.tokens.x.row(row(first + token)) + column(head) + channel : nullptr, p.aligned);
        }
    }
    /// What was fetched is there for all, and all are done with what they read before.
    __device__ void arrive() const {
        wait_for_copies();
        __syncthreads();
    }

    /// L of all tokens up to the end of the tile, by jumps over 1, 2, 4, … ancestors.
    __device__ void find_decays() const {
        constexpr int most_items = most_tokens / threads;
        const int items = heads * end();
        double sum[most_items];
        int next[most_items];
        const auto each = [&](auto use) {
#pragma unroll
            for (int i = 0; i < most_items; ++i) {
                const int item = static_cast<int>(threadIdx.x) + i * threads;
                if (item < items) {
                    use(i, item / end(), item % end());
                }
            }
        };
        each([&](int, int head, int token) {
            const float dt = p.tokens.step(row(token), first_head + head);
            tiles.dt[decay_place(head, token)] = dt;
            tiles.sums[decay_place(head, token)] = dt;
            if (head == 0) {
                tiles.jump[token] = p.tree.parent[token];
            }
        });
        __syncthreads();
        for (int reach = 1; reach < end(); reach *= 2) {
            each([&](int i, int head, int token) {
                const int from = tiles.jump[token];
                sum[i] = tiles.sums[decay_place(head, token)] + (from >= 0 ? tiles.sums[decay_place(head, from)] : 0.0);
                next[i] = from >= 0 ? tiles.jump[from] : -1;
            });
            __syncthreads();
            each([&](int i, int head, int token) {
                tiles.sums[decay_place(head, token)] = sum[i];
                if (head == 0) {
                    tiles.jump[token] = next[i];
                }
            });
            __syncthreads();
        }
        constexpr double log2_e = 1.4426950408889634;
        each([&](int, int head, int token) {
            const double exact = p.tokens.a[first_head + head] * log2_e * tiles.sums[decay_place(head, token)];
            const auto nearest = static_cast<float>(exact);
            tiles.decays[decay_place(head, token)] = {nearest, static_cast<float>(exact - nearest)};
        });
    }

    /// Strips without tokens leave the tensor cores to others.
    __device__ bool has_tokens() const { return own_strip * strip < tokens; }
    /// Of the thread's two rows.
    __device__ int own_token(int half) const { return own_strip * strip + group + 8 * half; }
    /// Strips of the tile from `first` on that hold tokens up to the last of the warp's: parents come before their children.
    __device__ int strips(int first) const { return first < first_token ? tile / strip : own_strip + 1; }

    /// <C_i, B_j> of the warp's tokens i and the tile of tokens j from `first_other` on. The first columns were fetched.
    __device__ void multiply_operands(int first_other, int chunks, float (&products)[8][4]) const {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            products[n][0] = products[n][1] = products[n][2] = products[n][3] = 0.0F;
        }
        for (int chunk = 0; chunk < chunks; ++chunk) {
            arrive();
            if (has_tokens()) {
                multiply_rows<most_parts>(tiles.c, own_strip * strip, tiles.b, 2 * strips(first_other), products);
            }
            __syncthreads();
            if (chunk + 1 < chunks) {
                fetch_operand(tiles.c, p.tokens.c, first_token, chunk + 1);
                fetch_operand(tiles.b, p.tokens.b, first_other, chunk + 1);
            }
        }
    }

    /// Bit j: whether the token first_other + 2 quad + j is the token or its ancestor.
    __device__ std::uint64_t ancestors(int first_other, int half) const {
        if (own_token(half) >= tokens) {
            return 0;
        }
        const std::int64_t token = first_token + own_token(half);
        return p.tree.ancestors[token * p.tree.words_per_row + first_other / 64] >> 2 * quad;
    }

    /// sum += e^{L_i - L_j} dt_j <C_i, B_j> x_j, over ancestors j of i in the tile from `first_other` on.
    __device__ void add_inputs(int head, int first_other, const float (&products)[8][4], ColumnTile<Activation> inputs,
                               const std::uint64_t (&mask)[2], float (&sum)[8][4]) const {
        const DecaySum* decays = tiles.decays + decay_place(head, 0);
        const DecaySum own[2] = {decays[first_token + own_token(0)], decays[first_token + own_token(1)]};
        const int count = strips(first_other);
#pragma unroll
        for (int s = 0; s < tile / strip; ++s) {
            if (s < count) {
                Pair<most_parts> weights[4];
#pragma unroll
                for (int n = 0; n < 2; ++n) {
                    const int other = first_other + s * strip + n * 8 + 2 * quad;
                    float weight[2][2];
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        const DecaySum decay = decays[other + j];
                        const float dt = tiles.dt[decay_place(head, other + j)];
#pragma unroll
                        for (int half = 0; half < 2; ++half) {
                            // A select: for others than ancestors the exponential may be infinite.
                            const bool counts = (mask[half] >> (s * strip + n * 8 + j) & 1U) != 0;
                            weight[half][j] =
                                counts ? decay_between(decay, own[half]) * dt * products[2 * s + n][2 * half + j] : 0.0F;
                        }
                    }
                    weights[2 * n] = split<most_parts>(weight[0][0], weight[0][1]);
                    weights[2 * n + 1] = split<most_parts>(weight[1][0], weight[1][1]);
                }
                constexpr int in_piece = elements_of_piece<Activation>, pieces = 8 / in_piece;
#pragma unroll
                for (int i = 0; i < pieces; ++i) {
                    Pair<parts_of<Activation, most_parts>> low[in_piece], high[in_piece];
                    const int piece = (group / 2 + group % 2 * 4) * pieces + i;
                    inputs.pairs(s * strip + 2 * quad, piece, low);
                    inputs.pairs(s * strip + 2 * quad + 8, piece, high);
#pragma unroll
                    for (int n = 0; n < in_piece; ++n) {
                        multiply_add(sum[i * in_piece + n], weights, low[n], high[n]);
                    }
                }
            }
        }
    }

    /// Where the thread's eight neighbours in memory are: of a row in the warp, and of the left or the right half of channels.
    __device__ bool holds(int half, int side) const { return own_token(half) < tokens && 8 * quad + 32 * side < channels; }
    __device__ void write(int head, const float (&sum)[8][4], ColumnTile<Activation> inputs) const {
        Eight<Activation> gate[2][2] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (p.tokens.gate && holds(i / 2, i % 2)) {
                const Activation* from = p.tokens.gate.row(row(first_token + own_token(i / 2))) + column(head);
                gate[i / 2][i % 2] = read_eight(from + 8 * quad + 32 * (i % 2), p.aligned);
            }
        }
        const float d = p.tokens.d != nullptr ? p.tokens.d[first_head + head] : 0.0F;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int half = i / 2, side = i % 2;
            if (holds(half, side)) {
                float x[8], z[8], y[8];
                inputs.eight(own_token(half), quad + 4 * side).to_floats(x);
                gate[half][side].to_floats(z);
#pragma unroll
                for (int n = 0; n < 8; ++n) {
                    y[n] = sum[n][2 * half + side] + d * x[n];
                    y[n] = p.tokens.gate ? __fdividef(y[n] * z[n], 1.0F + __expf(-z[n])) : y[n];
                }
                Activation* to = p.y.row(place(first_token + own_token(half))) + column(head);
                write_eight(to + 8 * quad + 32 * side, y, p.aligned);
            }
        }
    }

    /// sum *= e^{L_i}
    __device__ void decay(int head, float (&sum)[8][4]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float by = exp2f(tiles.decays[decay_place(head, first_token + own_token(half))].sum);
#pragma unroll
            for (int n = 0; n < 8; ++n) {
                sum[n][2 * half] *= by;
                sum[n][2 * half + 1] *= by;
            }
        }
    }

    __device__ void run() const {
        const int chunks = (p.shape.state_size + depth - 1) / depth;
        // With one tile of tokens the products <C, B> are the same for all heads; with several the block has one head.
        const bool one_tile = first_token == 0;
        float products[8][4];
        std::uint64_t mask[2] = {ancestors(0, 0), ancestors(0, 1)};
        fetch_operand(tiles.c, p.tokens.c, first_token, 0);
        if (one_tile) {
            fetch_operand(tiles.b, p.tokens.b, 0, 0);
        }
        fetch_state(0, 0);
        find_decays();
        if (one_tile) {
            multiply_operands(0, chunks, products);
            fetch_inputs(tiles.inputs(0), 0, 0);
            if (chunks > 1) {
                fetch_operand(tiles.c, p.tokens.c, first_token, 0);
            }
        }
        for (int head = 0; head < heads; ++head) {
            float sum[8][4] = {};
            for (int chunk = 0; chunk < chunks; ++chunk) {
                // The first state came with B: the first inputs may take until the end of its product.
                if (head > 0 || chunks > 1 || !one_tile) {
                    arrive();
                }
                if (has_tokens()) {
                    multiply_rows<most_parts>(tiles.c, own_strip * strip, tiles.state, 8, sum);
                }
                arrive();
                if (chunk + 1 < chunks) {
                    fetch_state(head, chunk + 1);
                    fetch_operand(tiles.c, p.tokens.c, first_token, chunk + 1);
                } else if (head + 1 < heads) {
                    fetch_state(head + 1, 0);
                    fetch_inputs(tiles.inputs(head + 1), head + 1, 0);
                    if (chunks > 1) {
                        fetch_operand(tiles.c, p.tokens.c, first_token, 0);
                    }
                }
            }
            if (has_tokens()) {
                decay(head, sum);
            }
            const ColumnTile<Activation> inputs = tiles.inputs(head);
            for (int first_other = 0; first_other < end(); first_other += tile) {
                if (!one_tile) {
                    fetch_operand(tiles.c, p.tokens.c, first_token, 0);
                    fetch_operand(tiles.b, p.tokens.b, first_other, 0);
                    multiply_operands(first_other, chunks, products);
                    fetch_inputs(inputs, head, first_other);
                    mask[0] = ancestors(first_other, 0);
                    mask[1] = ancestors(first_other, 1);
                    arrive();
                }
                if (has_tokens()) {
                    add_inputs(head, first_other, products, inputs, mask, sum);
                }
                if (!one_tile && first_other + tile < end()) {
                    __syncthreads();
                }
            }
            write(head, sum, inputs);
        }
    }
};

/// blockIdx.x = (sequence, channels, group, part of the group's heads), the last the fastest; blockIdx.y = tile of tokens.
template <class Activation, class State>
__global__ void __launch_bounds__(threads, sizeof(Activation) + sizeof(State) == 4 ? 4 : 3)
    tree_scan_kernel(Parameters<Activation, State> p) {
    const ScanShape& shape = p.shape;
    const int heads_of_group = shape.heads / shape.groups, warp = static_cast<int>(threadIdx.x) / 32;
    int number = static_cast<int>(blockIdx.x);
    const int first_of_group = number % p.parts_of_group * p.heads_of_block;
    number /= p.parts_of_group;
    const int own_group = number % shape.groups;
    number /= shape.groups;
    const int first_channel = number % p.channel_blocks * tile;
    const int first_token = static_cast<int>(blockIdx.y) * tile, lane = static_cast<int>(threadIdx.x) % 32;
    const Block<Activation, State> block{p, Tiles<Activation, State>(p.heads_of_block, shape.tokens), number / p.channel_blocks,
                                         own_group * heads_of_group + first_of_group,
                                         min(p.heads_of_block, heads_of_group - first_of_group), first_channel,
                                         min(tile, shape.head_dim - first_channel), own_group * shape.state_size, first_token,
                                         min(tile, shape.tokens - first_token),
                                         // Later strips have more ancestors: each scheduler gets some of all.
                                         (warp + static_cast<int>(blockIdx.x)) % (threads / 32), lane / 4, lane % 4};
    block.run();
}

}  // namespace

void tree_scan(const TreeScan& scan, Queue queue) {
    check(scan);
    const ScanShape& shape = scan.shape;
    if (shape.tokens > most_tokens) {
        throw std::invalid_argument("tree scan: CUDA takes at most 1024 tokens");
    }
    const int heads_of_group = shape.heads / shape.groups;
    const unsigned channel_blocks = blocks_for(shape.head_dim, tile);
    const std::int64_t units = std::int64_t{shape.sequences} * channel_blocks * shape.heads;
    const int wanted = static_cast<int>(std::min<std::int64_t>(blocks_for(units, wanted_blocks), most_heads));
    const unsigned parts = shape.tokens > tile ? unsigned(heads_of_group) : blocks_for(heads_of_group, wanted);
    const unsigned heads_of_block = blocks_for(heads_of_group, parts);
    const bool aligned = is_aligned(scan.tokens.x) && is_aligned(scan.tokens.b) && is_aligned(scan.tokens.c) &&
                         is_aligned(scan.tokens.gate) && is_aligned(scan.y) &&
                         reinterpret_cast<std::uintptr_t>(scan.initial.data) % 16 == 0;
    with_type(scan.tokens.x.type, [&](auto activation) {
        with_type(scan.initial.type, [&](auto state) {
            using Activation = decltype(activation);
            using State = decltype(state);
            const Parameters<Activation, State> parameters{shape,
                                                           DeviceTokens<Activation>(scan.tokens),
                                                           scan.row_of,
                                                           scan.tree,
                                                           static_cast<const State*>(scan.initial.data),
                                                           scan.state_of,
                                                           typed<Activation>(scan.y),
                                                           aligned,
                                                           static_cast<int>(heads_of_block),
                                                           static_cast<int>(parts),
                                                           static_cast<int>(channel_blocks)};
            const LaunchShape launch_shape{dim3(parts * unsigned(shape.groups) * channel_blocks * unsigned(shape.sequences),
                                                blocks_for(shape.tokens, tile)),
                                           threads,
                                           Tiles<Activation, State>::bytes(static_cast<int>(heads_of_block), shape.tokens)};
            launch("tree scan", tree_scan_kernel<Activation, State>, launch_shape, queue, parameters);
        });
    });
}

}  // namespace treeline::kernels::cuda
