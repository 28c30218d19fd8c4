// Verification by rejection sampling (kernels/verify.h): softmax statistics of every row in parallel, then a walk along each
// sequence's tree by a block.
#include "kernels/cuda/dynamic_shared.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int most_threads = 1024;  ///< of a block that walks along a row
constexpr int none = 0x7fffffff;

/// Of one row: what turns a logit into a probability.
struct RowStatistics {
    float largest;
    float factor;  ///< 1 / sum of exponentials

    __device__ float probability(float logit, float temperature) const {
        return expf((logit - largest) / temperature) * factor;
    }
};

__device__ RowStatistics statistics_of(const float* logits, int vocabulary, float temperature) {
    float largest = -INFINITY;
#pragma unroll 8
    for (int id = static_cast<int>(threadIdx.x); id < vocabulary; id += static_cast<int>(blockDim.x)) {
        largest = fmaxf(largest, logits[id]);
    }
    largest = largest_over_block(largest);
    float sum = 0.0F;
#pragma unroll 8
    for (int id = static_cast<int>(threadIdx.x); id < vocabulary; id += static_cast<int>(blockDim.x)) {
        sum += expf((logits[id] - largest) / temperature);
    }
    return {largest, 1.0F / sum_over_block(sum)};
}

struct RejectionParameters {
    int vocabulary;
    TreeView tree;
    int deepest_level;
    const int* draft_ids;
    Matrix<const float> target, draft;
    float temperature;
    const float* uniform;
    float4* statistics;  ///< of each row: target, then draft
    Accepted accepted;
};

/// blockIdx = (row, 0 for the target or 1 for the draft).
__global__ void __launch_bounds__(most_threads) statistics_kernel(RejectionParameters p) {
    const std::int64_t row = blockIdx.x;
    const RowStatistics found =
        statistics_of(blockIdx.y == 0 ? p.target.row(row) : p.draft.row(row), p.vocabulary, p.temperature);
    if (threadIdx.x == 0) {
        reinterpret_cast<RowStatistics*>(p.statistics + row)[blockIdx.y] = found;
    }
}

/// The target's distribution at one token after some rejections: max(p - q, 0) over its total, once for each.
struct Residual {
    const float* target;
    const float* draft;
    RowStatistics target_row, draft_row;
    float temperature;
    const float* totals;  ///< of each rejection so far
    int rejections;

    __device__ float draft_probability(int id) const { return draft_row.probability(draft[id], temperature); }
    __device__ float probability(int id) const {
        float p = target_row.probability(target[id], temperature);
        const float q = rejections > 0 ? draft_probability(id) : 0.0F;
#pragma unroll 1
        for (int i = 0; i < rejections; ++i) {
            p = fmaxf(p - q, 0.0F) / totals[i];
        }
        return p;
    }
};

/// The id at which the running sum of the distribution passes `uniform`, or the last possible one. For a whole block.
__device__ int draw(const Residual& distribution, int vocabulary, float uniform) {
    __shared__ float of_warp[most_threads / 32];
    __shared__ int found, last;
    if (threadIdx.x == 0) {
        found = none;
        last = 0;
    }
    float before = 0.0F;
    for (int first = 0; first < vocabulary; first += static_cast<int>(blockDim.x)) {
        const int id = first + static_cast<int>(threadIdx.x);
        const float p = id < vocabulary ? distribution.probability(id) : 0.0F;
        float running = p;
        for (int distance = 1; distance < 32; distance *= 2) {
            const float lower = __shfl_up_sync(0xffffffffU, running, static_cast<unsigned>(distance));
            running += static_cast<int>(threadIdx.x) % 32 >= distance ? lower : 0.0F;
        }
        __syncthreads();
        if (threadIdx.x % 32 == 31) {
            of_warp[threadIdx.x / 32] = running;
        }
        __syncthreads();
        float tile_total = 0.0F;
#pragma unroll 4
        for (int warp = 0; warp < static_cast<int>(blockDim.x) / 32; ++warp) {
            running += warp < static_cast<int>(threadIdx.x) / 32 ? of_warp[warp] : 0.0F;
            tile_total += of_warp[warp];
        }
        if (p > 0.0F) {
            atomicMax(&last, id);
            if (before + running > uniform) {
                atomicMin(&found, id);
            }
        }
        before += tile_total;
        __syncthreads();
        if (found != none) {
            break;
        }
    }
    return found != none ? found : last;
}

