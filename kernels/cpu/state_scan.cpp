// The fused scan in two forms. Step by step (three operations an element and token) where every state is wanted; else all
// tokens at once, as the tree scan does it: outputs are products with the initial state (an operation an element and token),
// and the final state is the initial one plus weighted rows of B (likewise).
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/path_outputs.h"
#include "kernels/cpu/state_steps.h"
#include "kernels/cpu/vectors.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of a state in hand at a time: 16 x 128 floats fill a quarter of an L1 cache.
constexpr int block_rows = 16;
/// States written beyond this many bytes will not be found in a cache later: they go past it.
constexpr std::int64_t cached_states = std::int64_t{8} << 20;

bool goes_step_by_step(const Scan& scan) {
    constexpr int most_tokens_at_once = 64;  // pairs of tokens grow with the square
    return scan.write == StateWrite::every || scan.shape.tokens > most_tokens_at_once;
}

std::int64_t bytes_of_states(const ScanShape& shape, ElementType type) {
    return std::int64_t{shape.sequences} * shape.heads * shape.head_dim * shape.state_size *
           static_cast<std::int64_t>(bytes_of(type));
}

bool streams_states(const Scan& scan) {
    return scan.write == StateWrite::every &&
           bytes_of_states(scan.shape, scan.written.type) * scan.shape.tokens > cached_states &&
           reinterpret_cast<std::uintptr_t>(scan.written.data) % 16 == 0;
}

/// One head of one sequence after another, by one thread.
class HeadScan {
public:
    HeadScan(const Scan& scan, const Paths& chain)
        : scan_(scan),
          shape_(scan.shape),
          step_by_step_(goes_step_by_step(scan)),
          streams_(streams_states(scan)),
          tokens_(scan.shape, scan.tokens, scan.row_of, scan.y, !step_by_step_),
          outputs_(chain),
          block_(static_cast<std::size_t>(shape_.head_dim) * shape_.state_size),
          weights_(elements_of_tokens()),
          decay_(static_cast<std::size_t>(shape_.tokens)),
          sums_(step_by_step_ ? static_cast<std::size_t>(shape_.tokens) * 64 : 0),
          products_(scan.y ? elements_of_tokens() : 0),
          rows_of_y_(static_cast<std::size_t>(shape_.tokens)) {}

    ~HeadScan() { end_streams(); }
    HeadScan(const HeadScan&) = delete;
    HeadScan& operator=(const HeadScan&) = delete;

    void run(int sequence, int head) {
        const bool other_group = tokens_.move_to(sequence, head);
        const std::int64_t initial = element(scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence, head);
        const std::int64_t final = element(scan_.written_to != nullptr ? scan_.written_to[sequence] : sequence, head);
        for (int token = 0; scan_.y && token < tokens_.count(); ++token) {
            float* products = products_ + std::int64_t{token} * shape_.head_dim;
            rows_of_y_[static_cast<std::size_t>(token)] = tokens_.place_of_sums(token, products);
        }
        if (step_by_step_) {
            go_step_by_step(initial,
                            scan_.write == StateWrite::every ? element(std::int64_t{sequence} * shape_.tokens, head) : final);
        } else {
            outputs_.move_to(tokens_, shape_, other_group);
            go_at_once(initial, final);
        }
        for (int token = 0; scan_.y && token < tokens_.count(); ++token) {
            tokens_.finish(token, rows_of_y_[static_cast<std::size_t>(token)]);
        }
    }

private:
    void go_step_by_step(std::int64_t initial, std::int64_t written) {
        for (int token = 0; token < tokens_.count(); ++token) {
            decay_[static_cast<std::size_t>(token)] = tokens_.decay(token);
            weigh(token, tokens_.dt(token));
        }
        const bool every = scan_.write == StateWrite::every;
        const Steps steps{shape_.head_dim,
                          shape_.state_size,
                          tokens_.count(),
                          decay_.data(),
                          weights_.data(),
                          tokens_.b(0),
                          scan_.y ? tokens_.c(0) : nullptr,
                          products_.data(),
                          sums_.data()};
        const StepTarget target{scan_.write == StateWrite::none ? States{} : scan_.written, written,
                                every ? std::int64_t{shape_.heads} * shape_.head_dim * shape_.state_size : 0, streams_};
        step_state(scan_.initial, initial, steps, target, tokens_.rows_ahead());
        for (int token = 0; scan_.y && token < tokens_.count(); ++token) {
            // The products are already those with the state after the token: D x alone is left to add.
            const float* products = products_ + std::int64_t{token} * shape_.head_dim;
            float* y = rows_of_y_[static_cast<std::size_t>(token)];
            for (int row = 0; row < shape_.head_dim; ++row) {
                y[row] = products[row] + tokens_.d() * tokens_.x(token)[row];
            }
        }
    }

