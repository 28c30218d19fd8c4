// Linear layer, norms, activation, rotary embedding, gather and probes.
#include <cmath>
#include <cstring>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"
#include "kernels/reference/silu.h"

namespace treeline::kernels::reference {

void linear(const Linear& linear, Queue /*queue*/) {
    check(linear);
    for (int row = 0; row < linear.rows; ++row) {
        for (int output = 0; output < linear.outputs; ++output) {
            double sum = 0.0;
            for (int input = 0; input < linear.inputs; ++input) {
                sum += load(linear.x, row, input) * load(linear.weight, output, input);
            }
            store(linear.y, row, output, sum);
        }
    }
}

void add_bias(const AddBias& sum, Queue /*queue*/) {
    check(sum);
    for (int row = 0; row < sum.rows; ++row) {
        for (int i = 0; i < sum.width; ++i) {
            store(sum.x, row, i, load(sum.x, row, i) + sum.bias[i]);
        }
    }
}

void rms_norm(const RmsNorm& norm, Queue /*queue*/) {
    check(norm);
    for (int row = 0; row < norm.rows; ++row) {
        const auto sum_at = [&](int i) { return load(norm.x, row, i) + (norm.residual ? load(norm.residual, row, i) : 0.0); };
        double mean = 0.0, squares = 0.0;
        for (int i = 0; i < norm.width && norm.bias != nullptr; ++i) {
            mean += sum_at(i) / norm.width;
        }
        for (int i = 0; i < norm.width; ++i) {
            squares += (sum_at(i) - mean) * (sum_at(i) - mean);
        }
        const double factor = 1.0 / std::sqrt(squares / norm.width + norm.epsilon);
        for (int i = 0; i < norm.width; ++i) {
            const double u = sum_at(i);
            store(norm.output, row, i, norm.weight[i] * (u - mean) * factor + (norm.bias != nullptr ? norm.bias[i] : 0.0));
            if (norm.residual) {
                store(norm.residual, row, i, u);
            }
        }
    }
}

void gated_rms_norm(const GatedRmsNorm& norm, Queue /*queue*/) {
    check(norm);
    const int part = norm.width / norm.groups;
    for (int row = 0; row < norm.rows; ++row) {
        const auto factor_at = [&](int i) { return norm.gate ? silu(load(norm.gate, row, i)) : 1.0; };
        const auto gated_at = [&](int i) { return load(norm.x, row, i) * (norm.gate_after ? 1.0 : factor_at(i)); };
        for (int begin = 0; begin < norm.width; begin += part) {
            double squares = 0.0;
            for (int i = begin; i < begin + part; ++i) {
                squares += gated_at(i) * gated_at(i);
            }
            const double factor = 1.0 / std::sqrt(squares / part + norm.epsilon);
            for (int i = begin; i < begin + part; ++i) {
                store(norm.output, row, i, norm.weight[i] * gated_at(i) * factor * (norm.gate_after ? factor_at(i) : 1.0));
            }
        }
    }
}

void gated_activation(const GatedActivation& activation, Queue /*queue*/) {
    check(activation);
    for (int row = 0; row < activation.rows; ++row) {
        for (int i = 0; i < activation.width; ++i) {
            const double gate = load(activation.gate, row, i);
            const double factor = activation.function == GateFunction::sigmoid ? sigmoid(gate) : silu(gate);
            store(activation.output, row, i, factor * load(activation.up, row, i));
        }
    }
}

void rotary(const Rotary& rotary, Queue /*queue*/) {
    check(rotary);
    const int half = rotary.head_dim / 2;
    for (int row = 0; row < rotary.rows; ++row) {
        const float* of_position = rotary.table + std::int64_t{rotary.position[row]} * rotary.head_dim;
        for (int head = 0; head < rotary.heads; ++head) {
            for (int i = 0; i < half; ++i) {
                const std::int64_t low = std::int64_t{head} * rotary.head_dim + i, high = low + half;
                const double cosine = of_position[i], sine = of_position[half + i];
                const double x = load(rotary.x, row, low), y = load(rotary.x, row, high);
                store(rotary.x, row, low, cosine * x - sine * y);
                store(rotary.x, row, high, sine * x + cosine * y);
            }
        }
    }
}

void gather_rows(const GatherRows& gather, Queue /*queue*/) {
    check(gather);
    for (int i = 0; i < gather.rows; ++i) {
        const int from = gather.from_row != nullptr ? gather.from_row[i] : i;
        const int to = gather.to_row != nullptr ? gather.to_row[i] : i;
        if (from < 0 || to < 0) {
            continue;
        }
        for (int column = 0; column < gather.width; ++column) {
            store(gather.to, to, column, load(gather.from, from, column));
        }
    }
}

void empty(Queue /*queue*/) {}

void read_probe(const ReadProbe& probe, Queue /*queue*/) {
    check(probe);
    unsigned sum = 0;
    for (std::size_t i = 0; i < probe.bytes / 4; ++i) {
        sum += static_cast<const unsigned*>(probe.from)[i];
    }
    *probe.sum = sum;
}

void write_probe(const WriteProbe& probe, Queue /*queue*/) {
    check(probe);
    for (std::size_t i = 0; i < probe.bytes / 4; ++i) {
        static_cast<unsigned*>(probe.to)[i] = probe.word;
    }
}

void copy_probe(const CopyProbe& probe, Queue /*queue*/) {
    check(probe);
    std::memcpy(probe.to, probe.from, probe.bytes);
}

}  // namespace treeline::kernels::reference
