// Greedy verification (kernels/verify.h): the argmax of every row in parallel, then a walk along each sequence's tree. A
// drafter's choices are the argmax, again and again among what is left.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int most_threads = 1024;  ///< of a block that searches a row
constexpr int none = 0x7fffffff;

/// The larger value, or of equal ones the lower id.
struct Best {
    float value;
    int id;
    __device__ void take(float other, int other_id) {
        if (other > value || (other == value && other_id < id)) {
            value = other;
            id = other_id;
        }
    }
    __device__ void take_from_warp() {
        for (int distance = 16; distance > 0; distance /= 2) {
            const float other = __shfl_xor_sync(0xffffffffU, value, distance);
            take(other, __shfl_xor_sync(0xffffffffU, id, distance));
        }
    }
};

/// blockIdx = row: its `choices` best, one after the other. Each search leaves out what is not behind the one found before.
template <class Element>
__global__ void __launch_bounds__(most_threads)
    top_kernel(int vocabulary, Matrix<const Element> logits, int choices, int* ids) {
    __shared__ Best of_warp[most_threads / 32];
    __shared__ Best found;
    Best before{INFINITY, -1};
    for (int choice = 0; choice < choices; ++choice) {
        Best best{-INFINITY, none};
#pragma unroll 8
        for (int id = static_cast<int>(threadIdx.x); id < vocabulary; id += static_cast<int>(blockDim.x)) {
            const float value = get(logits.row(blockIdx.x), id);
            if (value < before.value || (value == before.value && id > before.id)) {
                best.take(value, id);
            }
        }
        best.take_from_warp();
        if (threadIdx.x % 32 == 0) {
            of_warp[threadIdx.x / 32] = best;
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            best = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : Best{-INFINITY, none};
            best.take_from_warp();
            if (threadIdx.x == 0) {
                ids[static_cast<std::int64_t>(blockIdx.x) * choices + choice] = best.id;
                found = best;
            }
        }
        __syncthreads();
        before = found;
    }
}

/// One warp: the lowest child of `parent` for which `stands` holds, or `none`. All lanes get it.
template <class Stands>
__device__ int find_child(const TreeView& tree, int parent, Stands stands) {
    for (int first = parent + 1; first < tree.tokens; first += 32) {
        const int child = first + static_cast<int>(threadIdx.x) % 32;
        const unsigned hits = __ballot_sync(0xffffffffU, child < tree.tokens && tree.parent[child] == parent && stands(child));
        if (hits != 0) {
            return first + __ffs(static_cast<int>(hits)) - 1;
        }
    }
    return none;
}

/// blockIdx = sequence; one warp.
__global__ void greedy_walk_kernel(TreeView tree, int deepest_level, const int* draft_ids, const int* argmax,
                                   Accepted accepted) {
    const int sequence = static_cast<int>(blockIdx.x);
    const int* ids = draft_ids + static_cast<std::int64_t>(sequence) * tree.tokens;
    const int* best = argmax + static_cast<std::int64_t>(sequence) * tree.tokens;
    int* path = accepted.path + static_cast<std::int64_t>(sequence) * (deepest_level + 1);
    int token = 0, count = 0;
    for (int child = 0; child != none; ++count) {
        token = child;
        if (threadIdx.x == 0) {
            path[count] = token;
        }
        child = find_child(tree, token, [&](int candidate) { return ids[candidate] == best[token]; });
    }
    for (int i = count + static_cast<int>(threadIdx.x); i <= deepest_level; i += 32) {
        path[i] = -1;
    }
    if (threadIdx.x == 0) {
        accepted.count[sequence] = count - 1;
        accepted.next_id[sequence] = best[token];
    }
}

}  // namespace

void top_choices(const TopChoices& choices, Queue queue) {
    check(choices);
    with_type(choices.logits.type, [&](auto element) {
        using Element = decltype(element);
        launch("top choices", top_kernel<Element>,
               {dim3(static_cast<unsigned>(choices.rows)), threads_along(choices.vocabulary)}, queue, choices.vocabulary,
               typed<Element>(choices.logits), choices.choices, choices.ids);
    });
}

void greedy_verification(const GreedyVerification& verification, Queue queue) {
    check(verification);
    const auto sequences = static_cast<unsigned>(verification.sequences);
    with_type(verification.logits.type, [&](auto element) {
        using Element = decltype(element);
        launch("argmax", top_kernel<Element>,
               {dim3(sequences * static_cast<unsigned>(verification.tree.tokens)), threads_along(verification.vocabulary)},
               queue, verification.vocabulary, typed<Element>(verification.logits), 1, verification.argmax);
    });
    launch("greedy verification", greedy_walk_kernel, {dim3(sequences), 32}, queue, verification.tree,
           verification.deepest_level, verification.draft_ids, verification.argmax, verification.accepted);
}

}  // namespace treeline::kernels::cuda