    /// Outputs and the final state block by block of rows, so that the second read of a block finds it in the nearest cache.
    void go_at_once(std::int64_t initial, std::int64_t final) {
        const int count = tokens_.count();
        const bool advances = scan_.write == StateWrite::final, has_output = scan_.y && count > 0;
        for (int token = 0; advances && token < count; ++token) {
            weigh(token, outputs_.step_from(count - 1, token));
        }
        const int rows = advances ? block_rows : shape_.head_dim;
        for (int row = 0; row < shape_.head_dim; row += rows) {
            const std::int64_t offset = std::int64_t{row} * shape_.state_size;
            if (has_output) {
                multiply_state(scan_.initial, initial + offset, rows, tokens_.matrix(), block_.data(), products_ + row,
                               shape_.head_dim, tokens_.rows_ahead());
            }
            if (advances) {
                const float decay = count > 0 ? outputs_.decay_from_start(count - 1) : 1.0F;
                advance_state(scan_.initial, initial + offset, scan_.written, final + offset,
                              {rows, shape_.state_size, count, decay, weights_ + row, shape_.head_dim, tokens_.b(0)},
                              tokens_.rows_ahead());
            }
        }
        if (has_output) {
            outputs_.complete(tokens_, shape_.head_dim, products_.data(), rows_of_y_.data());
        }
    }

    /// weights_[token] = factor * x of the token
    void weigh(int token, float factor) {
        const float* x = tokens_.x(token);
        float* weights = weights_ + std::int64_t{token} * shape_.head_dim;
        for (int row = 0; row < shape_.head_dim; ++row) {
            weights[row] = factor * x[row];
        }
    }

    [[nodiscard]] std::size_t elements_of_tokens() const {
        return static_cast<std::size_t>(shape_.tokens) * static_cast<std::size_t>(shape_.head_dim);
    }
    [[nodiscard]] std::int64_t element(std::int64_t state, int head) const {
        return (state * shape_.heads + head) * shape_.head_dim * shape_.state_size;
    }

    const Scan& scan_;
    const ScanShape& shape_;
    bool step_by_step_, streams_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    Buffer block_, weights_, decay_, sums_, products_;
    std::vector<float*> rows_of_y_;
};

}  // namespace

void scan(const Scan& scan, Queue /*queue*/) {
    check(scan);
    const Paths chain(goes_step_by_step(scan) ? 0 : scan.shape.tokens, [](int token) { return token - 1; });
#pragma omp parallel
    {
        HeadScan one(scan, chain);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < scan.shape.sequences; ++sequence) {
            for (int head = 0; head < scan.shape.heads; ++head) {
                if (scan.state_of != nullptr && scan.state_of[sequence] < 0) {
                    continue;
                }
                one.run(sequence, head);
            }
        }
    }
}

// Token by token: nothing is gained by pairs of tokens where there are no matrix units.
void chunk_scan(const ChunkScan& chunked, Queue queue) {
    check(chunked);
    scan(token_by_token(chunked), queue);
}

}  // namespace treeline::kernels::cpu
