// Scans by steps: Mamba (1) and the gated delta rule. A thread takes a block of a sequence's state that fits its cache over all
// tokens; of a tree it keeps the block after each token.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/vector_steps.h"

namespace treeline::kernels::cpu {
namespace {

float softplus(float value) { return value > 20.0F ? value : std::log1p(std::exp(value)); }

/// One block of states over the tokens of a sequence.
class BlockWalk {
public:
    BlockWalk(const ScanSteps& steps, std::int64_t elements_of_state, int most_elements)
        : steps_(steps),
          elements_of_state_(elements_of_state),
          most_elements_(most_elements),
          initial_(static_cast<std::size_t>(most_elements)),
          after_(static_cast<std::size_t>(most_elements) * std::size_t(steps.tree ? steps.tokens : 1)) {}

    /// step(state, next, row, place) for every token, for `count` elements of the state from `first` on.
    template <class Step>
    void run(int sequence, std::int64_t first, int count, Step step) {
        const std::int64_t from = steps_.state_of != nullptr ? steps_.state_of[sequence] : sequence;
        if (from < 0) {
            return;
        }
        load(steps_.initial.data, steps_.initial.type, from * elements_of_state_ + first, count, initial_.data());
        const float* last = initial_.data();
        for (int token = 0; token < steps_.tokens; ++token) {
            const std::int64_t place = std::int64_t{sequence} * steps_.tokens + token;
            const std::int64_t row = steps_.row_of != nullptr ? steps_.row_of[place] : place;
            if (row < 0) {
                break;
            }
            float* next = after_ + (steps_.tree ? std::int64_t{token} * most_elements_ : 0);
            if (steps_.tree) {
                const int parent = steps_.tree.parent[token];
                last = parent < 0 ? initial_.data() : after_ + std::int64_t{parent} * most_elements_;
            }
            step(last, next, row, place);
            last = next;
            if (steps_.write == StateWrite::every) {
                write(last, place, first, count);
            }
        }
        if (steps_.write == StateWrite::final) {
            write(last, steps_.written_to != nullptr ? steps_.written_to[sequence] : sequence, first, count);
        }
    }

private:
    void write(const float* state, std::int64_t number, std::int64_t first, int count) const {
        store(steps_.written.data, steps_.written.type, number * elements_of_state_ + first, count, state);
    }

    const ScanSteps& steps_;
    std::int64_t elements_of_state_;
    int most_elements_;
    Buffer initial_, after_;
};

/// Channels of a block: with 16 numbers each, 4 KiB of state.
constexpr int block_channels = 64;

/// A block of channels of one sequence after another, by one thread.
class ChannelWalk {
public:
    explicit ChannelWalk(const ChannelScan& scan)
        : scan_(scan),
          walk_(scan.steps, std::int64_t{scan.channels} * scan.state_size, block_channels * scan.state_size),
          decay_(static_cast<std::size_t>(block_channels * scan.state_size)),
          b_(static_cast<std::size_t>(scan.state_size)),
          c_(static_cast<std::size_t>(scan.state_size)),
          x_(block_channels),
          dt_(block_channels),
          input_(block_channels),
          y_(block_channels) {}

    void run(int sequence, int first) {
        const int count = std::min(block_channels, scan_.channels - first);
        walk_.run(sequence, std::int64_t{first} * scan_.state_size, count * scan_.state_size,
                  [&](const float* state, float* next, std::int64_t row, std::int64_t place) {
                      step(state, next, first, count, row, place);
                  });
    }

private:
    void step(const float* state, float* next, int first, int count, std::int64_t row, std::int64_t place) {
        const int size = scan_.state_size;
        const bool with_output = static_cast<bool>(scan_.steps.y);
        load(scan_.x, row, first, count, x_.data());
        load(scan_.dt, row, first, count, dt_.data());
        load(scan_.b, row, 0, size, b_.data());
        if (with_output) {
            load(scan_.c, row, 0, size, c_.data());
        }
        const float* a = scan_.a + std::int64_t{first} * size;
        for (int channel = 0; channel < count; ++channel) {
            const auto at = static_cast<std::size_t>(channel);
            const float dt = softplus(dt_[at] + (scan_.dt_bias != nullptr ? scan_.dt_bias[first + channel] : 0.0F));
            input_[at] = dt * x_[at];
            for (int n = channel * size; n < (channel + 1) * size; ++n) {
                decay_[static_cast<std::size_t>(n)] = dt * a[n];
            }
        }
        exponentials(decay_.data(), count * size, 0.0F);
        step_channels(state, next, count, size, decay_.data(), input_.data(), b_.data(), with_output ? c_.data() : nullptr,
                      y_.data());
        if (with_output) {
            finish(first, count, row, place);
        }
    }

