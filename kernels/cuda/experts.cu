// A mixture of experts (kernels/experts.h). Nothing waits for the host, so a graph can hold it: the grouped linear layer has
// blocks for every expert, and those of experts that nobody visits end at once without reading a weight.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.cuh"

namespace treeline::kernels::cuda {
namespace {

constexpr int warp = 32;
constexpr int logits_of_lane = most_experts / warp;

/// Whether one expert comes before another: the larger score, of equal ones the lower number.
__device__ inline bool comes_before(float score, int id, float other_score, int other_id) {
    return score > other_score || (score == other_score && id < other_id);
}

/// A warp for each row: `active` times the best of what is left. Chosen numbers go into `slot` for now; a row that visits none
/// gets -1.
__global__ void __launch_bounds__(warp) choose_kernel(int experts, int active, Matrix<const float> logits, const float* bias,
                                                      const int* present, float* weight, int* slot) {
    const std::int64_t row = blockIdx.x;
    const int lane = static_cast<int>(threadIdx.x);
    weight += row * active;
    slot += row * active;
    if (present != nullptr && present[row] < 0) {
        if (lane < active) {
            slot[lane] = -1;
        }
        return;
    }
    float score[logits_of_lane];
#pragma unroll
    for (int i = 0; i < logits_of_lane; ++i) {
        const int id = i * warp + lane;
        score[i] = id < experts ? logits.row(row)[id] + (bias != nullptr ? bias[id] : 0.0F) : -INFINITY;
    }
    float own_logit = -INFINITY;  // of the expert that this lane's place got
    for (int place = 0; place < active; ++place) {
        float best = -INFINITY;
        int best_id = experts;
#pragma unroll
        for (int i = 0; i < logits_of_lane; ++i) {
            if (comes_before(score[i], i * warp + lane, best, best_id)) {
                best = score[i];
                best_id = i * warp + lane;
            }
        }
        for (int distance = warp / 2; distance > 0; distance /= 2) {
            const float other = __shfl_xor_sync(0xffffffffU, best, distance);
            const int other_id = __shfl_xor_sync(0xffffffffU, best_id, distance);
            if (comes_before(other, other_id, best, best_id)) {
                best = other;
                best_id = other_id;
            }
        }
#pragma unroll
        for (int i = 0; i < logits_of_lane; ++i) {
            if (i * warp + lane == best_id) {
                score[i] = -INFINITY;
            }
        }
        if (lane == place) {
            own_logit = logits.row(row)[best_id];
            slot[place] = best_id;
        }
    }
    const float largest = largest_over_lanes(own_logit, warp);
    const float part = lane < active ? expf(own_logit - largest) : 0.0F;
    const float total = sum_over_lanes(part, warp);
    if (lane < active) {
        weight[lane] = part / total;
    }
}

constexpr int experts_of_block = 8;  // one a warp

/// A warp for each expert, which walks over all places, 32 at a time: its first slot is the number of places with an expert
/// before it, and its own places follow in the order of rows, so that slots are the same in every run. Where a slot's row goes,
/// its place is left for number_kernel().
__global__ void __launch_bounds__(experts_of_block* warp)
    group_kernel(int places, int experts, const int* slot, int* place_of_slot, int* first_slot) {
    const int expert = static_cast<int>(blockIdx.x) * experts_of_block + static_cast<int>(threadIdx.x) / warp;
    const int lane = static_cast<int>(threadIdx.x) % warp;
    if (expert >= experts) {
        return;
    }
    int before = 0, own = 0;
    for (int place = lane; place < places; place += warp) {
        const int chosen = slot[place];
        before += chosen >= 0 && chosen < expert ? 1 : 0;
        own += chosen == expert ? 1 : 0;
    }
    for (int distance = warp / 2; distance > 0; distance /= 2) {
        before += __shfl_xor_sync(0xffffffffU, before, distance);
        own += __shfl_xor_sync(0xffffffffU, own, distance);
    }
    if (lane == 0) {
        first_slot[expert] = before;
        if (expert == experts - 1) {
            first_slot[experts] = before + own;
        }
    }
    int next = before;
    for (int first = 0; first < places; first += warp) {
        const bool mine = first + lane < places && slot[first + lane] == expert;
        const unsigned all = __ballot_sync(0xffffffffU, mine);
        if (mine) {
            place_of_slot[next + __popc(all & ((1U << static_cast<unsigned>(lane)) - 1U))] = first + lane;
        }
        next += __popc(all);
    }
}

constexpr int threads = 256;

/// A thread for each slot.
__global__ void __launch_bounds__(threads)
    number_kernel(int experts, int active, const int* first_slot, int* slot, int* row_of_slot) {
    const int number = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    if (number < first_slot[experts]) {
        const int place = row_of_slot[number];
        slot[place] = number;
        row_of_slot[number] = place / active;
    }
}

constexpr int outputs_of_block = 8;  // one a warp
constexpr int slots_at_once = 8;

/// blockIdx = (part of the outputs, expert): each warp multiplies one row of weights with up to 8 slots at a time.
template <class Element>
__global__ void __launch_bounds__(outputs_of_block* warp)
    expert_linear_kernel(int inputs, int outputs, Matrix<const Element> x, const int* row_of_slot, Matrix<const Element> weight,
                         const int* first_slot, Matrix<Element> y) {
    const int expert = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x) % warp;
    const int output = static_cast<int>(blockIdx.x) * outputs_of_block + static_cast<int>(threadIdx.x) / warp;
    if (output >= outputs) {
        return;
    }
    const Element* weights = weight.row(static_cast<std::int64_t>(expert) * outputs + output);
    const int end = first_slot[expert + 1];
    for (int first = first_slot[expert]; first < end; first += slots_at_once) {
        const Element* rows[slots_at_once];
        float sum[slots_at_once] = {};
#pragma unroll
        for (int i = 0; i < slots_at_once; ++i) {
            const int slot = min(first + i, end - 1);
            rows[i] = x.row(row_of_slot != nullptr ? row_of_slot[slot] : slot);
        }
        for (int at = 4 * lane; at < inputs; at += 4 * warp) {
            const float4 w = get4(weights, at);
#pragma unroll
            for (int i = 0; i < slots_at_once; ++i) {
                const float4 v = get4(rows[i], at);
                sum[i] += w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w;
            }
        }
#pragma unroll
        for (int i = 0; i < slots_at_once; ++i) {
            const float total = sum_over_lanes(sum[i], warp);
            if (lane == 0 && first + i < end) {
                put(y.row(first + i), output, total);
            }
        }
    }
}

/// blockIdx = (row, part of the row).
template <class Element>
__global__ void __launch_bounds__(threads)
    expert_sum_kernel(int width, int active, Matrix<const Element> x, const int* slot, const float* weight,
                      Matrix<const Element> shared, Matrix<const Element> shared_gate, Matrix<Element> output) {
    const std::int64_t row = blockIdx.x;
    const int i = static_cast<int>(blockIdx.y) * threads + static_cast<int>(threadIdx.x);
    if (i >= width) {
        return;
    }
    float sum = 0.0F;
    for (int k = 0; k < active; ++k) {
        const int from = slot[row * active + k];
        sum += from < 0 ? 0.0F : weight[row * active + k] * get(x.row(from), i);
    }
    if (shared) {
        sum += get(shared.row(row), i) * (shared_gate ? sigmoid(get(shared_gate.row(row), 0)) : 1.0F);
    }
    put(output.row(row), i, sum);
}

}  // namespace

