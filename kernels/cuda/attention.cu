// Decode and verify attention (kernels/attention.h). A block holds 4, 8 or 16 query rows (tokens times the query heads that
// share a KV head; rows that are not there cost as much as others) against tiles of 32 positions, with the softmax corrected as
// larger scores appear. With several splits each block takes a part of the positions, and a second kernel puts the parts
// together.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int threads = 128;
constexpr int tile = 32;  // positions: a lane for each
constexpr int widest_head = 256;

template <class Element>
struct Parameters {
    AttentionShape shape;
    Matrix<const Element> query, keys, values;
    int capacity;
    const int* context;
    TreeView tree;
    int first_token;
    int window;
    int sink;
    float scale;
    int splits;
    float* scratch;
    Matrix<Element> output;

    [[nodiscard]] __host__ __device__ int heads() const { return shape.query_heads / shape.kv_heads; }
    /// Blocks that share the query rows of a KV head.
    [[nodiscard]] __host__ __device__ int row_tiles(int rows_of_block) const {
        return (shape.tokens * heads() + rows_of_block - 1) / rows_of_block;
    }
    [[nodiscard]] __device__ int level(int token) const { return tree.parent != nullptr ? tree.level[token] : token; }
    [[nodiscard]] __device__ bool is_ancestor(int other, int token) const {
        if (tree.parent == nullptr) {
            return other <= token;
        }
        return (tree.ancestors[static_cast<std::int64_t>(token) * tree.words_per_row + other / 64] >> (other % 64) & 1U) != 0;
    }
    [[nodiscard]] __device__ bool sees(int token, int position, int cached) const {
        const int other = position - cached;
        if (other >= 0 && (other >= first_token + shape.tokens || !is_ancestor(other, token))) {
            return false;
        }
        const int place = other >= 0 ? cached + level(other) : position;
        return window == 0 || place < sink || cached + level(token) - place < window;
    }
    /// Place of a partial result of one query row and head: head_dim sums, then the largest score and the total of weights.
    [[nodiscard]] __device__ float* partial(std::int64_t row, int head, int split) const {
        return scratch + ((row * shape.query_heads + head) * splits + split) * (shape.head_dim + 2);
    }
};

/// Four neighbours as they lie in memory.
template <class Element>
struct Four;
template <>
struct Four<float> {
    float4 raw;
    __device__ static Four none() { return {make_float4(0.0F, 0.0F, 0.0F, 0.0F)}; }
    __device__ static Four at(const float* data) { return {*reinterpret_cast<const float4*>(data)}; }
    __device__ static Four each(const float* data) { return {make_float4(data[0], data[1], data[2], data[3])}; }
    [[nodiscard]] __device__ float4 floats() const { return raw; }
};
template <>
struct Four<Bf16> {
    uint2 raw;
    __device__ static Four none() { return {make_uint2(0U, 0U)}; }
    __device__ static Four at(const Bf16* data) { return {*reinterpret_cast<const uint2*>(data)}; }
    __device__ static Four each(const Bf16* data) {
        return {make_uint2(data[0].bits | static_cast<unsigned>(data[1].bits) << 16,
                           data[2].bits | static_cast<unsigned>(data[3].bits) << 16)};
    }
    [[nodiscard]] __device__ float4 floats() const {
        return make_float4(lower_half(raw.x), upper_half(raw.x), lower_half(raw.y), upper_half(raw.y));
    }
};

/// A tile of the cache on its way from memory to shared memory, in registers: all its loads are under way at once, and arrive
/// while the tile before is computed with. A warp takes a position, a lane 4 of its columns in each part of 128.
template <class Element, int parts>
struct Fetched {
    static constexpr int warps = threads / 32;
    Four<Element> four[tile / warps][parts];

