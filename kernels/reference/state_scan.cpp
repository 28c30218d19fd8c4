#include <cmath>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"
#include "kernels/reference/silu.h"

namespace treeline::kernels::reference {
namespace {

/// One head of one sequence at a time.
struct Head {
    const ScanShape& shape;
    const ScanTokens& tokens;
    int head;

    [[nodiscard]] double dt(std::int64_t row) const {
        const double bias = tokens.dt_bias != nullptr ? tokens.dt_bias[head] : 0.0;
        const double raw = load(tokens.dt, row, head) + bias;
        return raw > 20.0 ? raw : std::log1p(std::exp(raw));
    }
    [[nodiscard]] std::int64_t x_column(int p) const { return std::int64_t{head} * shape.head_dim + p; }
    [[nodiscard]] std::int64_t projection_column(int n) const {
        return std::int64_t{head / (shape.heads / shape.groups)} * shape.state_size + n;
    }

    /// h = exp(A dt) h + dt x (x) B
    void advance(std::vector<double>& state, std::int64_t row) const {
        const double step = dt(row);
        const double decay = std::exp(tokens.a[head] * step);
        for (int p = 0; p < shape.head_dim; ++p) {
            const double x = load(tokens.x, row, x_column(p));
            for (int n = 0; n < shape.state_size; ++n) {
                double& h = state[std::size_t(p) * shape.state_size + n];
                h = decay * h + step * x * load(tokens.b, row, projection_column(n));
            }
        }
    }

    /// y = (h C + D x) silu(gate)
    void output(const std::vector<double>& state, std::int64_t row, Rows y, std::int64_t y_row) const {
        for (int p = 0; p < shape.head_dim; ++p) {
            double value = tokens.d != nullptr ? tokens.d[head] * load(tokens.x, row, x_column(p)) : 0.0;
            for (int n = 0; n < shape.state_size; ++n) {
                value += state[std::size_t(p) * shape.state_size + n] * load(tokens.c, row, projection_column(n));
            }
            if (tokens.gate) {
                value *= silu(load(tokens.gate, row, x_column(p)));
            }
            store(y, y_row, x_column(p), value);
        }
    }

    [[nodiscard]] std::int64_t first_element(std::int64_t state_number) const {
        return (state_number * shape.heads + head) * shape.head_dim * shape.state_size;
    }
    [[nodiscard]] std::vector<double> read(ConstStates states, std::int64_t number) const {
        std::vector<double> state(std::size_t(shape.head_dim) * shape.state_size);
        for (std::size_t i = 0; i < state.size(); ++i) {
            state[i] = load(states.data, states.type, first_element(number) + std::int64_t(i));
        }
        return state;
    }
    void write(const std::vector<double>& state, States states, std::int64_t number) const {
        for (std::size_t i = 0; i < state.size(); ++i) {
            store(states.data, states.type, first_element(number) + std::int64_t(i), state[i]);
        }
    }
};

}  // namespace

void scan(const Scan& scan, Queue /*queue*/) {
    check(scan);
    for (std::int64_t sequence = 0; sequence < scan.shape.sequences; ++sequence) {
        for (int head = 0; head < scan.shape.heads; ++head) {
            if (scan.state_of != nullptr && scan.state_of[sequence] < 0) {
                continue;
            }
            const Head one{scan.shape, scan.tokens, head};
            std::vector<double> state = one.read(scan.initial, scan.state_of != nullptr ? scan.state_of[sequence] : sequence);
            for (int step = 0; step < scan.shape.tokens; ++step) {
                const std::int64_t place = sequence * scan.shape.tokens + step;
                const std::int64_t row = scan.row_of != nullptr ? scan.row_of[place] : place;
                if (row < 0) {
                    break;
                }
                one.advance(state, row);
                if (scan.y) {
                    one.output(state, row, scan.y, place);
                }
                if (scan.write == StateWrite::every) {
                    one.write(state, scan.written, place);
                }
            }
            if (scan.write == StateWrite::final) {
                one.write(state, scan.written, scan.written_to != nullptr ? scan.written_to[sequence] : sequence);
            }
        }
    }
}

void chunk_scan(const ChunkScan& chunked, Queue queue) {
    check(chunked);
    scan(token_by_token(chunked), queue);
}

void tree_scan(const TreeScan& scan, Queue /*queue*/) {
    check(scan);
    for (std::int64_t sequence = 0; sequence < scan.shape.sequences; ++sequence) {
        for (int head = 0; head < scan.shape.heads; ++head) {
            const Head one{scan.shape, scan.tokens, head};
            const auto initial = one.read(scan.initial, scan.state_of != nullptr ? scan.state_of[sequence] : sequence);
            std::vector<std::vector<double>> states(std::size_t(scan.shape.tokens));
            for (int token = 0; token < scan.shape.tokens; ++token) {
                const std::int64_t place = sequence * scan.shape.tokens + token;
                const std::int64_t row = scan.row_of != nullptr ? scan.row_of[place] : place;
                states[token] = scan.tree.parent[token] < 0 ? initial : states[scan.tree.parent[token]];
                one.advance(states[token], row);
                one.output(states[token], row, scan.y, place);
            }
        }
    }
}

}  // namespace treeline::kernels::reference
