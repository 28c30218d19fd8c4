#include "kernels/cpu/head_tokens.h"
#include "kernels/cpu/kernels.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of a state that are advanced over all tokens before the next are read: 16 x 128 floats fill a quarter of an L1 cache.
constexpr int block_rows = 16;

/// The scan of one head of one sequence after another, by one thread.
class HeadScan {
public:
    explicit HeadScan(const Scan& scan)
        : scan_(scan),
          shape_(scan.shape),
          tokens_(scan.shape, scan.tokens, scan.row_of, static_cast<bool>(scan.y)),
          block_(static_cast<std::size_t>(block_rows) * shape_.state_size),
          y_(scan.y ? static_cast<std::size_t>(shape_.tokens) * shape_.head_dim : 0) {}

    void run(int sequence, int head) {
        tokens_.move_to(sequence, head);
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        for (int row = 0; row < shape_.head_dim; row += block_rows) {
            load(scan_.initial.data, scan_.initial.type, element(initial, head, row), block_elements(), block_.data());
            for (int token = 0; token < tokens_.count(); ++token) {
                advance(token, row);
                if (scan_.write == StateWrite::every) {
                    write(std::int64_t{sequence} * shape_.tokens + token, head, row);
                }
            }
            if (scan_.write == StateWrite::final) {
                write(scan_.written_to != nullptr ? scan_.written_to[sequence] : sequence, head, row);
            }
        }
        for (int token = 0; scan_.y && token < tokens_.count(); ++token) {
            tokens_.finish(token, y_ + std::int64_t{token} * shape_.head_dim, scan_.y,
                           std::int64_t{sequence} * shape_.tokens + token);
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

    [[nodiscard]] std::int64_t block_elements() const { return std::int64_t{block_rows} * shape_.state_size; }
    [[nodiscard]] std::int64_t element(std::int64_t state, int head, int row) const {
        return ((state * shape_.heads + head) * shape_.head_dim + row) * shape_.state_size;
    }
    void write(std::int64_t state, int head, int row) {
        store(scan_.written.data, scan_.written.type, element(state, head, row), block_elements(), block_.data());
    }

    const Scan& scan_;
    const ScanShape& shape_;
    HeadTokens tokens_;
    Buffer block_, y_;
};

}  // namespace

void scan(const Scan& scan, Queue /*queue*/) {
    check(scan);
#pragma omp parallel
    {
        HeadScan one(scan);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < scan.shape.sequences; ++sequence) {
            for (int head = 0; head < scan.shape.heads; ++head) {
                one.run(sequence, head);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
