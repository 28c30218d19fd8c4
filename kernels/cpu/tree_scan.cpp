#include "kernels/cpu/kernels.h"
#include "kernels/cpu/path_outputs.h"

namespace treeline::kernels::cpu {
namespace {

/// One head of one sequence after another, by one thread: its state against all tokens, then the tokens among each other.
class HeadTreeScan {
public:
    HeadTreeScan(const TreeScan& scan, const Paths& paths)
        : scan_(scan),
          shape_(scan.shape),
          tokens_(scan.shape, scan.tokens, scan.row_of, scan.y, true),
          outputs_(paths),
          state_(scan.initial.type == ElementType::fp32 ? 0 : static_cast<std::size_t>(shape_.head_dim) * shape_.state_size),
          products_(static_cast<std::size_t>(shape_.tokens) * shape_.head_dim),
          rows_of_y_(static_cast<std::size_t>(shape_.tokens)) {}

    void run(int sequence, int head) {
        outputs_.move_to(tokens_, shape_, tokens_.move_to(sequence, head));
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        const std::int64_t first = (initial * shape_.heads + head) * shape_.head_dim * shape_.state_size;
        multiply_state(scan_.initial, first, shape_.head_dim, tokens_.matrix(), state_.data(), products_.data(),
                       shape_.head_dim, tokens_.rows_ahead());
        for (int token = 0; token < shape_.tokens; ++token) {
            float* products = products_ + std::int64_t{token} * shape_.head_dim;
            rows_of_y_[static_cast<std::size_t>(token)] = tokens_.place_of_sums(token, products);
        }
        outputs_.complete(tokens_, shape_.head_dim, products_.data(), rows_of_y_.data());
        for (int token = 0; token < shape_.tokens; ++token) {
            tokens_.finish(token, rows_of_y_[static_cast<std::size_t>(token)]);
        }
    }

private:
    const TreeScan& scan_;
    const ScanShape& shape_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    Buffer state_, products_;
    std::vector<float*> rows_of_y_;
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
