// A mixture of experts: the choice by one thread (it is a few comparisons a row), each visited expert's linear layer as any
// other on its rows gathered, and the sum in parallel over rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

/// The numbers of the `active` largest of logit + bias, the largest first, and the softmax of their logits.
void choose(const ExpertChoice& choice, int row, int* chosen) {
    const float* logits = static_cast<const float*>(choice.logits.data) + std::int64_t{row} * choice.logits.stride;
    const auto score = [&](int id) { return logits[id] + (choice.bias != nullptr ? choice.bias[id] : 0.0F); };
    int found = 0;
    for (int id = 0; id < choice.experts; ++id) {
        if (found == choice.active && !(score(id) > score(chosen[found - 1]))) {
            continue;
        }
        int place = found < choice.active ? found++ : found - 1;
        for (; place > 0 && score(id) > score(chosen[place - 1]); --place) {
            chosen[place] = chosen[place - 1];
        }
        chosen[place] = id;
    }
    float* weight = choice.weight + std::int64_t{row} * choice.active;
    std::transform(chosen, chosen + found, weight, [&](int id) { return logits[id]; });
    const float largest = *std::max_element(weight, weight + found);
    float total = 0.0F;
    for (int i = 0; i < found; ++i) {
        weight[i] = std::exp(weight[i] - largest);
        total += weight[i];
    }
    for (int i = 0; i < found; ++i) {
        weight[i] /= total;
    }
}

/// Elements of a matrix from a row on, as another matrix.
ConstRows from_row(ConstRows rows, std::int64_t first) {
    rows.data = static_cast<const char*>(rows.data) + first * rows.stride * std::int64_t(bytes_of(rows.type));
    return rows;
}
Rows from_row(Rows rows, std::int64_t first) {
    rows.data = static_cast<char*>(rows.data) + first * rows.stride * std::int64_t(bytes_of(rows.type));
    return rows;
}

}  // namespace

void expert_choice(const ExpertChoice& choice, Queue /*queue*/) {
    check(choice);
    std::vector<int> chosen(static_cast<std::size_t>(choice.rows) * std::size_t(choice.active), -1);
    std::fill_n(choice.first_slot, choice.experts + 1, 0);
    for (int row = 0; row < choice.rows; ++row) {
        if (choice.present == nullptr || choice.present[row] >= 0) {
            int* of_row = chosen.data() + std::ptrdiff_t{row} * choice.active;
            choose(choice, row, of_row);
            std::for_each_n(of_row, choice.active, [&](int id) { ++choice.first_slot[id + 1]; });
        }
    }
    for (int expert = 0; expert < choice.experts; ++expert) {
        choice.first_slot[expert + 1] += choice.first_slot[expert];
    }
    std::vector<int> next(choice.first_slot, choice.first_slot + choice.experts);
    for (std::size_t place = 0; place < chosen.size(); ++place) {
        const int id = chosen[place];
        const int slot = id < 0 ? -1 : next[static_cast<std::size_t>(id)]++;
        choice.slot[place] = slot;
        if (slot >= 0) {
            choice.row_of_slot[slot] = static_cast<int>(place) / choice.active;
        }
    }
}

void expert_linear(const ExpertLinear& linear, Queue queue) {
    check(linear);
    const std::size_t row_bytes = static_cast<std::size_t>(linear.inputs) * bytes_of(linear.x.type);
    std::vector<char> gathered;
    for (int expert = 0; expert < linear.experts; ++expert) {
        const int first = linear.first_slot[expert], count = linear.first_slot[expert + 1] - first;
        if (count == 0) {
            continue;
        }
        ConstRows x = from_row(linear.x, first);
        if (linear.row_of_slot != nullptr) {
            gathered.resize(static_cast<std::size_t>(count) * row_bytes);
            for (int i = 0; i < count; ++i) {
                const void* row = from_row(linear.x, linear.row_of_slot[first + i]).data;
                std::memcpy(gathered.data() + static_cast<std::size_t>(i) * row_bytes, row, row_bytes);
            }
            x = {gathered.data(), linear.x.type, linear.inputs};
        }
        cpu::linear({count, linear.inputs, linear.outputs, x, from_row(linear.weight, std::int64_t{expert} * linear.outputs),
                     from_row(linear.y, first)},
                    queue);
    }
}

void expert_sum(const ExpertSum& sum, Queue /*queue*/) {
    check(sum);
#pragma omp parallel
    {
        const Buffer total(static_cast<std::size_t>(sum.width)), part(static_cast<std::size_t>(sum.width));
#pragma omp for schedule(static)
        for (int row = 0; row < sum.rows; ++row) {
            std::fill_n(total.data(), sum.width, 0.0F);
            for (int k = 0; k < sum.active; ++k) {
                const std::int64_t place = std::int64_t{row} * sum.active + k;
                if (sum.slot[place] >= 0) {
                    load(sum.x, sum.slot[place], 0, sum.width, part.data());
                    add_scaled(total.data(), part.data(), sum.width, sum.weight[place]);
                }
            }
            if (sum.shared) {
                float gate = 0.0F;
                if (sum.shared_gate) {
                    load(sum.shared_gate, row, 0, 1, &gate);
                }
                load(sum.shared, row, 0, sum.width, part.data());
                add_scaled(total.data(), part.data(), sum.width, sum.shared_gate ? 1.0F / (1.0F + std::exp(-gate)) : 1.0F);
            }
            store(sum.output, row, 0, sum.width, total.data());
        }
    }
}

}  // namespace treeline::kernels::cpu
