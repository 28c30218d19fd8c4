// The packed scan of a tree in one pass (kernels/state_scan.h): two small matrix products a head, C h_0 and the masked C B^T
// times x, in tiles of tokens and channels.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/scan_tokens.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int side = 16;              // of the square of threads
constexpr int threads = side * side;  // of a block
constexpr int channels_of_block = 64;
constexpr int depth = 32;  // of the products that are summed between two barriers

template <class Activation, class State>
struct Parameters {
    ScanShape shape;
    DeviceTokens<Activation> tokens;
    const int* row_of;
    TreeView tree;
    const State* initial;
    const int* state_of;
    Matrix<Activation> y;
};

/// e^{L_i - L_j} needs the difference of two large sums: each is kept as the nearest float and what it leaves.
struct DecayOfToken {
    float sum;
    float rest;
    float dt;
};

__device__ inline float decay_between(DecayOfToken from, DecayOfToken to) {
    return expf((to.sum - from.sum) + (to.rest - from.rest));
}

__device__ inline bool is_ancestor(const TreeView& tree, int other, int token) {
    return (tree.ancestors[static_cast<std::int64_t>(token) * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0;
}

/// sum[r][c] += <left row y + side r, right row x + side c> over `depth` columns, for the thread (x, y) of the square.
template <int LeftParts, int RightParts>
__device__ void multiply_tiles(const float (*left)[depth + 1], const float (*right)[depth + 1],
                               float (&sum)[LeftParts][RightParts]) {
    const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
#pragma unroll 8
    for (int k = 0; k < depth; ++k) {
        float l[LeftParts], r[RightParts];
#pragma unroll
        for (int i = 0; i < LeftParts; ++i) {
            l[i] = left[y + side * i][k];
        }
#pragma unroll
        for (int i = 0; i < RightParts; ++i) {
            r[i] = right[x + side * i][k];
        }
#pragma unroll
        for (int i = 0; i < LeftParts; ++i) {
#pragma unroll
            for (int j = 0; j < RightParts; ++j) {
                sum[i][j] += l[i] * r[j];
            }
        }
    }
}

/// Copies columns first_column … + depth of `rows` rows into a tile; 0 beyond `row_count` rows and `columns` columns.
template <class Row>
__device__ void load_tile(float (*tile)[depth + 1], int rows, int row_count, int first_column, int columns, Row row_at) {
    for (int i = static_cast<int>(threadIdx.x); i < rows * depth; i += threads) {
        const int row = i / depth, column = first_column + i % depth;
        tile[row][i % depth] = row < row_count && column < columns ? get(row_at(row), column) : 0.0F;
    }
}

/// What a block works on, blockIdx = (head and part of its channels, sequence, tile of Tokens tokens), and its shared memory.
template <class Activation, class State, int Tokens>
struct Block {
    static constexpr int token_parts = Tokens / side, channel_parts = channels_of_block / side;

    const Parameters<Activation, State>& p;
    DecayOfToken* decays;                    ///< of the tokens up to the end of the tile
    float (*left)[depth + 1];                ///< C
    float (*right)[depth + 1];               ///< h_0 or B, behind C
    float (*inputs)[channels_of_block + 1];  ///< x, in the place of both
    float (*weights)[Tokens + 1];
    int head, first_channel, channels, first_token, tokens, group_column;
    std::int64_t first_row;
    int x, y;  ///< the thread in the square

    __device__ std::int64_t column(int channel) const {
        return static_cast<std::int64_t>(head) * p.shape.head_dim + first_channel + channel;
    }
    /// Where the tokens have a token of this sequence.
    __device__ std::int64_t row(int token) const {
        return p.row_of != nullptr ? p.row_of[first_row + token] : first_row + token;
    }
    __device__ const Activation* c_row(int token) const { return p.tokens.c.row(row(first_token + token)) + group_column; }

    __device__ void find_decays() const {
        for (int t = static_cast<int>(threadIdx.x); t < first_token + tokens; t += threads) {
            decays[t].dt = p.tokens.step(row(t), head);
        }
        __syncthreads();
        for (int t = static_cast<int>(threadIdx.x); t < first_token + tokens; t += threads) {
            double sum = 0.0;
            for (int at = t; at >= 0; at = p.tree.parent[at]) {
                sum += static_cast<double>(p.tokens.a[head]) * decays[at].dt;
            }
            decays[t].sum = static_cast<float>(sum);
            decays[t].rest = static_cast<float>(sum - static_cast<double>(decays[t].sum));
        }
    }

    /// sum = e^{L_i} C_i h_0
    __device__ void multiply_with_state(float (&sum)[token_parts][channel_parts]) const {
        const int sequence = static_cast<int>(blockIdx.y), size = p.shape.state_size;
        const std::int64_t state = p.state_of != nullptr ? p.state_of[sequence] : sequence;
        const State* initial = p.initial + ((state * p.shape.heads + head) * p.shape.head_dim + first_channel) * size;
        for (int first = 0; first < size; first += depth) {
            __syncthreads();
            load_tile(left, Tokens, tokens, first, size, [&](int token) { return c_row(token); });
            load_tile(right, channels_of_block, channels, first, size,
                      [&](int channel) { return initial + static_cast<std::int64_t>(channel) * size; });
            __syncthreads();
            multiply_tiles(left, right, sum);
        }
#pragma unroll
        for (int i = 0; i < token_parts; ++i) {
            const int token = y + side * i;
            const float decay = token < tokens ? expf(decays[first_token + token].sum) : 0.0F;
#pragma unroll
            for (int j = 0; j < channel_parts; ++j) {
                sum[i][j] *= decay;
            }
        }
    }

    /// weights = e^{L_i - L_j} dt_j <C_i, B_j> for the tile's tokens i and ancestors j among `others` tokens, 0 elsewhere.
    __device__ void weigh(int first_other, int others) const {
        float products[token_parts][token_parts] = {};
        for (int first = 0; first < p.shape.state_size; first += depth) {
            __syncthreads();
            load_tile(left, Tokens, tokens, first, p.shape.state_size, [&](int token) { return c_row(token); });
            load_tile(right, Tokens, others, first, p.shape.state_size,
                      [&](int other) { return p.tokens.b.row(row(first_other + other)) + group_column; });
            __syncthreads();
            multiply_tiles(left, right, products);
        }
#pragma unroll
        for (int i = 0; i < token_parts; ++i) {
#pragma unroll
            for (int j = 0; j < token_parts; ++j) {
                const int token = first_token + y + side * i, other = first_other + x + side * j;
                // A select: for others than ancestors the exponential may be infinite.
                const bool counts = y + side * i < tokens && x + side * j < others && is_ancestor(p.tree, other, token);
                weights[y + side * i][x + side * j] =
                    counts ? decay_between(decays[other], decays[token]) * decays[other].dt * products[i][j] : 0.0F;
            }
        }
    }

    /// sum += weights x
    __device__ void add_inputs(int first_other, int others, float (&sum)[token_parts][channel_parts]) const {
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < Tokens * channels_of_block; i += threads) {
            const int other = i / channels_of_block, channel = i % channels_of_block;
            const bool there = other < others && channel < channels;
            inputs[other][channel] = there ? get(p.tokens.x.row(row(first_other + other)), column(channel)) : 0.0F;
        }
        __syncthreads();
        for (int other = 0; other < others; ++other) {
#pragma unroll
            for (int i = 0; i < token_parts; ++i) {
#pragma unroll
                for (int j = 0; j < channel_parts; ++j) {
                    sum[i][j] += weights[y + side * i][other] * inputs[other][x + side * j];
                }
            }
        }
    }

    __device__ void write(const float (&sum)[token_parts][channel_parts]) const {
#pragma unroll
        for (int i = 0; i < token_parts; ++i) {
#pragma unroll
            for (int j = 0; j < channel_parts; ++j) {
                const int token = y + side * i, channel = x + side * j;
                if (token < tokens && channel < channels) {
                    put(p.y.row(first_row + first_token + token), column(channel),
                        p.tokens.finish(sum[i][j], row(first_token + token), head, column(channel)));
                }
            }
        }
    }
};

template <class Activation, class State, int Tokens>
__global__ void __launch_bounds__(threads) tree_scan_kernel(Parameters<Activation, State> p) {
    constexpr int pair_floats = (Tokens + channels_of_block) * (depth + 1), x_floats = Tokens * (channels_of_block + 1);
    __shared__ float tiles[pair_floats > x_floats ? pair_floats : x_floats];
    __shared__ float weights[Tokens][Tokens + 1];
    const auto left = reinterpret_cast<float(*)[depth + 1]>(tiles);
    const int channel_blocks = (p.shape.head_dim + channels_of_block - 1) / channels_of_block;
    const int head = static_cast<int>(blockIdx.x) / channel_blocks;
    const int first_channel = static_cast<int>(blockIdx.x) % channel_blocks * channels_of_block;
    const int first_token = static_cast<int>(blockIdx.z) * Tokens;
    using Work = Block<Activation, State, Tokens>;
    const Work block{p,
                     dynamic_shared<DecayOfToken>(),
                     left,
                     left + Tokens,
                     reinterpret_cast<float(*)[channels_of_block + 1]>(tiles),
                     weights,
                     head,
                     first_channel,
                     min(channels_of_block, p.shape.head_dim - first_channel),
                     first_token,
                     min(Tokens, p.shape.tokens - first_token),
                     head / (p.shape.heads / p.shape.groups) * p.shape.state_size,
                     static_cast<std::int64_t>(blockIdx.y) * p.shape.tokens,
                     static_cast<int>(threadIdx.x) % side,
                     static_cast<int>(threadIdx.x) / side};

    float sum[Work::token_parts][Work::channel_parts] = {};
    block.find_decays();
    block.multiply_with_state(sum);
    // Parents come before their children, so no token behind this tile is an ancestor.
    const int end = first_token + block.tokens;
    for (int first_other = 0; first_other < end; first_other += Tokens) {
        const int others = min(Tokens, end - first_other);
        block.weigh(first_other, others);
        block.add_inputs(first_other, others, sum);
    }
    block.write(sum);
}

template <int Tokens>
void launch_tiles(const TreeScan& scan, Queue queue) {
    const ScanShape& shape = scan.shape;
    const unsigned channel_blocks = blocks_for(shape.head_dim, channels_of_block);
    const LaunchShape launch_shape{dim3(static_cast<unsigned>(shape.heads) * channel_blocks,
                                        static_cast<unsigned>(shape.sequences), blocks_for(shape.tokens, Tokens)),
                                   threads, static_cast<std::size_t>(shape.tokens) * sizeof(DecayOfToken)};
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
                                                           typed<Activation>(scan.y)};
            launch("tree scan", tree_scan_kernel<Activation, State, Tokens>, launch_shape, queue, parameters);
        });
    });
}

}  // namespace

void tree_scan(const TreeScan& scan, Queue queue) {
    check(scan);
    if (scan.shape.tokens <= 16) {
        launch_tiles<16>(scan, queue);
    } else if (scan.shape.tokens <= 1024) {
        launch_tiles<64>(scan, queue);
    } else {
        throw std::invalid_argument("tree scan: CUDA takes at most 1024 tokens");
    }
}

}  // namespace treeline::kernels::cuda
