// The fused scan in two forms. Token by token (three operations an element and token) where every state is wanted, or there is
// but one token; else all tokens at once, as the tree scan does it: outputs are products with the initial state (an operation
// an element and token), and the final state is the initial one plus weighted rows of B (likewise).
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/path_outputs.h"
#include "kernels/cpu/vector_tokens.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of a state in hand at a time: 16 x 128 floats fill a quarter of an L1 cache.
constexpr int block_rows = 16;
/// States written beyond this many bytes will not be found in a cache later: they go past it.
constexpr std::int64_t cached_states = std::int64_t{8} << 20;

bool goes_token_by_token(const Scan& scan) {
    constexpr int most_tokens_at_once = 64;  // pairs of tokens grow with the square
    return scan.write == StateWrite::every || scan.shape.tokens == 1 || scan.shape.tokens > most_tokens_at_once;
}

bool streams_states(const Scan& scan) {
    const ScanShape& shape = scan.shape;
    const std::int64_t elements =
        std::int64_t{shape.sequences} * shape.tokens * shape.heads * shape.head_dim * shape.state_size;
    return scan.write == StateWrite::every && elements * std::int64_t(bytes_of(scan.written.type)) > cached_states &&
           reinterpret_cast<std::uintptr_t>(scan.written.data) % 16 == 0;
}

/// One head of one sequence after another, by one thread.
class HeadScan {
public:
    HeadScan(const Scan& scan, const Paths& chain)
        : scan_(scan),
          shape_(scan.shape),
          token_by_token_(goes_token_by_token(scan)),
          streams_(streams_states(scan)),
          tokens_(scan.shape, scan.tokens, scan.row_of, static_cast<bool>(scan.y), !token_by_token_),
          outputs_(chain),
          block_(static_cast<std::size_t>(block_elements())),
          narrow_(static_cast<std::size_t>(block_elements())),
          weights_(static_cast<std::size_t>(block_rows) * shape_.tokens),
          products_(static_cast<std::size_t>(block_rows * padded_tokens(shape_.tokens))),
          y_(scan.y ? static_cast<std::size_t>(shape_.tokens) * shape_.head_dim : 0) {}

    ~HeadScan() { end_streams(); }
    HeadScan(const HeadScan&) = delete;
    HeadScan& operator=(const HeadScan&) = delete;

    void run(int sequence, int head) {
        const bool other_group = tokens_.move_to(sequence, head);
        if (!token_by_token_) {
            outputs_.move_to(tokens_, shape_, other_group);
        }
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        const std::int64_t final = scan_.written_to != nullptr ? scan_.written_to[sequence] : sequence;
        for (int row = 0; row < shape_.head_dim; row += block_rows) {
            if (token_by_token_) {
                fetch_ahead(element(initial, head, row));
                step_by_step(sequence, head, row, element(initial, head, row), element(final, head, row));
            } else {
                all_at_once(row, element(initial, head, row), element(final, head, row));
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
    void step_by_step(int sequence, int head, int row, std::int64_t initial, std::int64_t final) {
        load(scan_.initial.data, scan_.initial.type, initial, block_elements(), block_.data());
        for (int token = 0; token < tokens_.count(); ++token) {
            advance(token, row);
            if (scan_.write == StateWrite::every) {
                write(element(std::int64_t{sequence} * shape_.tokens + token, head, row));
            }
        }
        if (scan_.write == StateWrite::final) {
            write(final);
        }
    }

    void advance(int token, int row) {
        if (scan_.y) {
            advance_state(block_.data(), block_rows, shape_.state_size, tokens_.decay(token), tokens_.input(token) + row,
                          tokens_.b(token), tokens_.c(token), y_ + (std::int64_t{token} * shape_.head_dim + row));
        } else {
            advance_state(block_.data(), block_rows, shape_.state_size, tokens_.decay(token), tokens_.input(token) + row,
                          tokens_.b(token));
        }
    }

    void all_at_once(int row, std::int64_t initial, std::int64_t final) {
        const ConstRows states{scan_.initial.data, scan_.initial.type, 0};
        const float* block = view(states, 0, initial, block_elements(), block_.data());
        const int count = tokens_.count();
        if (scan_.y && count > 0) {
            multiply_rows_with_tokens(block, block_rows, shape_.state_size, tokens_.c_by_token(), count, products_.data(),
                                      y_ + row, shape_.head_dim, ahead_of(scan_.initial, initial));
        }
        if (scan_.write != StateWrite::final) {
            return;
        }
        for (int i = 0; i < block_rows; ++i) {
            for (int token = 0; token < count; ++token) {
                weights_[static_cast<std::size_t>(i * count + token)] =
                    outputs_.decay_from(count - 1, token) * *(tokens_.input(token) + row + i);
            }
        }
        // States in fp32 are advanced where they are wanted.
        const bool wide = scan_.written.type == ElementType::fp32;
        float* to = wide ? static_cast<float*>(scan_.written.data) + final : block_.data();
        advance_rows_over_tokens(block, to, block_rows, shape_.state_size,
                                 count > 0 ? outputs_.decay_from_start(count - 1) : 1.0F, weights_.data(), tokens_.b(0), count);
        if (!wide) {
            store(scan_.written.data, scan_.written.type, final, block_elements(), to);
        }
    }

    /// Asks for states to come, so that they arrive while this block is worked on.
    void fetch_ahead(std::int64_t first) const {
        const auto size = std::int64_t(bytes_of(scan_.initial.type));
        const auto* ahead = static_cast<const char*>(ahead_of(scan_.initial, first).from);
        for (std::int64_t at = 0; at < block_elements() * size; at += 64) {
            __builtin_prefetch(ahead + at);
        }
    }

    void write(std::int64_t first) {
        if (!streams_) {
            return store(scan_.written.data, scan_.written.type, first, block_elements(), block_.data());
        }
        const std::size_t size = bytes_of(scan_.written.type);
        const void* from = block_.data();
        if (scan_.written.type == ElementType::bf16) {
            narrow(block_.data(), reinterpret_cast<Bf16*>(narrow_.data()), block_elements());
            from = narrow_.data();
        }
        stream_block(static_cast<char*>(scan_.written.data) + std::size_t(first) * size, from,
                     std::size_t(block_elements()) * size);
    }

    [[nodiscard]] std::int64_t block_elements() const { return std::int64_t{block_rows} * shape_.state_size; }
    [[nodiscard]] std::int64_t element(std::int64_t state, int head, int row) const {
        return ((state * shape_.heads + head) * shape_.head_dim + row) * shape_.state_size;
    }

    const Scan& scan_;
    const ScanShape& shape_;
    bool token_by_token_, streams_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    Buffer block_, narrow_, weights_, products_, y_;
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
                if (scan.state_of != nullptr && scan.state_of[sequence] < 0) {
                    continue;
                }
                one.run(sequence, head);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