void expert_choice(const ExpertChoice& choice, Queue queue) {
    check(choice);
    launch("expert choice", choose_kernel, {dim3(static_cast<unsigned>(choice.rows)), warp}, queue, choice.experts,
           choice.active, typed<float>(choice.logits), choice.bias, choice.present, choice.weight, choice.slot);
    const int places = choice.rows * choice.active;
    launch("grouping by expert", group_kernel, {dim3(blocks_for(choice.experts, experts_of_block)), experts_of_block * warp},
           queue, places, choice.experts, choice.slot, choice.row_of_slot, choice.first_slot);
    launch("numbering slots", number_kernel, {dim3(blocks_for(places, threads)), threads}, queue, choice.experts, choice.active,
           choice.first_slot, choice.slot, choice.row_of_slot);
}

void expert_linear(const ExpertLinear& linear, Queue queue) {
    check(linear);
    with_type(linear.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("linear layer of experts", expert_linear_kernel<Element>,
               {dim3(blocks_for(linear.outputs, outputs_of_block), static_cast<unsigned>(linear.experts)),
                outputs_of_block * warp},
               queue, linear.inputs, linear.outputs, typed<Element>(linear.x), linear.row_of_slot,
               typed<Element>(linear.weight), linear.first_slot, typed<Element>(linear.y));
    });
}

void expert_sum(const ExpertSum& sum, Queue queue) {
    check(sum);
    with_type(sum.x.type, [&](auto element) {
        using Element = decltype(element);
        launch("sum over experts", expert_sum_kernel<Element>,
               {dim3(static_cast<unsigned>(sum.rows), blocks_for(sum.width, threads)), threads}, queue, sum.width, sum.active,
               typed<Element>(sum.x), sum.slot, sum.weight, typed<Element>(sum.shared), typed<Element>(sum.shared_gate),
               typed<Element>(sum.output));
    });
}

}  // namespace treeline::kernels::cuda
