#include <algorithm>

#include "kernels/cpu/few_rows.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/openblas.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

/// Up to so many rows weights are read once and never packed. Not a measured crossing: it differs by machine.
constexpr int most_few_rows = 64;
/// Outputs that a thread computes at a time from weights widened into its cache.
constexpr int block_outputs = 64;

/// y = left right^T for matrices with one row after another.
void multiply(Sgemm sgemm, Matrix left, int left_rows, Matrix right, int right_rows, int width, float* y,
              std::int64_t y_stride) {
    sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, left_rows, right_rows, width, 1.0F, left.data, static_cast<int>(left.stride),
          right.data, static_cast<int>(right.stride), 0.0F, y, static_cast<int>(y_stride));
}

/// Each thread takes blocks of outputs, one after another.
void multiply_few_rows(const Linear& linear) {
    const PaddedRows x(linear.x, linear.rows, linear.inputs);
#pragma omp parallel
    {
        const FewRowsScratch scratch(linear.rows);
        const Buffer products(std::size_t(linear.rows) * few_rows_outputs);
#pragma omp for schedule(static)
        for (int first = 0; first < linear.outputs; first += few_rows_outputs) {
            multiply_block(x, linear.weight, first, linear.outputs, scratch, products.data());
            const int count = std::min(few_rows_outputs, linear.outputs - first);
            for (int row = 0; row < linear.rows; ++row) {
                store(linear.y, row, first, count, products + std::int64_t{row} * few_rows_outputs);
            }
        }
    }
}

/// `count` rows of bf16 as floats, `width` apart.
Matrix widened(ConstRows rows, std::int64_t first, int count, int width, const Buffer& buffer) {
    for (int i = 0; i < count; ++i) {
        load(rows, first + i, 0, width, buffer + std::int64_t{i} * width);
    }
    return {buffer.data(), width};
}

/// Each thread widens blocks of outputs' weights, which it reads once.
void multiply_widened(const Linear& linear) {
    const Buffer wide_x(std::size_t(linear.rows) * std::size_t(linear.inputs));
    const Sgemm sgemm = openblas_sgemm();  // before the threads, which may not throw
    const Matrix x = widened(linear.x, 0, linear.rows, linear.inputs, wide_x);
#pragma omp parallel
    {
        const Buffer wide_weight(std::size_t(block_outputs) * std::size_t(linear.inputs));
        const Buffer products(std::size_t(linear.rows) * block_outputs);
#pragma omp for schedule(static)
        for (int first = 0; first < linear.outputs; first += block_outputs) {
            const int count = std::min(block_outputs, linear.outputs - first);
            const Matrix weight = widened(linear.weight, first, count, linear.inputs, wide_weight);
            multiply(sgemm, x, linear.rows, weight, count, linear.inputs, products.data(), block_outputs);
            for (int row = 0; row < linear.rows; ++row) {
                store(linear.y, row, first, count, products + std::int64_t{row} * block_outputs);
            }
        }
    }
}

}  // namespace

void linear(const Linear& linear, Queue /*queue*/) {
    check(linear);
    if (bytes_of(linear.x.type) == 1) {
        throw std::invalid_argument("linear layer: CPUs multiply fp32 and bf16, no 8-bit numbers");
    }
    if (linear.rows <= most_few_rows) {
        multiply_few_rows(linear);
    } else if (linear.weight.type == ElementType::fp32) {
        multiply(openblas_sgemm(), {static_cast<const float*>(linear.x.data), linear.x.stride}, linear.rows,
                 {static_cast<const float*>(linear.weight.data), linear.weight.stride}, linear.outputs, linear.inputs,
                 static_cast<float*>(linear.y.data), linear.y.stride);
    } else {
        multiply_widened(linear);
    }
}

}  // namespace treeline::kernels::cpu