    void finish(int first, int count, std::int64_t row, std::int64_t place) {
        if (scan_.d != nullptr) {
            multiply_add(scan_.d + first, x_.data(), y_.data(), count);
        }
        if (scan_.gate) {
            load(scan_.gate, row, first, count, input_.data());
            multiply_by_silu(y_.data(), input_.data(), count);
        }
        store(scan_.steps.y, place, first, count, y_.data());
    }

    const ChannelScan& scan_;
    BlockWalk walk_;
    Buffer decay_, b_, c_, x_, dt_, input_, y_;
};

/// Rows of a value head's state in a block: with 128 numbers each, 8 KiB.
constexpr int block_rows = 16;

class DeltaWalk {
public:
    explicit DeltaWalk(const DeltaScan& scan)
        : scan_(scan),
          walk_(scan.steps, std::int64_t{scan.value_heads} * scan.value_dim * scan.key_dim, block_rows * scan.key_dim),
          k_(static_cast<std::size_t>(scan.key_dim)),
          q_(static_cast<std::size_t>(scan.key_dim)),
          v_(block_rows),
          y_(block_rows) {}

    void run(int sequence, int head, int first) {
        const int count = std::min(block_rows, scan_.value_dim - first);
        const std::int64_t row_of_state = std::int64_t{head} * scan_.value_dim + first;
        walk_.run(sequence, row_of_state * scan_.key_dim, count * scan_.key_dim,
                  [&](const float* state, float* next, std::int64_t row, std::int64_t place) {
                      step(state, next, head, row_of_state, count, row, place);
                  });
    }

private:
    void step(const float* state, float* next, int head, std::int64_t column, int count, std::int64_t row, std::int64_t place) {
        const int key_column = head / (scan_.value_heads / scan_.key_heads) * scan_.key_dim;
        const bool with_output = static_cast<bool>(scan_.steps.y);
        float raw = 0.0F, beta = 0.0F;
        load(scan_.decay, row, head, 1, &raw);
        load(scan_.beta, row, head, 1, &beta);
        load(scan_.k, row, key_column, scan_.key_dim, k_.data());
        load(scan_.v, row, column, count, v_.data());
        if (with_output) {
            load(scan_.q, row, key_column, scan_.key_dim, q_.data());
        }
        const float bias = scan_.decay_bias != nullptr ? scan_.decay_bias[head] : 0.0F;
        step_delta_rows(state, next, count, scan_.key_dim, std::exp(scan_.a[head] * softplus(raw + bias)),
                        1.0F / (1.0F + std::exp(-beta)), k_.data(), v_.data(), with_output ? q_.data() : nullptr, y_.data());
        if (with_output) {
            store(scan_.steps.y, place, column, count, y_.data());
        }
    }

    const DeltaScan& scan_;
    BlockWalk walk_;
    Buffer k_, q_, v_, y_;
};

}  // namespace

void channel_scan(const ChannelScan& scan, Queue /*queue*/) {
    check(scan);
#pragma omp parallel
    {
        ChannelWalk block(scan);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < scan.steps.sequences; ++sequence) {
            for (int first = 0; first < scan.channels; first += block_channels) {
                block.run(sequence, first);
            }
        }
    }
}

void delta_scan(const DeltaScan& scan, Queue /*queue*/) {
    check(scan);
#pragma omp parallel
    {
        DeltaWalk block(scan);
#pragma omp for collapse(3) schedule(static)
        for (int sequence = 0; sequence < scan.steps.sequences; ++sequence) {
            for (int head = 0; head < scan.value_heads; ++head) {
                for (int first = 0; first < scan.value_dim; first += block_rows) {
                    block.run(sequence, head, first);
                }
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
