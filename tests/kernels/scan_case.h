// Random tokens and states for the scans, and what a scan leaves on both sides.
#pragma once

#include "kernel_case.h"

namespace treeline::testing {

struct ScanCase {
    kernels::ScanShape shape;
    kernels::ElementType activation, state;
    InputRows x, b, c, dt, gate, states;
    Both<float> a, dt_bias, d;
    bool gated;

    /// `rows` of tokens, `gap` elements apart, and `state_count` states for a scan of shape `of`.
    ScanCase(kernels::ScanShape of, int rows, int state_count, kernels::ElementType activation_type,
             kernels::ElementType state_type, std::mt19937_64& random, int gap = 16)
        : shape(of),
          activation(activation_type),
          state(state_type),
          x(rows, of.heads * of.head_dim, activation_type, random, -1, 1, gap),
          b(rows, of.groups * of.state_size, activation_type, random, -1, 1, gap),
          c(rows, of.groups * of.state_size, activation_type, random, -1, 1, gap),
          dt(rows, of.heads, activation_type, random, -4, 1),
          gate(rows, of.heads * of.head_dim, activation_type, random, -2, 2, gap),
          states(state_count, of.heads * of.head_dim * of.state_size, state_type, random, -1, 1, 0),
          a(random_floats(random, std::size_t(of.heads), -4, -0.1)),
          dt_bias(random_floats(random, std::size_t(of.heads), -1, 1)),
          d(random_floats(random, std::size_t(of.heads), -1, 1)),
          gated(random() % 2 == 0) {}

    [[nodiscard]] kernels::ScanTokens tokens(Side side) const {
        const kernels::ConstRows z = gated ? gate.on(side) : kernels::ConstRows{};
        return {x.on(side), b.on(side), c.on(side), dt.on(side), z, a.on(side), dt_bias.on(side), d.on(side)};
    }
    [[nodiscard]] kernels::ConstStates initial(Side side) const { return {states.data(side), state}; }
    [[nodiscard]] int state_elements() const { return shape.heads * shape.head_dim * shape.state_size; }
    [[nodiscard]] Output new_y() const { return {shape.sequences * shape.tokens, shape.heads * shape.head_dim, activation}; }
    [[nodiscard]] Output new_states(int count) const { return {count, state_elements(), state}; }

    /// The scan of a chain without indices, to be completed.
    [[nodiscard]] kernels::Scan scan(Side side, Output* y, kernels::StateWrite write, Output* written) const {
        kernels::Scan result;
        result.shape = shape;
        result.tokens = tokens(side);
        result.initial = initial(side);
        result.y = y != nullptr ? y->on(side) : kernels::Rows{};
        result.write = write;
        result.written = written != nullptr ? kernels::States{written->data(side), written->type(side)} : kernels::States{};
        return result;
    }
    [[nodiscard]] kernels::TreeScan tree_scan(Side side, const TreeOnBoth& tree, Output& y) const {
        kernels::TreeScan result;
        result.shape = shape;
        result.tokens = tokens(side);
        result.tree = tree.on(side);
        result.initial = initial(side);
        result.y = y.on(side);
        return result;
    }
    [[nodiscard]] double allowed_error() const { return tolerance({activation, state}); }
};

inline kernels::ScanShape random_scan_shape(std::mt19937_64& random, int sequences, int tokens) {
    const int groups = pick(random, {1, 2});
    return {sequences,
            tokens,
            groups * pick(random, {1, 2, 3}),
            pick(random, {32, 48, 64}),
            pick(random, {16, 48, 64, 112, 128, 256}),
            groups};
}

}  // namespace treeline::testing
