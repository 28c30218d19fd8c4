// The packed scan of a tree in one pass (kernels/state_scan.h), on tensor cores: C h_0, and the masked and weighed C B^T times
// x.
//
// A block has 64 tokens of a sequence and goes through several heads of a group, 64 channels of each; a warp has 16 of the
// tokens. The products <C, B> serve all heads of the group and stay in registers, weights are made of them in registers, too,
// where the second product reads them, and only h_0 and x pass through shared memory: while the weights of a head are at work,
// the next head's h_0 and x are on their way.
//
// Operands are bf16. What is fp32 in memory, and the weights always, is the sum of two bf16, or of three where activations are
// fp32: products are then good to 2^-17 or 2^-24. A product takes 2 or 6 of them; outside the tensor cores one in fp32 costs 8
// to 16 even from registers alone, and three in tf32 cost as much as 6.
//
// Estimate for an H100 SXM, which no device has confirmed: Mamba-2 2.7B (80 heads of 64 x 128, 1 group), 63 nodes, with a gate;
// KB of a sequence and head.
//
//     activations, states   h_0 + x + gate + y   state update   ratio   share of the update's bandwidth that 1.5 asks for
//     bf16, bf16            16.4 + 3 x 8.1       33.2           1.22    82 %
//     bf16, fp32            32.8 + 3 x 8.1       65.9           0.86    58 %
//     fp32, fp32            32.8 + 3 x 16.1      66.3           1.22    82 %
//     fp32, bf16            16.4 + 3 x 16.1      33.5           1.93    out of reach
//
// B and C (32 KB in bf16) come from memory once a sequence and from the L2 cache once a block. At 22 bytes a ns and SM (2.9
// TB/s in all) the first two rows take 1.85 and 2.6 us. Arithmetic of a sequence and head in the meantime: 1.7 and 2.8 MFLOP,
// 104 and 168 mma a warp (64 and 128 for C h_0, on average 40 for the second product), at the 1024 multiply-adds a cycle and SM
// of an A100 0.5 and 0.8 us; about 1000 and 1500 instructions a scheduler, 0.6 and 0.9 us; about 110 and 190 KB through shared
// memory, 0.5 and 0.9 us at 128 bytes a cycle. Three blocks share an SM so that these overlap (two where activations are fp32;
// more would spill registers), and each has 24 or 40 KB of copies on their way. Both rows should be bound by memory, at ratios
// of about 1.3 and 0.95. fp32 activations take 624 mma a warp, 2.9 us beside 3.7 us of memory: near the limit or over it.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tree_block.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int most_tokens = 1024;  // eight for each thread, when decays are found

template <class Activation, class State>
__device__ void scan_heads(const TreeBlock<Activation, State>& block) {
    constexpr int depth = TreeTiles<Activation, State>::depth, most_parts = TreeBlock<Activation, State>::most_parts;
    const TreeParameters<Activation, State>& p = block.p;
    const TreeTiles<Activation, State>& tiles = block.tiles;
    const int first_token = block.first_token;
    const int chunks = (p.shape.state_size + depth - 1) / depth;
    // With one tile of tokens the products <C, B> are the same for all heads; with several the block has one head.
    const bool one_tile = first_token == 0;
    float products[8][4];
    block.fetch_operand(tiles.c, p.tokens.c, first_token, 0);
    if (one_tile) {
        block.fetch_operand(tiles.b, p.tokens.b, 0, 0);
    }
    block.fetch_state(0, 0);
    block.find_decays();
    if (one_tile) {
        block.multiply_operands(0, chunks, products);
        block.fetch_inputs(tiles.inputs(0), 0, 0);
        if (chunks > 1) {
            block.fetch_operand(tiles.c, p.tokens.c, first_token, 0);
        }
    }
    for (int head = 0; head < block.heads; ++head) {
        float sum[8][4] = {};
        for (int chunk = 0; chunk < chunks; ++chunk) {
            // The first state came with B: the first inputs may take until the end of its product.
            if (head > 0 || chunks > 1 || !one_tile) {
                block.arrive();
            }
            if (block.has_tokens()) {
                multiply_rows<most_parts>(tiles.c, block.own_strip * strip, tiles.state, 8, sum);
            }
            block.arrive();
            if (chunk + 1 < chunks) {
                block.fetch_state(head, chunk + 1);
                block.fetch_operand(tiles.c, p.tokens.c, first_token, chunk + 1);
            } else if (head + 1 < block.heads) {
                block.fetch_state(head + 1, 0);
                block.fetch_inputs(tiles.inputs(head + 1), head + 1, 0);
                if (chunks > 1) {
                    block.fetch_operand(tiles.c, p.tokens.c, first_token, 0);
                }
            }
        }
        if (block.has_tokens()) {
            block.decay(head, sum);
        }
        const ColumnTile<Activation> inputs = tiles.inputs(head);
        for (int first_other = 0; first_other < block.end(); first_other += tree_tile) {
            if (!one_tile) {
                block.fetch_operand(tiles.c, p.tokens.c, first_token, 0);
                block.fetch_operand(tiles.b, p.tokens.b, first_other, 0);
                block.multiply_operands(first_other, chunks, products);
                block.fetch_inputs(inputs, head, first_other);
                block.arrive();
            }
            if (block.has_tokens()) {
                // Read again for each head: registers are scarcer than the cache.
                const std::uint64_t mask[2] = {block.ancestors(first_other, 0), block.ancestors(first_other, 1)};
                block.add_inputs(head, first_other, products, inputs, mask, sum);
            }
            if (!one_tile && first_other + tree_tile < block.end()) {
                __syncthreads();
            }
        }
        block.write(head, sum, inputs);
    }
}

