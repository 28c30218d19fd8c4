#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

void add_constant(float* values, int count, float constant) {
    for (int i = 0; i < count; ++i) {
        values[i] += constant;
    }
}

/// values = values / (1 + exp(-gate))
void multiply_by_sigmoid(float* __restrict values, const float* __restrict gate, int count) {
    for (int i = 0; i < count; ++i) {
        values[i] /= 1.0F + std::exp(-gate[i]);
    }
}

float norm_factor(const float* values, int count, float epsilon) {
    return 1.0F / std::sqrt(sum_of_squares(values, count) / static_cast<float>(count) + epsilon);
}

/// The halves of one head, `half` elements each.
void turn(float* __restrict low, float* __restrict high, const float* __restrict cosine, const float* __restrict sine,
          int half) {
    for (int i = 0; i < half; ++i) {
        const float x = low[i], y = high[i];
        low[i] = cosine[i] * x - sine[i] * y;
        high[i] = sine[i] * x + cosine[i] * y;
    }
}

}  // namespace

void add_bias(const AddBias& sum, Queue /*queue*/) {
    check(sum);
#pragma omp parallel
    {
        const Buffer values(static_cast<std::size_t>(sum.width));
#pragma omp for schedule(static)
        for (int row = 0; row < sum.rows; ++row) {
            load(sum.x, row, 0, sum.width, values.data());
            add(values.data(), sum.bias, sum.width);
            store(sum.x, row, 0, sum.width, values.data());
        }
    }
}

void rms_norm(const RmsNorm& norm, Queue /*queue*/) {
    check(norm);
#pragma omp parallel
    {
        const Buffer values(static_cast<std::size_t>(norm.width)), residual(static_cast<std::size_t>(norm.width));
#pragma omp for schedule(static)
        for (int row = 0; row < norm.rows; ++row) {
            load(norm.x, row, 0, norm.width, values.data());
            if (norm.residual) {
                load(norm.residual, row, 0, norm.width, residual.data());
                add(values.data(), residual.data(), norm.width);
                store(norm.residual, row, 0, norm.width, values.data());
            }
            if (norm.bias != nullptr) {
                add_constant(values.data(), norm.width, -sum(values.data(), norm.width) / static_cast<float>(norm.width));
            }
            const float factor = norm_factor(values.data(), norm.width, norm.epsilon);
            scale_by(values.data(), norm.weight, factor, values.data(), norm.width);
            if (norm.bias != nullptr) {
                add(values.data(), norm.bias, norm.width);
            }
            store(norm.output, row, 0, norm.width, values.data());
        }
    }
}

void gated_rms_norm(const GatedRmsNorm& norm, Queue /*queue*/) {
    check(norm);
    const int part = norm.width / norm.groups;
#pragma omp parallel
    {
        const Buffer values(static_cast<std::size_t>(norm.width)), gate(static_cast<std::size_t>(norm.width));
#pragma omp for schedule(static)
        for (int row = 0; row < norm.rows; ++row) {
            load(norm.x, row, 0, norm.width, values.data());
            if (norm.gate) {
                load(norm.gate, row, 0, norm.width, gate.data());
            }
            if (norm.gate && !norm.gate_after) {
                multiply_by_silu(values.data(), gate.data(), norm.width);
            }
            for (int begin = 0; begin < norm.width; begin += part) {
                float* values_of_part = values + begin;
                const float factor = norm_factor(values_of_part, part, norm.epsilon);
                scale_by(values_of_part, norm.weight + begin, factor, values_of_part, part);
            }
            if (norm.gate && norm.gate_after) {
                multiply_by_silu(values.data(), gate.data(), norm.width);
            }
            store(norm.output, row, 0, norm.width, values.data());
        }
    }
}

void rotary(const Rotary& rotary, Queue /*queue*/) {
    check(rotary);
    const int width = rotary.heads * rotary.head_dim, half = rotary.head_dim / 2;
#pragma omp parallel
    {
        const Buffer values(static_cast<std::size_t>(width));
#pragma omp for schedule(static)
        for (int row = 0; row < rotary.rows; ++row) {
            const float* cosine = rotary.table + std::int64_t{rotary.position[row]} * rotary.head_dim;
            load(rotary.x, row, 0, width, values.data());
            for (int first = 0; first < width; first += rotary.head_dim) {
                turn(values + first, values + (first + half), cosine, cosine + half, half);
            }
            store(rotary.x, row, 0, width, values.data());
        }
    }
}

void gated_activation(const GatedActivation& activation, Queue /*queue*/) {
    check(activation);
    constexpr int block = 1024;
#pragma omp parallel
    {
        const Buffer up(block), gate(block);
#pragma omp for collapse(2) schedule(static)
        for (int row = 0; row < activation.rows; ++row) {
            for (int first = 0; first < activation.width; first += block) {
                const int count = std::min(block, activation.width - first);
                load(activation.up, row, first, count, up.data());
                load(activation.gate, row, first, count, gate.data());
                if (activation.function == GateFunction::sigmoid) {
                    multiply_by_sigmoid(up.data(), gate.data(), count);
                } else {
                    multiply_by_silu(up.data(), gate.data(), count);
                }
                store(activation.output, row, first, count, up.data());
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
