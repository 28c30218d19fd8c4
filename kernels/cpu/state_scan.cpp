// The fused scan in two forms. Token by token (three operations an element and token) where every state is wanted, or there is
// but one token; else all tokens at once, as the tree scan does it: outputs are products with the initial state, and the final
// state is the initial one plus weighted rows of B (an operation each).
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/path_outputs.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of a state in hand at a time, and how many such blocks ahead memory is asked for.
constexpr int block_rows = 4;
constexpr int blocks_ahead = 4;

bool goes_token_by_token(const Scan& scan) {
    constexpr int most_tokens_at_once = 64;  // pairs of tokens grow with the square
    return scan.write == StateWrite::every || scan.shape.tokens == 1 || scan.shape.tokens > most_tokens_at_once;
}

/// One head of one sequence after another, by one thread.
class HeadScan {
public:
    HeadScan(const Scan& scan, const Paths& chain)
        : scan_(scan),
          shape_(scan.shape),
          token_by_token_(goes_token_by_token(scan)),
          tokens_(scan.shape, scan.tokens, scan.row_of, static_cast<bool>(scan.y)),
          outputs_(chain),
          block_(static_cast<std::size_t>(block_rows) * shape_.state_size),
          weights_(static_cast<std::size_t>(block_rows) * shape_.tokens),
          products_(static_cast<std::size_t>(block_rows) * shape_.tokens),
          y_(scan.y ? static_cast<std::size_t>(shape_.tokens) * shape_.head_dim : 0) {}

    void run(int sequence, int head) {
        const bool other_group = tokens_.move_to(sequence, head);
        if (!token_by_token_) {
            outputs_.move_to(tokens_, shape_, other_group);
        }
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        for (int row = 0; row < shape_.head_dim; row += block_rows) {
            fetch_ahead(element(initial, head, row));
            load(scan_.initial.data, scan_.initial.type, element(initial, head, row), block_elements(), block_.data());
            if (token_by_token_) {
                for (int token = 0; token < tokens_.count(); ++token) {
                    advance(token, row);
                    if (scan_.write == StateWrite::every) {
                        write(std::int64_t{sequence} * shape_.tokens + token, head, row);
                    }
                }
            } else {
                advance_all(row);
            }
            if (scan_.write == StateWrite::final) {
                write(scan_.written_to != nullptr ? scan_.written_to[sequence] : sequence, head, row);
            }
        }
        for (int token = 0; scan_.y && token < tokens_.count(); ++token) {
            float* y = y_ + std::int64_t{token} * shape_.head_dim;
            if (!token_by_token_) {
                outputs_.complete(tokens_, shape_.head_dim, token, y);
            }
            tokens_.finish(token, y, scan_.y, std::int64_t{sequence} * shape_.tokens + token);
        }
    }

private:
    void advance(int token, int row) {
        if (scan_.y) {
            advance_state(block_.data(), block_rows, shape_.state_size, tokens_.decay(token), tokens_.input(token) + row,
                          tokens_.b(token), tokens_.c(token), y_ + (std::int64_t{token} * shape_.head_dim + row));
        } else {
            advance_state(block_.data(), block_rows, shape_.state_size, tokens_.decay(token), tokens_.input(token) + row,
                          tokens_.b(token));
        }
    }

    void advance_all(int row) {
        const int count = tokens_.count();
        if (count == 0) {
            return;
        }
        if (scan_.y) {
            multiply_with_c(tokens_, {block_.data(), shape_.state_size}, block_rows, shape_.state_size, products_.data(),
                            y_ + row, shape_.head_dim);
        }
        if (scan_.write == StateWrite::final) {
            for (int i = 0; i < block_rows; ++i) {
                for (int token = 0; token < count; ++token) {
                    weights_[static_cast<std::size_t>(i * count + token)] =
                        outputs_.decay_from(count - 1, token) * *(tokens_.input(token) + row + i);
                }
            }
            scale(block_.data(), static_cast<int>(block_elements()), outputs_.decay_from_start(count - 1));
            add_weighted({weights_.data(), count}, block_rows, {tokens_.b(0), shape_.state_size}, count, shape_.state_size,
                         block_.data(), shape_.state_size);
        }
    }

    /// Asks for states to come, so that they arrive while this block is worked on.
    void fetch_ahead(std::int64_t first) const {
        const std::size_t bytes = static_cast<std::size_t>(block_elements()) * bytes_of(scan_.initial.type);
        const char* ahead = static_cast<const char*>(scan_.initial.data) +
                            static_cast<std::size_t>(first) * bytes_of(scan_.initial.type) + blocks_ahead * bytes;
        for (std::size_t at = 0; at < bytes; at += 64) {
            __builtin_prefetch(ahead + at);
        }
    }

    [[nodiscard]] std::int64_t block_elements() const { return std::int64_t{block_rows} * shape_.state_size; }
    [[nodiscard]] std::int64_t element(std::int64_t state, int head, int row) const {
        return ((state * shape_.heads + head) * shape_.head_dim + row) * shape_.state_size;
    }
    void write(std::int64_t state, int head, int row) {
        store(scan_.written.data, scan_.written.type, element(state, head, row), block_elements(), block_.data());
    }

    const Scan& scan_;
    const ScanShape& shape_;
    bool token_by_token_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    Buffer block_, weights_, products_, y_;
};

}  // namespace

void scan(const Scan& scan, Queue /*queue*/) {
    check(scan);
    const Paths chain(goes_token_by_token(scan) ? 0 : scan.shape.tokens, [](int token) { return token - 1; });
#pragma omp parallel
    {
        HeadScan one(scan, chain);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < scan.shape.sequences; ++sequence) {
            for (int head = 0; head < scan.shape.heads; ++head) {
                one.run(sequence, head);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
