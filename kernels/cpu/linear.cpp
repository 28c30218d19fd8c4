#include <cblas.h>

#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"

namespace treeline::kernels::cpu {
namespace {

/// Up to so many rows plain dot products are taken, which read the weights once, instead of a library that packs both matrices
/// first. Not a measured crossing: it differs by machine.
constexpr int rows_of_dot_products = 12;
/// Outputs that a thread computes at a time from weights widened into its cache.
constexpr int block_outputs = 64;

/// y = left right^T for matrices with one row after another.
void multiply(Matrix left, int left_rows, Matrix right, int right_rows, int width, float* y, std::int64_t y_stride) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, left_rows, right_rows, width, 1.0F, left.data,
                static_cast<int>(left.stride), right.data, static_cast<int>(right.stride), 0.0F, y, static_cast<int>(y_stride));
}

/// Rows as floats: themselves where they are, else a copy in `buffer`.
Matrix floats(ConstRows rows, std::int64_t first, int count, int width, const Buffer& buffer) {
    if (rows.type == ElementType::fp32) {
        return {static_cast<const float*>(rows.data) + first * rows.stride, rows.stride};
    }
    for (int i = 0; i < count; ++i) {
        load(rows, first + i, 0, width, buffer + std::int64_t{i} * width);
    }
    return {buffer.data(), width};
}

std::size_t widened_elements(ConstRows rows, int count, int width) {
    return rows.type == ElementType::fp32 ? 0 : std::size_t(count) * std::size_t(width);
}

/// Each thread takes blocks of outputs, whose weights it reads once.
void multiply_by_blocks(const Linear& linear) {
    const Buffer wide_x(widened_elements(linear.x, linear.rows, linear.inputs));
    const Matrix x = floats(linear.x, 0, linear.rows, linear.inputs, wide_x);
#pragma omp parallel
    {
        const Buffer wide_weight(widened_elements(linear.weight, block_outputs, linear.inputs));
        const Buffer products(std::size_t(linear.rows) * block_outputs);
        const Buffer line(block_outputs);
#pragma omp for schedule(static)
        for (int first = 0; first < linear.outputs; first += block_outputs) {
            const int count = std::min(block_outputs, linear.outputs - first);
            const Matrix weight = floats(linear.weight, first, count, linear.inputs, wide_weight);
            const bool few = linear.rows <= rows_of_dot_products;
            if (few) {
                dot_products(weight, count, x, linear.rows, linear.inputs, products.data(), linear.rows);
            } else {
                multiply(x, linear.rows, weight, count, linear.inputs, products.data(), block_outputs);
            }
            for (int row = 0; row < linear.rows; ++row) {
                for (int i = 0; few && i < count; ++i) {
                    *(line + i) = *(products + (std::int64_t{i} * linear.rows + row));
                }
                store(linear.y, row, first, count, few ? line.data() : products + std::int64_t{row} * block_outputs);
            }
        }
    }
}

}  // namespace

void linear(const Linear& linear, Queue /*queue*/) {
    check(linear);
    if (linear.weight.type == ElementType::fp32 && linear.rows > rows_of_dot_products) {
        multiply({static_cast<const float*>(linear.x.data), linear.x.stride}, linear.rows,
                 {static_cast<const float*>(linear.weight.data), linear.weight.stride}, linear.outputs, linear.inputs,
                 static_cast<float*>(linear.y.data), linear.y.stride);
    } else {
        multiply_by_blocks(linear);
    }
}

}  // namespace treeline::kernels::cpu
