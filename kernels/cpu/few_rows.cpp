// Four rows of weights against up to six rows of x: the sums of all pairs stay in registers, inputs are in the lanes. Packing
// weights first, as libraries for large products do, would read and write them once more: few rows cannot pay for that.
#include "kernels/cpu/few_rows.h"

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of weights at a time.
constexpr int weight_rows = 4;
/// Rows of x at a time, with registers of 16 floats and of 8.
constexpr int most_wide = 6, most_narrow = 2;
constexpr int pad = 32;

int whole(int inputs) { return (inputs + pad - 1) / pad * pad; }

/// Asks for memory that is so far ahead, evenly over the steps in which the memory in hand is used. It comes into the second
/// cache only: on its way to the first it would hold back what is read from the second meanwhile (rows of x).
class AheadOfSteps {
public:
    AheadOfSteps(const void* in_hand, std::int64_t bytes, std::int64_t steps)
        : next_(static_cast<const char*>(in_hand) + std::max<std::int64_t>(bytes, bytes_ahead)),
          bytes_a_step_((bytes << shift) / std::max<std::int64_t>(steps, 1)) {}

    [[gnu::always_inline]] void step() {
        due_ += bytes_a_step_;
        for (; asked_ < due_ >> shift; asked_ += 64) {
            __builtin_prefetch(next_ + asked_, 0, 2);
        }
    }

private:
    static constexpr int shift = 8;
    const char* next_;
    std::int64_t bytes_a_step_, due_ = 0, asked_ = 0;
};

/// `vectors` vectors of inputs of four rows of weights against as many of each row of x.
template <class Vector, int vectors, class Element, int rows>
[[gnu::always_inline]] inline void add_products(Vector (&sum)[rows][weight_rows], const Element* const (&weight)[weight_rows],
                                                std::int64_t at, const float* x, std::int64_t x_stride) {
    Vector w[weight_rows][vectors];
#pragma GCC unroll 4
    for (int i = 0; i < weight_rows; ++i) {
        load_vectors(w[i], weight[i] + at);
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
#pragma GCC unroll 6
        for (int row = 0; row < rows; ++row) {
            Vector of_x;
            load_vector(of_x, x + row * x_stride + at + v * Lanes<Vector>::count);
#pragma GCC unroll 4
            for (int i = 0; i < weight_rows; ++i) {
                sum[row][i] += w[i][v] * of_x;
            }
        }
    }
}

/// Rows of weights and what of them does not fill a vector, with zeros behind.
template <class Element>
struct WeightRows {
    const Element* row[weight_rows];
    alignas(64) Element tail[weight_rows][pad];
};

/// sums[row of x][...] receives sums over parts of four lanes.
template <class Vector, class Element, int rows>
[[gnu::always_inline]] inline void multiply_rows(const WeightRows<Element>& weight, int inputs, const float* x,
                                                 std::int64_t x_stride, float* sums, std::int64_t sums_stride,
                                                 AheadOfSteps& ahead) {
    constexpr int vectors = pad / Lanes<Vector>::count;
    Vector sum[rows][weight_rows] = {};
    int at = 0;
    for (; at + pad <= inputs; at += pad) {
        ahead.step();
#pragma GCC unroll 2
        for (int part = 0; part < vectors; part += 2) {
            add_products<Vector, 2>(sum, weight.row, at + part * Lanes<Vector>::count, x, x_stride);
        }
    }
    if (at < inputs) {
        const Element* const tail[weight_rows] = {weight.tail[0], weight.tail[1], weight.tail[2], weight.tail[3]};
#pragma GCC unroll 2
        for (int part = 0; part < vectors; part += 2) {
            add_products<Vector, 2>(sum, tail, part * Lanes<Vector>::count, x + at, x_stride);
        }
    }
#pragma GCC unroll 6
    for (int row = 0; row < rows; ++row) {
        Vector parts;
        sum_parts(parts, sum[row]);
        store_vector(sums + row * sums_stride, parts);
    }
}

template <class Vector, class Element, int most>
[[gnu::always_inline]] inline void choose_rows(int rows, const WeightRows<Element>& weight, int inputs, const float* x,
                                               std::int64_t x_stride, float* sums, std::int64_t sums_stride,
                                               AheadOfSteps& ahead) {
    if constexpr (most > 1) {
        if (rows < most) {
            return choose_rows<Vector, Element, most - 1>(rows, weight, inputs, x, x_stride, sums, sums_stride, ahead);
        }
    }
    multiply_rows<Vector, Element, most>(weight, inputs, x, x_stride, sums, sums_stride, ahead);
}

