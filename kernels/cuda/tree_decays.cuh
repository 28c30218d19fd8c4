// Sums of decays along the paths of a tree, for the packed scan (tree_scan.cu).
#pragma once

#include "kernels/cuda/elements.cuh"
#include "kernels/packed_tree.h"

namespace treeline::kernels::cuda {

/// e^{L_i - L_j} needs the difference of two large sums: each is kept as the nearest float and what it leaves. In units of
/// ln 2.
struct alignas(8) DecaySum {
    float sum;
    float rest;
};

__device__ inline float decay_between(DecaySum from, DecaySum to) { return exp2f((to.sum - from.sum) + (to.rest - from.rest)); }

/// In shared memory: L and dt of tokens, for several heads.
struct TreeDecays {
    DecaySum* sums;
    float* dt;
    int* jump;
    int stride;  ///< from a head to the next

    static std::size_t bytes(int heads, int stride) {
        return static_cast<std::size_t>(stride) *
               (static_cast<std::size_t>(heads) * (sizeof(DecaySum) + sizeof(float)) + sizeof(int));
    }
    __device__ TreeDecays(void* at, int heads, int stride_)
        : sums(static_cast<DecaySum*>(at)),
          dt(reinterpret_cast<float*>(sums + heads * stride_)),
          jump(reinterpret_cast<int*>(dt + heads * stride_)),
          stride(stride_) {}

    __device__ DecaySum sum(int head, int token) const { return sums[head * stride + token]; }
    __device__ float step(int head, int token) const { return dt[head * stride + token]; }

    /// For `heads` heads, of which `a` are the rates, and the tree's first `tokens` tokens, by jumps over 1, 2, 4, … ancestors;
    /// step(head, token) is dt. All threads must call it, an eighth of heads * tokens at least. Others see it after a barrier.
    template <class Step>
    __device__ void find(const TreeView& tree, const float* a, int heads, int tokens, Step step_of) const {
        // Sums are exact until they are rounded, in the place of what they become.
        const auto exact = reinterpret_cast<double*>(sums);
        static_assert(sizeof(double) == sizeof(DecaySum));
        double sum[items_of_thread];
        int next[items_of_thread];
        const auto each = [&](auto use) {
#pragma unroll
            for (int i = 0; i < items_of_thread; ++i) {
                const int item = static_cast<int>(threadIdx.x) + i * static_cast<int>(blockDim.x);
                if (item < heads * tokens) {
                    use(i, item / tokens, item % tokens);
                }
            }
        };
        each([&](int, int head, int token) {
            const float own = step_of(head, token);
            dt[head * stride + token] = own;
            exact[head * stride + token] = own;
            if (head == 0) {
                jump[token] = tree.parent[token];
            }
        });
        __syncthreads();
        for (int reach = 1; reach < tokens; reach *= 2) {
            each([&](int i, int head, int token) {
                const int from = jump[token];
                sum[i] = exact[head * stride + token] + (from >= 0 ? exact[head * stride + from] : 0.0);
                next[i] = from >= 0 ? jump[from] : -1;
            });
            __syncthreads();
            each([&](int i, int head, int token) {
                exact[head * stride + token] = sum[i];
                if (head == 0) {
                    jump[token] = next[i];
                }
            });
            __syncthreads();
        }
        constexpr double log2_e = 1.4426950408889634;
        each([&](int, int head, int token) {
            const double scaled = a[head] * log2_e * exact[head * stride + token];
            const auto nearest = static_cast<float>(scaled);
            sums[head * stride + token] = {nearest, static_cast<float>(scaled - nearest)};
        });
    }

private:
    static constexpr int items_of_thread = 8;
};

}  // namespace treeline::kernels::cuda