    /// Positions beyond `count` become 0.
    __device__ void fetch(Matrix<const Element> cache, std::int64_t first, int count, int column, int width) {
        const bool aligned = reinterpret_cast<std::uintptr_t>(cache.data + column) % 16 == 0 && cache.stride % 8 == 0;
#pragma unroll
        for (int i = 0; i < tile / warps; ++i) {
            const int position = static_cast<int>(threadIdx.x) / 32 + i * warps;
            const Element* row = cache.row(first + position) + column;
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                const int d = 4 * (static_cast<int>(threadIdx.x) % 32) + part * 128;
                four[i][part] = Four<Element>::none();
                if (position < count && d < width) {
                    four[i][part] = aligned ? Four<Element>::at(row + d) : Four<Element>::each(row + d);
                }
            }
        }
    }
    __device__ void store(float* to, int stride, int width) const {
#pragma unroll
        for (int i = 0; i < tile / warps; ++i) {
            const int position = static_cast<int>(threadIdx.x) / 32 + i * warps;
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                const int d = 4 * (static_cast<int>(threadIdx.x) % 32) + part * 128;
                if (d < width) {
                    *reinterpret_cast<float4*>(to + position * stride + d) = four[i][part].floats();
                }
            }
        }
    }
};

/// What a block works on, and its shared memory.
template <class Element, int rows_of_block, int parts>
struct Block {
    static constexpr int rows_of_warp = rows_of_block / (threads / 32);
    using Parts = float[parts][rows_of_block];
    using Tile = Fetched<Element, parts>;

    const Parameters<Element>& p;
    float* query;                     ///< [rows_of_block][stride], scaled
    float* cache;                     ///< [tile][stride]: keys, then values
    float (*weights)[rows_of_block];  ///< of each position
    float* corrections;               ///< of each row
    int stride;
    int sequence, kv_head, split, cached;
    int first_row, rows;  ///< query rows of the KV head: the block's first, and of all blocks

    [[nodiscard]] __device__ int token_of(int row) const { return p.first_token + (first_row + row) / p.heads(); }
    [[nodiscard]] __device__ int head_of(int row) const { return kv_head * p.heads() + (first_row + row) % p.heads(); }
    [[nodiscard]] __device__ std::int64_t query_row(int row) const {
        return static_cast<std::int64_t>(sequence) * p.shape.tokens + token_of(row) - p.first_token;
    }
    [[nodiscard]] __device__ std::int64_t query_column(int row) const {
        return static_cast<std::int64_t>(head_of(row)) * p.shape.head_dim;
    }

    __device__ void load_queries() const {
        for (int i = static_cast<int>(threadIdx.x); i < rows_of_block * p.shape.head_dim; i += threads) {
            const int row = i / p.shape.head_dim, d = i % p.shape.head_dim;
            const bool there = first_row + row < rows;
            query[row * stride + d] = there ? p.scale * get(p.query.row(query_row(row)), query_column(row) + d) : 0.0F;
        }
    }

    __device__ void fetch(Tile& into, Matrix<const Element> from, int first, int count) const {
        into.fetch(from, static_cast<std::int64_t>(sequence) * p.capacity + first, count, kv_head * p.shape.head_dim,
                   p.shape.head_dim);
    }
    /// In place of the tile that was there, once all are done with it; what was written before is then seen by all.
    __device__ void store(const Tile& fetched) const {
        __syncthreads();
        fetched.store(cache, stride, p.shape.head_dim);
        __syncthreads();
    }

    /// Weights of the tile's positions for the warp's rows, a lane for each position; `largest` and `total` move on.
    __device__ void weigh(int first, int count, float (&largest)[rows_of_warp], float (&total)[rows_of_warp]) const {
        const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
        float scores[rows_of_warp] = {};
        for (int d = 0; d < p.shape.head_dim; d += 4) {
            const float4 key = *reinterpret_cast<const float4*>(cache + lane * stride + d);
#pragma unroll
            for (int r = 0; r < rows_of_warp; ++r) {
                const float4 q = *reinterpret_cast<const float4*>(query + (warp * rows_of_warp + r) * stride + d);
                scores[r] += q.x * key.x + q.y * key.y + q.z * key.z + q.w * key.w;
            }
        }
#pragma unroll
        for (int r = 0; r < rows_of_warp; ++r) {
            const int row = warp * rows_of_warp + r;
            const bool seen = lane < count && first_row + row < rows && p.sees(token_of(row), first + lane, cached);
            const float score = seen ? scores[r] : -INFINITY;
            const float now = fmaxf(largest[r], largest_over_lanes(score, 32));
            const float correction = now > largest[r] ? expf(largest[r] - now) : 1.0F;
            const float weight = seen ? expf(score - now) : 0.0F;
            total[r] = total[r] * correction + sum_over_lanes(weight, 32);
            largest[r] = now;
            weights[lane][row] = weight;
            if (lane == 0) {
                corrections[row] = correction;
            }
        }
    }

