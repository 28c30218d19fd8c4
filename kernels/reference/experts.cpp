#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"
#include "kernels/reference/silu.h"

namespace treeline::kernels::reference {

void expert_choice(const ExpertChoice& choice, Queue /*queue*/) {
    check(choice);
    std::vector<std::vector<int*>> visits(static_cast<std::size_t>(choice.experts));  // where each slot's number goes
    for (int row = 0; row < choice.rows; ++row) {
        int* slot = choice.slot + std::int64_t{row} * choice.active;
        std::fill_n(slot, choice.active, -1);
        if (choice.present != nullptr && choice.present[row] < 0) {
            continue;
        }
        std::vector<int> ids(static_cast<std::size_t>(choice.experts));
        std::iota(ids.begin(), ids.end(), 0);
        const auto score = [&](int id) { return load(choice.logits, row, id) + (choice.bias ? choice.bias[id] : 0.0F); };
        std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return score(a) > score(b); });
        ids.resize(static_cast<std::size_t>(choice.active));
        double largest = load(choice.logits, row, ids.front()), total = 0.0;
        for (const int id : ids) {
            largest = std::max(largest, load(choice.logits, row, id));
        }
        for (const int id : ids) {
            total += std::exp(load(choice.logits, row, id) - largest);
        }
        for (int i = 0; i < choice.active; ++i) {
            const double part = std::exp(load(choice.logits, row, ids[std::size_t(i)]) - largest) / total;
            choice.weight[std::int64_t{row} * choice.active + i] = static_cast<float>(part);
            visits[std::size_t(ids[std::size_t(i)])].push_back(slot + i);
        }
    }
    int slots = 0;
    for (int expert = 0; expert < choice.experts; ++expert) {
        choice.first_slot[expert] = slots;
        for (int* place : visits[std::size_t(expert)]) {
            *place = slots;
            choice.row_of_slot[slots++] = static_cast<int>((place - choice.slot) / choice.active);
        }
    }
    choice.first_slot[choice.experts] = slots;
}

void expert_linear(const ExpertLinear& linear, Queue /*queue*/) {
    check(linear);
    for (int expert = 0; expert < linear.experts; ++expert) {
        for (int slot = linear.first_slot[expert]; slot < linear.first_slot[expert + 1]; ++slot) {
            const std::int64_t row = linear.row_of_slot != nullptr ? linear.row_of_slot[slot] : slot;
            for (int output = 0; output < linear.outputs; ++output) {
                double sum = 0.0;
                for (int input = 0; input < linear.inputs; ++input) {
                    sum +=
                        load(linear.x, row, input) * load(linear.weight, std::int64_t{expert} * linear.outputs + output, input);
                }
                store(linear.y, slot, output, sum);
            }
        }
    }
}

void expert_sum(const ExpertSum& sum, Queue /*queue*/) {
    check(sum);
    for (int row = 0; row < sum.rows; ++row) {
        for (int i = 0; i < sum.width; ++i) {
            double value = 0.0;
            for (int k = 0; k < sum.active; ++k) {
                const std::int64_t place = std::int64_t{row} * sum.active + k;
                value += sum.slot[place] < 0 ? 0.0 : sum.weight[place] * load(sum.x, sum.slot[place], i);
            }
            if (sum.shared) {
                value += load(sum.shared, row, i) * (sum.shared_gate ? sigmoid(load(sum.shared_gate, row, 0)) : 1.0);
            }
            store(sum.output, row, i, value);
        }
    }
}

}  // namespace treeline::kernels::reference
