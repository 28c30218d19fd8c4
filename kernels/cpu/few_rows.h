// A linear layer of few rows: products of rows of weights, read once from memory, with rows of x that stay in the cache.
#pragma once

#include "kernels/cpu/rows.h"
#include "kernels/linear.h"

namespace treeline::kernels::cpu {

/// The rows of x as floats, 0 behind the last input up to whole vectors, and so far apart that they do not meet in the same
/// places of the cache.
class PaddedRows {
public:
    PaddedRows(ConstRows x, int rows, int inputs);
    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] int inputs() const { return inputs_; }
    [[nodiscard]] std::int64_t stride() const { return stride_; }
    [[nodiscard]] const float* row(int i) const { return values_ + i * stride_; }

private:
    int rows_, inputs_;
    std::int64_t stride_;
    Buffer values_;
};

/// Outputs that multiply_block() computes at a time.
inline constexpr int few_rows_outputs = 16;

/// Room for the sums of one thread.
class FewRowsScratch {
public:
    explicit FewRowsScratch(int rows) : sums_(std::size_t(rows) * 4 * 16) {}
    [[nodiscard]] float* sums() const { return sums_.data(); }

private:
    Buffer sums_;
};

/// products[row of x][few_rows_outputs] = x W^T for outputs `first` to first + few_rows_outputs - 1; beyond the last output
/// they are meaningless. The weights of the next outputs are prefetched meanwhile.
void multiply_block(const PaddedRows& x, ConstRows weight, int first, int outputs, const FewRowsScratch& scratch,
                    float* products);

}  // namespace treeline::kernels::cpu
