// What a block of the packed scan (tree_scan.cu) works on, and its parts.
#pragma once

#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/scan_tokens.cuh"
#include "kernels/cuda/tree_decays.cuh"

namespace treeline::kernels::cuda {

constexpr int tree_threads = 128;
constexpr int tree_tile = 64;  // tokens or channels of a block
constexpr int strip = 16;      // tokens of a warp

/// Tokens up to the end of a strip.
__host__ __device__ constexpr int padded(int tokens) { return (tokens + strip - 1) / strip * strip; }

template <class Activation, class State>
struct TreeParameters {
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

/// The shared memory of a block.
template <class Activation, class State>
struct TreeTiles {
    static constexpr int depth = 256 / static_cast<int>(sizeof(Activation));  // of the products between two barriers
    static constexpr int operand_pieces = tree_tile * 256 / 16;
    static constexpr int state_pieces = tree_tile * depth / elements_of_piece<State>;
    static constexpr int input_pieces = tree_tile * ColumnTile<Activation>::pieces_of_row;
    static constexpr int pieces = operand_pieces + state_pieces + 2 * input_pieces;
    static_assert(2 * input_pieces >= operand_pieces);

    RowTile<Activation, depth> c, b;  ///< b in the place of the inputs
    RowTile<State, depth> state;
    uint4* both_inputs;
    TreeDecays decays;

    static std::size_t bytes(int heads, int tokens) {
        return pieces * sizeof(uint4) + TreeDecays::bytes(heads, padded(tokens));
    }
    __device__ TreeTiles(uint4* at, int heads, int tokens)
        : c{at},
          b{at + operand_pieces + state_pieces},
          state{at + operand_pieces},
          both_inputs(b.data),
          decays(at + pieces, heads, padded(tokens)) {}
    /// x of the block's heads in turns.
    __device__ ColumnTile<Activation> inputs(int head) const { return {both_inputs + head % 2 * input_pieces}; }
};

/// Where channel is among the rows of the state's tile: column c of product n is channel c / 2 * 8 + c % 2 * 32 + n, so that a
/// thread's eight products are neighbours in memory.
__device__ inline int row_of_channel(int channel) { return channel % 8 * 8 + channel % 32 / 8 * 2 + channel / 32; }

template <class Activation, class State>
struct TreeBlock {
    static constexpr int depth = TreeTiles<Activation, State>::depth;
    static constexpr int most_parts = sizeof(Activation) == 4 ? 3 : 2;

    const TreeParameters<Activation, State>& p;
    TreeTiles<Activation, State> tiles;
    int sequence, first_head, heads, first_channel, channels, group_column;
    int first_token, tokens;  ///< of the block's tile
    int own_strip;

    /// Computed anew wherever they are used: registers are scarce.
    __device__ static int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
    __device__ static int quad() { return static_cast<int>(threadIdx.x) % 4; }
    __device__ std::int64_t column(int head) const {
        return static_cast<std::int64_t>(first_head + head) * p.shape.head_dim + first_channel;
    }
    __device__ std::int64_t place(int token) const { return static_cast<std::int64_t>(sequence) * p.shape.tokens + token; }
    /// Where the tokens have a token of this sequence.
    __device__ std::int64_t row(int token) const { return p.row_of != nullptr ? p.row_of[place(token)] : place(token); }
    __device__ int end() const { return first_token + tokens; }