    /// The thread's columns of all rows: sums = corrections sums + weights values.
    __device__ void add_values(int count, Parts& sums) const {
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            const int d = static_cast<int>(threadIdx.x) + part * threads;
            if (d >= p.shape.head_dim) {
                break;
            }
#pragma unroll
            for (int row = 0; row < rows_of_block; ++row) {
                sums[part][row] *= corrections[row];
            }
#pragma unroll 4
            for (int i = 0; i < count; ++i) {
                const float value = cache[i * stride + d];
#pragma unroll
                for (int row = 0; row < rows_of_block; ++row) {
                    sums[part][row] += weights[i][row] * value;
                }
            }
        }
    }

    /// The result, or this split's part of it.
    __device__ void write(const Parts& sums, const float* largest, const float* total) const {
        const int head_dim = p.shape.head_dim;
#pragma unroll
        for (int row = 0; row < rows_of_block; ++row) {
            if (first_row + row >= rows) {
                break;
            }
            float* partial = p.splits > 1 ? p.partial(query_row(row), head_of(row), split) : nullptr;
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                const int d = static_cast<int>(threadIdx.x) + part * threads;
                if (d < head_dim && partial != nullptr) {
                    partial[d] = sums[part][row];
                } else if (d < head_dim) {
                    put(p.output.row(query_row(row)), query_column(row) + d, sums[part][row] / total[row]);
                }
            }
            if (partial != nullptr && threadIdx.x == 0) {
                partial[head_dim] = largest[row];
                partial[head_dim + 1] = total[row];
            }
        }
    }
};

/// blockIdx = ((sequence, KV head), tile of query rows, split), the last the fastest: blocks that read the same positions are
/// near.
template <class Element, int rows_of_block, int parts>
__global__ void __launch_bounds__(threads) attention_kernel(Parameters<Element> p) {
    using Work = Block<Element, rows_of_block, parts>;
    constexpr int rows_of_warp = Work::rows_of_warp;
    __shared__ float weights[tile][rows_of_block];
    __shared__ float corrections[rows_of_block], largest_of_row[rows_of_block], total_of_row[rows_of_block];
    const int stride = p.shape.head_dim + 4;
    const int split = static_cast<int>(blockIdx.x) % p.splits, row_tiles = p.row_tiles(rows_of_block);
    const int row_tile = static_cast<int>(blockIdx.x) / p.splits % row_tiles;
    const int pair = static_cast<int>(blockIdx.x) / p.splits / row_tiles;
    const int sequence = pair / p.shape.kv_heads, cached = p.context[sequence];
    float* query = dynamic_shared<float>();
    const Work block{p,
                     query,
                     query + rows_of_block * stride,
                     weights,
                     corrections,
                     stride,
                     sequence,
                     pair % p.shape.kv_heads,
                     split,
                     cached,
                     row_tile * rows_of_block,
                     p.shape.tokens * p.heads()};
    block.load_queries();

    float largest[rows_of_warp], total[rows_of_warp] = {};  // of the warp's rows, the same in each lane
#pragma unroll
    for (int r = 0; r < rows_of_warp; ++r) {
        largest[r] = -INFINITY;
    }
    float sums[parts][rows_of_block] = {};
    const int positions = cached + p.first_token + p.shape.tokens;
    const std::int64_t tiles = (positions + tile - 1) / tile;
    const auto last = static_cast<int>(tiles * (split + 1) / p.splits);
    // Nobody sees less than the first token does, the sink apart.
    const auto is_seen = [&](int at) {
        return p.window == 0 || at * tile < p.sink || min(positions, (at + 1) * tile) > cached - p.window + 1;
    };
    const auto seen_from = [&](int at) {
        while (at < last && !is_seen(at)) {
            ++at;
        }
        return at;
    };
    auto at = seen_from(static_cast<int>(tiles * split / p.splits));
    typename Work::Tile fetched;
    if (at < last) {
        block.fetch(fetched, p.keys, at * tile, min(tile, positions - at * tile));
    }
    while (at < last) {
        const int first = at * tile, count = min(tile, positions - first);
        block.store(fetched);
        block.fetch(fetched, p.values, first, count);
        block.weigh(first, count, largest, total);
        block.store(fetched);
        at = seen_from(at + 1);
        if (at < last) {
            block.fetch(fetched, p.keys, at * tile, min(tile, positions - at * tile));
        }
        block.add_values(count, sums);
    }
    if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int r = 0; r < rows_of_warp; ++r) {
            largest_of_row[threadIdx.x / 32 * rows_of_warp + r] = largest[r];
            total_of_row[threadIdx.x / 32 * rows_of_warp + r] = total[r];
        }
    }
    __syncthreads();
    block.write(sums, largest_of_row, total_of_row);
}

