// The scans by steps: Mamba (1) and the gated delta rule.
#include <cmath>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"
#include "kernels/reference/silu.h"

namespace treeline::kernels::reference {
namespace {

double softplus(double value) { return value > 20.0 ? value : std::log1p(std::exp(value)); }

/// Walks over tokens with states of `elements`; step(state, row) changes a state, output(state, row, y_row) writes y.
template <class Step, class Output>
void walk(const ScanSteps& steps, std::int64_t elements, Step step, Output output) {
    using State = std::vector<double>;
    const auto write = [&](const State& state, std::int64_t number) {
        for (std::int64_t i = 0; i < elements; ++i) {
            store(steps.written.data, steps.written.type, number * elements + i, state[std::size_t(i)]);
        }
    };
    for (int sequence = 0; sequence < steps.sequences; ++sequence) {
        const std::int64_t from = steps.state_of != nullptr ? steps.state_of[sequence] : sequence;
        if (from < 0) {
            continue;
        }
        State initial(static_cast<std::size_t>(elements));
        for (std::int64_t i = 0; i < elements; ++i) {
            initial[std::size_t(i)] = load(steps.initial.data, steps.initial.type, from * elements + i);
        }
        std::vector<State> after;
        for (int token = 0; token < steps.tokens; ++token) {
            const std::int64_t place = std::int64_t{sequence} * steps.tokens + token;
            const std::int64_t row = steps.row_of != nullptr ? steps.row_of[place] : place;
            if (row < 0) {
                break;
            }
            const int parent = steps.tree ? steps.tree.parent[token] : token - 1;
            after.push_back(parent < 0 ? initial : after[std::size_t(parent)]);
            step(after.back(), row);
            if (steps.y) {
                output(after.back(), row, place);
            }
            if (steps.write == StateWrite::every) {
                write(after.back(), place);
            }
        }
        if (steps.write == StateWrite::final) {
            write(after.empty() ? initial : after.back(), steps.written_to != nullptr ? steps.written_to[sequence] : sequence);
        }
    }
}

}  // namespace

void channel_scan(const ChannelScan& scan, Queue /*queue*/) {
    check(scan);
    const int size = scan.state_size;
    const auto step = [&](std::vector<double>& state, std::int64_t row) {
        for (int channel = 0; channel < scan.channels; ++channel) {
            const double bias = scan.dt_bias != nullptr ? scan.dt_bias[channel] : 0.0;
            const double dt = softplus(load(scan.dt, row, channel) + bias), x = load(scan.x, row, channel);
            for (int n = 0; n < size; ++n) {
                double& h = state[std::size_t(channel) * std::size_t(size) + std::size_t(n)];
                h = std::exp(scan.a[std::int64_t{channel} * size + n] * dt) * h + dt * x * load(scan.b, row, n);
            }
        }
    };
    const auto output = [&](const std::vector<double>& state, std::int64_t row, std::int64_t y_row) {
        for (int channel = 0; channel < scan.channels; ++channel) {
            double value = scan.d != nullptr ? scan.d[channel] * load(scan.x, row, channel) : 0.0;
            for (int n = 0; n < size; ++n) {
                value += state[std::size_t(channel) * std::size_t(size) + std::size_t(n)] * load(scan.c, row, n);
            }
            store(scan.steps.y, y_row, channel, scan.gate ? value * silu(load(scan.gate, row, channel)) : value);
        }
    };
    walk(scan.steps, std::int64_t{scan.channels} * size, step, output);
}

void delta_scan(const DeltaScan& scan, Queue /*queue*/) {
    check(scan);
    const std::int64_t keys = scan.key_dim, values = scan.value_dim;
    const auto key_column = [&](int head) { return head / (scan.value_heads / scan.key_heads) * keys; };
    const auto times = [&](const std::vector<double>& state, int head, std::int64_t value, ConstRows with, std::int64_t row) {
        double sum = 0.0;
        for (std::int64_t i = 0; i < keys; ++i) {
            sum += state[std::size_t((head * values + value) * keys + i)] * load(with, row, key_column(head) + i);
        }
        return sum;
    };
    const auto step = [&](std::vector<double>& state, std::int64_t row) {
        for (int head = 0; head < scan.value_heads; ++head) {
            const double bias = scan.decay_bias != nullptr ? scan.decay_bias[head] : 0.0;
            const double decay = std::exp(scan.a[head] * softplus(load(scan.decay, row, head) + bias));
            const double beta = sigmoid(load(scan.beta, row, head));
            for (std::int64_t value = 0; value < values; ++value) {
                const double seen = decay * times(state, head, value, scan.k, row);
                const double change = beta * (load(scan.v, row, head * values + value) - seen);
                for (std::int64_t i = 0; i < keys; ++i) {
                    double& s = state[std::size_t((head * values + value) * keys + i)];
                    s = decay * s + change * load(scan.k, row, key_column(head) + i);
                }
            }
        }
    };
    const auto output = [&](const std::vector<double>& state, std::int64_t row, std::int64_t y_row) {
        for (int head = 0; head < scan.value_heads; ++head) {
            for (std::int64_t value = 0; value < values; ++value) {
                store(scan.steps.y, y_row, head * values + value, times(state, head, value, scan.q, row));
            }
        }
    };
    walk(scan.steps, scan.value_heads * values * keys, step, output);
}

}  // namespace treeline::kernels::reference