/// blockIdx.x = (sequence, channels, group, part of the group's heads), the last the fastest; blockIdx.y = tile of tokens.
template <class Activation, class State>
__global__ void __launch_bounds__(tree_threads, sizeof(Activation) == 2 ? 3 : 2)
    tree_scan_kernel(TreeParameters<Activation, State> p) {
    const ScanShape& shape = p.shape;
    const int heads_of_group = shape.heads / shape.groups, warp = static_cast<int>(threadIdx.x) / 32;
    int number = static_cast<int>(blockIdx.x);
    const int first_of_group = number % p.parts_of_group * p.heads_of_block;
    number /= p.parts_of_group;
    const int own_group = number % shape.groups;
    number /= shape.groups;
    const int first_channel = number % p.channel_blocks * tree_tile;
    const int first_token = static_cast<int>(blockIdx.y) * tree_tile;
    const TreeBlock<Activation, State> block{
        p, TreeTiles<Activation, State>(dynamic_shared<uint4>(), p.heads_of_block, shape.tokens), number / p.channel_blocks,
        own_group * heads_of_group + first_of_group, min(p.heads_of_block, heads_of_group - first_of_group), first_channel,
        min(tree_tile, shape.head_dim - first_channel), own_group * shape.state_size, first_token,
        min(tree_tile, shape.tokens - first_token),
        // Later strips have more ancestors: each scheduler gets some of all.
        (warp + static_cast<int>(blockIdx.x)) % (tree_threads / 32)};
    scan_heads(block);
}

/// Heads of a block: as many as leave a block for every place on the device, and take no place from another block by their
/// shared memory. One where trees have several tiles.
template <class Activation, class State>
int heads_for(const ScanShape& shape, std::int64_t blocks_of_one_head) {
    const auto at_once = [&](int heads) {
        return blocks_at_once("tree scan", tree_scan_kernel<Activation, State>, tree_threads,
                              TreeTiles<Activation, State>::bytes(heads, shape.tokens));
    };
    const int alone = at_once(1);
    if (alone == 0) {
        throw KernelError("tree scan: " + std::to_string(TreeTiles<Activation, State>::bytes(1, shape.tokens) >> 10) +
                          " KB of shared memory are more than a block of this device can have");
    }
    if (shape.tokens > tree_tile) {
        return 1;
    }
    const std::int64_t places = std::int64_t{alone} * multiprocessors();
    const int most =
        static_cast<int>(std::min<std::int64_t>(blocks_for(blocks_of_one_head, places), shape.heads / shape.groups));
    int heads = 1;
    while (heads < most && at_once(heads + 1) == alone) {
        ++heads;
    }
    return heads;
}

}  // namespace

void tree_scan(const TreeScan& scan, Queue queue) {
    check(scan);
    const ScanShape& shape = scan.shape;
    if (shape.tokens > most_tokens) {
        throw std::invalid_argument("tree scan: CUDA takes at most 1024 tokens");
    }
    const int heads_of_group = shape.heads / shape.groups;
    const unsigned channel_blocks = blocks_for(shape.head_dim, tree_tile);
    const std::int64_t units = std::int64_t{shape.sequences} * channel_blocks * shape.heads;
    const bool aligned = is_aligned(scan.tokens.x) && is_aligned(scan.tokens.b) && is_aligned(scan.tokens.c) &&
                         is_aligned(scan.tokens.gate) && is_aligned(scan.y) &&
                         reinterpret_cast<std::uintptr_t>(scan.initial.data) % 16 == 0;
    with_type(scan.tokens.x.type, [&](auto activation) {
        with_type(scan.initial.type, [&](auto state) {
            using Activation = decltype(activation);
            using State = decltype(state);
            const unsigned parts = blocks_for(heads_of_group, heads_for<Activation, State>(shape, units));
            const unsigned heads_of_block = blocks_for(heads_of_group, parts);
            const TreeParameters<Activation, State> parameters{shape,
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
                                                blocks_for(shape.tokens, tree_tile)),
                                           tree_threads,
                                           TreeTiles<Activation, State>::bytes(static_cast<int>(heads_of_block), shape.tokens)};
            launch("tree scan", tree_scan_kernel<Activation, State>, launch_shape, queue, parameters);
        });
    });
}

}  // namespace treeline::kernels::cuda