/// So many rows in groups of nearly the same size.
struct Groups {
    int count, rows;
    Groups(int all, int most) : count((all + most - 1) / most), rows(all) {}
    [[nodiscard]] int first(int group) const { return static_cast<int>(std::int64_t{rows} * group / count); }
};

template <class Vector, class Element, int most>
[[gnu::always_inline]] inline void multiply_outputs(const PaddedRows& x, const Element* weight, std::int64_t weight_stride,
                                                    int first, int outputs, float* sums, float* products) {
    const int inputs = x.inputs(), in_vectors = inputs / pad * pad;
    const Groups groups(x.rows(), most);
    constexpr int quarters = few_rows_outputs / weight_rows;
    for (int quarter = 0; quarter < quarters; ++quarter) {
        WeightRows<Element> rows;
        for (int i = 0; i < weight_rows; ++i) {
            // Beyond the last output that one again, for nothing.
            rows.row[i] = weight + std::min(first + quarter * weight_rows + i, outputs - 1) * weight_stride;
            if (in_vectors < inputs) {
                std::memset(static_cast<void*>(rows.tail[i]), 0, sizeof(rows.tail[i]));
                std::memcpy(static_cast<void*>(rows.tail[i]), rows.row[i] + in_vectors,
                            static_cast<std::size_t>(inputs - in_vectors) * sizeof(Element));
            }
        }
        AheadOfSteps ahead(rows.row[0], weight_rows * weight_stride * std::int64_t{sizeof(Element)},
                           std::int64_t{groups.count} * (in_vectors / pad));
        for (int group = 0; group < groups.count; ++group) {
            const int begin = groups.first(group), count = groups.first(group + 1) - begin;
            choose_rows<Vector, Element, most>(count, rows, inputs, x.row(begin), x.stride(),
                                               sums + std::int64_t{begin} * quarters * 16 + quarter * 16, quarters * 16, ahead);
        }
    }
    for (int row = 0; row < x.rows(); ++row) {
        Vector parts[quarters];
#pragma GCC unroll 4
        for (int quarter = 0; quarter < quarters; ++quarter) {
            load_vector(parts[quarter], sums + (std::int64_t{row} * quarters + quarter) * 16);
        }
        add_parts(products + std::int64_t{row} * few_rows_outputs, parts);
    }
}

TREELINE_VECTORISED void multiply_wide(const PaddedRows& x, ConstRows weight, int first, int outputs, float* sums,
                                       float* products) {
    if (weight.type == ElementType::fp32) {
        multiply_outputs<Vector16, float, most_wide>(x, static_cast<const float*>(weight.data), weight.stride, first, outputs,
                                                     sums, products);
    } else {
        multiply_outputs<Vector16, Bf16, most_wide>(x, static_cast<const Bf16*>(weight.data), weight.stride, first, outputs,
                                                    sums, products);
    }
}

TREELINE_VECTORISED void multiply_narrow(const PaddedRows& x, ConstRows weight, int first, int outputs, float* sums,
                                         float* products) {
    if (weight.type == ElementType::fp32) {
        multiply_outputs<Vector8, float, most_narrow>(x, static_cast<const float*>(weight.data), weight.stride, first, outputs,
                                                      sums, products);
    } else {
        multiply_outputs<Vector8, Bf16, most_narrow>(x, static_cast<const Bf16*>(weight.data), weight.stride, first, outputs,
                                                     sums, products);
    }
}

}  // namespace

PaddedRows::PaddedRows(ConstRows x, int rows, int inputs)
    : rows_(rows),
      inputs_(inputs),
      stride_(whole(inputs) + 16),
      values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride_)) {
    for (int i = 0; i < rows; ++i) {
        float* to = values_ + i * stride_;
        load(x, i, 0, inputs, to);
        std::fill(to + inputs, to + stride_, 0.0F);
    }
}

void multiply_block(const PaddedRows& x, ConstRows weight, int first, int outputs, const FewRowsScratch& scratch,
                    float* products) {
    (has_wide_registers() ? multiply_wide : multiply_narrow)(x, weight, first, outputs, scratch.sums(), products);
}

}  // namespace treeline::kernels::cpu