/// blockIdx = sequence.
__global__ void __launch_bounds__(most_threads) rejection_walk_kernel(RejectionParameters p) {
    float* totals = dynamic_shared<float>();
    const int sequence = static_cast<int>(blockIdx.x);
    const std::int64_t first_row = static_cast<std::int64_t>(sequence) * p.tree.tokens;
    const float* uniform = p.uniform + first_row + sequence;
    int* path = p.accepted.path + static_cast<std::int64_t>(sequence) * (p.deepest_level + 1);
    Residual distribution{};
    int count = 0;
    for (int token = 0; token != none; ++count) {
        if (threadIdx.x == 0) {
            path[count] = token;
        }
        const auto* rows = reinterpret_cast<const RowStatistics*>(p.statistics + first_row + token);
        distribution = {
            p.target.row(first_row + token), p.draft.row(first_row + token), rows[0], rows[1], p.temperature, totals, 0};
        int standing = none;
        for (int child = token + 1; child < p.tree.tokens && standing == none; ++child) {
            if (p.tree.parent[child] != token) {
                continue;
            }
            const int id = p.draft_ids[first_row + child];
            if (uniform[child] * distribution.draft_probability(id) < distribution.probability(id)) {
                standing = child;
                continue;
            }
            float total = 0.0F;
#pragma unroll 1
            for (int other = static_cast<int>(threadIdx.x); other < p.vocabulary; other += static_cast<int>(blockDim.x)) {
                total += fmaxf(distribution.probability(other) - distribution.draft_probability(other), 0.0F);
            }
            total = sum_over_block(total);
            // Rounding may leave nothing: the distribution then stays.
            if (total > 0.0F) {
                __syncthreads();
                if (threadIdx.x == 0) {
                    totals[distribution.rejections] = total;
                }
                __syncthreads();
                ++distribution.rejections;
            }
        }
        token = standing;
        if (token == none) {
            break;
        }
    }
    const int next_id = draw(distribution, p.vocabulary, uniform[p.tree.tokens]);
    for (int i = count + 1 + static_cast<int>(threadIdx.x); i <= p.deepest_level; i += static_cast<int>(blockDim.x)) {
        path[i] = -1;
    }
    if (threadIdx.x == 0) {
        p.accepted.count[sequence] = count;
        p.accepted.next_id[sequence] = next_id;
    }
}

}  // namespace

void rejection_verification(const RejectionVerification& verification, Queue queue) {
    check(verification);
    const auto sequences = static_cast<unsigned>(verification.sequences),
               tokens = static_cast<unsigned>(verification.tree.tokens);
    const RejectionParameters parameters{verification.vocabulary,
                                         verification.tree,
                                         verification.deepest_level,
                                         verification.draft_ids,
                                         typed<float>(verification.target_logits),
                                         typed<float>(verification.draft_logits),
                                         verification.temperature,
                                         verification.uniform,
                                         reinterpret_cast<float4*>(verification.row_statistics),
                                         verification.accepted};
    const unsigned along_a_row = threads_along(verification.vocabulary);
    launch("softmax statistics", statistics_kernel, {dim3(sequences * tokens, 2), along_a_row}, queue, parameters);
    launch("rejection verification", rejection_walk_kernel, {dim3(sequences), along_a_row, tokens * sizeof(float)}, queue,
           parameters);
}

}  // namespace treeline::kernels::cuda