/// blockIdx = (row, head). A split that saw nothing has the largest score -infinity and weighs 0.
template <class Element>
__global__ void __launch_bounds__(threads) combine_kernel(Parameters<Element> p) {
    const std::int64_t row = blockIdx.x;
    const int head = static_cast<int>(blockIdx.y), head_dim = p.shape.head_dim;
    float largest = -INFINITY;
    for (int split = 0; split < p.splits; ++split) {
        largest = fmaxf(largest, p.partial(row, head, split)[head_dim]);
    }
    float total = 0.0F;
    for (int split = 0; split < p.splits; ++split) {
        const float* partial = p.partial(row, head, split);
        total += expf(partial[head_dim] - largest) * partial[head_dim + 1];
    }
    for (int d = static_cast<int>(threadIdx.x); d < head_dim; d += threads) {
        float sum = 0.0F;
        for (int split = 0; split < p.splits; ++split) {
            const float* partial = p.partial(row, head, split);
            sum += expf(partial[head_dim] - largest) * partial[d];
        }
        put(p.output.row(row), static_cast<std::int64_t>(head) * head_dim + d, sum / total);
    }
}

template <int rows_of_block, class Element>
void launch_rows(const Parameters<Element>& parameters, Queue queue) {
    const AttentionShape& shape = parameters.shape;
    const std::size_t shared =
        static_cast<std::size_t>(rows_of_block + tile) * static_cast<std::size_t>(shape.head_dim + 4) * sizeof(float);
    const auto blocks = static_cast<unsigned>(shape.sequences) * static_cast<unsigned>(shape.kv_heads) *
                        static_cast<unsigned>(parameters.row_tiles(rows_of_block)) * static_cast<unsigned>(parameters.splits);
    const LaunchShape of{dim3(blocks), threads, shared};
    if (shape.head_dim <= threads) {
        launch("attention", attention_kernel<Element, rows_of_block, 1>, of, queue, parameters);
    } else {
        launch("attention", attention_kernel<Element, rows_of_block, widest_head / threads>, of, queue, parameters);
    }
}

}  // namespace

void attention(const Attention& attention, Queue queue) {
    check(attention);
    const AttentionShape& shape = attention.shape;
    const float scale = attention.scale > 0.0F ? attention.scale : 1.0F / sqrtf(static_cast<float>(shape.head_dim));
    with_type(attention.query.type, [&](auto element) {
        using Element = decltype(element);
        const Parameters<Element> parameters{shape,
                                             typed<Element>(attention.query),
                                             typed<Element>(attention.keys),
                                             typed<Element>(attention.values),
                                             attention.capacity,
                                             attention.context,
                                             attention.tree,
                                             attention.first_token,
                                             attention.window,
                                             attention.sink,
                                             scale,
                                             attention.splits,
                                             attention.scratch,
                                             typed<Element>(attention.output)};
        const int rows = shape.tokens * parameters.heads();
        if (rows <= 4) {
            launch_rows<4>(parameters, queue);
        } else if (rows <= 8) {
            launch_rows<8>(parameters, queue);
        } else {
            launch_rows<16>(parameters, queue);
        }
        if (attention.splits > 1) {
            const dim3 rows_and_heads(static_cast<unsigned>(shape.sequences) * static_cast<unsigned>(shape.tokens),
                                      static_cast<unsigned>(shape.query_heads));
            launch("attention, putting splits together", combine_kernel<Element>, {rows_and_heads, threads}, queue, parameters);
        }
    });
}

}  // namespace treeline::kernels::cuda
