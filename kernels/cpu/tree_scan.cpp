#include "kernels/cpu/kernels.h"
#include "kernels/cpu/path_outputs.h"
#include "kernels/cpu/vector_tokens.h"

namespace treeline::kernels::cpu {
namespace {

/// Rows of a state in hand at a time: 16 x 128 floats fill a quarter of an L1 cache.
constexpr int block_rows = 16;

/// One head of one sequence after another, by one thread.
class HeadTreeScan {
public:
    HeadTreeScan(const TreeScan& scan, const Paths& paths)
        : scan_(scan),
          shape_(scan.shape),
          tokens_(scan.shape, scan.tokens, scan.row_of, true, true),
          outputs_(paths),
          block_(static_cast<std::size_t>(block_rows) * shape_.state_size),
          products_(static_cast<std::size_t>(block_rows * padded_tokens(shape_.tokens))),
          y_(static_cast<std::size_t>(shape_.tokens) * shape_.head_dim) {}

    void run(int sequence, int head) {
        outputs_.move_to(tokens_, shape_, tokens_.move_to(sequence, head));
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        const ConstRows states{scan_.initial.data, scan_.initial.type, shape_.state_size};
        for (int row = 0; row < shape_.head_dim; row += block_rows) {
            const std::int64_t state_row = (initial * shape_.heads + head) * shape_.head_dim + row;
            const float* block = view(states, state_row, 0, std::int64_t{block_rows} * shape_.state_size, block_.data());
            multiply_rows_with_tokens(block, block_rows, shape_.state_size, tokens_.c_by_token(), shape_.tokens,
                                      products_.data(), y_ + row, shape_.head_dim,
                                      ahead_of(scan_.initial, state_row * shape_.state_size));
        }
        for (int token = 0; token < shape_.tokens; ++token) {
            float* y = y_ + std::int64_t{token} * shape_.head_dim;
            outputs_.complete(tokens_, shape_.head_dim, token, y);
            tokens_.finish(token, y, scan_.y, std::int64_t{sequence} * shape_.tokens + token);
        }
    }

private:
    const TreeScan& scan_;
    const ScanShape& shape_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    Buffer block_, products_, y_;
};

}  // namespace

void tree_scan(const TreeScan& scan, Queue /*queue*/) {
    check(scan);
    const Paths paths(scan.shape.tokens, [&](int token) { return scan.tree.parent[token]; });
#pragma omp parallel
    {
        HeadTreeScan one(scan, paths);
#pragma omp for collapse(2) schedule(static)
        for (int sequence = 0; sequence < scan.shape.sequences; ++sequence) {
            for (int head = 0; head < scan.shape.heads; ++head) {
                one.run(sequence, head);
            }
        }
    }
}

}  // namespace treeline::kernels::cpu