    /// C or B of a tile's tokens, from column chunk * depth on.
    __device__ void fetch_operand(RowTile<Activation, depth> to, Matrix<const Activation> from, int first, int chunk) const {
        constexpr int per_row = RowTile<Activation, depth>::pieces_of_row, in_piece = elements_of_piece<Activation>;
        const int there = min(tree_tile, end() - first);
        for (int i = static_cast<int>(threadIdx.x); i < padded(there) * per_row; i += tree_threads) {
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
#pragma unroll 2
        for (int i = static_cast<int>(threadIdx.x); i < tree_tile * per_row; i += tree_threads) {
            const int channel = i / per_row, at = chunk * depth + i % per_row * in_piece;
            const bool exists = channel < channels && at < p.shape.state_size;
            fetch_piece(tiles.state.piece(row_of_channel(channel), i % per_row),
                        exists ? from + channel * p.shape.state_size + at : nullptr, p.aligned);
        }
    }
    __device__ void fetch_inputs(ColumnTile<Activation> to, int head, int first) const {
        constexpr int per_row = ColumnTile<Activation>::pieces_of_row, in_piece = elements_of_piece<Activation>;
        const int there = min(tree_tile, end() - first);
        for (int i = static_cast<int>(threadIdx.x); i < padded(there) * per_row; i += tree_threads) {
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

    __device__ void find_decays() const {
        tiles.decays.find(p.tree, p.tokens.a + first_head, heads, end(),
                          [&](int head, int token) { return p.tokens.step(row(token), first_head + head); });
    }

    /// Strips without tokens leave the tensor cores to others.
    __device__ bool has_tokens() const { return own_strip * strip < tokens; }
    /// Of the thread's two rows.
    __device__ int own_token(int half) const { return own_strip * strip + group() + 8 * half; }
    /// Strips of the tile from `first` on that hold tokens up to the last of the warp's: parents come before their children.
    __device__ int strips(int first) const { return first < first_token ? tree_tile / strip : own_strip + 1; }

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
        return p.tree.ancestors[token * p.tree.words_per_row + first_other / 64] >> 2 * quad();
    }

    /// sum += e^{L_i - L_j} dt_j <C_i, B_j> x_j, over ancestors j of i in the tile from `first_other` on.
    __device__ void add_inputs(int head, int first_other, const float (&products)[8][4], ColumnTile<Activation> inputs,
                               const std::uint64_t (&mask)[2], float (&sum)[8][4]) const {
        const TreeDecays& decays = tiles.decays;
        const DecaySum own[2] = {decays.sum(head, first_token + own_token(0)), decays.sum(head, first_token + own_token(1))};
        const int count = strips(first_other);
#pragma unroll
        for (int s = 0; s < tree_tile / strip; ++s) {
            if (s < count) {
                Pair<most_parts> weights[4];
#pragma unroll
                for (int n = 0; n < 2; ++n) {
                    const int other = first_other + s * strip + n * 8 + 2 * quad();
                    float weight[2][2];
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        const DecaySum decay = decays.sum(head, other + j);
                        const float dt = decays.step(head, other + j);
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
                    const int piece = (group() / 2 + group() % 2 * 4) * pieces + i;
                    inputs.pairs(s * strip + 2 * quad(), piece, low);
                    inputs.pairs(s * strip + 2 * quad() + 8, piece, high);
#pragma unroll
                    for (int n = 0; n < in_piece; ++n) {
                        multiply_add(sum[i * in_piece + n], weights, low[n], high[n]);
                    }
                }
            }
        }
    }

    /// Where the thread's eight neighbours in memory are: of a row in the warp, and of the left or the right half of channels.
    __device__ bool holds(int half, int side) const { return own_token(half) < tokens && 8 * quad() + 32 * side < channels; }
    __device__ void write(int head, const float (&sum)[8][4], ColumnTile<Activation> inputs) const {
        Eight<Activation> gate[2][2] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (p.tokens.gate && holds(i / 2, i % 2)) {
                const Activation* from = p.tokens.gate.row(row(first_token + own_token(i / 2))) + column(head);
                gate[i / 2][i % 2] = read_eight(from + 8 * quad() + 32 * (i % 2), p.aligned);
            }
        }
        const float d = p.tokens.d != nullptr ? p.tokens.d[first_head + head] : 0.0F;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int half = i / 2, side = i % 2;
            if (holds(half, side)) {
                float x[8], z[8], y[8];
                inputs.eight(own_token(half), quad() + 4 * side).to_floats(x);
                gate[half][side].to_floats(z);
#pragma unroll
                for (int n = 0; n < 8; ++n) {
                    y[n] = sum[n][2 * half + side] + d * x[n];
                    y[n] = p.tokens.gate ? __fdividef(y[n] * z[n], 1.0F + __expf(-z[n])) : y[n];
                }
                Activation* to = p.y.row(place(first_token + own_token(half))) + column(head);
                write_eight(to + 8 * quad() + 32 * side, y, p.aligned);
            }
        }
    }

    /// sum *= e^{L_i}
    __device__ void decay(int head, float (&sum)[8][4]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float by = exp2f(tiles.decays.sum(head, first_token + own_token(half)).sum);
#pragma unroll
            for (int n = 0; n < 8; ++n) {
                sum[n][2 * half] *= by;
                sum[n][2 * half + 1] *= by;
            }
        }
    }
};

}  // namespace treeline::kernels::cuda
