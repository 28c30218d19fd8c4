#include "kernels/cpu/kernels.h"
#include "kernels/cpu/late_outputs.h"
#include "kernels/cpu/state_rows.h"

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
          late_(shape_, tokens_, outputs_),
          state_(scan.initial.type == ElementType::fp32 ? 0 : static_cast<std::size_t>(shape_.head_dim) * shape_.state_size) {}

    void run(int sequence, int head) {
        late_.make_room_for(sequence, head);
        if (tokens_.move_to(sequence, head)) {
            outputs_.multiply_c_and_b(tokens_, shape_.state_size);
        }
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        const std::int64_t first = (initial * shape_.heads + head) * shape_.head_dim * shape_.state_size;
        if (tokens_.matrix().as_rows()) {
            const RowPass pass{shape_.head_dim,
                               shape_.state_size,
                               shape_.tokens,
                               tokens_.c(0),
                               late_.products(),
                               shape_.head_dim,
                               false,
                               0,
                               1.0F,
                               nullptr,
                               0,
                               nullptr};
            pass_over_rows(scan_.initial, first, {}, 0, pass, tokens_.rows_ahead());
        } else {
            multiply_state(scan_.initial, first, shape_.head_dim, tokens_.matrix(), state_.data(), late_.products(),
                           shape_.head_dim, tokens_.rows_ahead());
        }
        late_.add(sequence, head);
    }
    void complete() { late_.complete(); }

private:
    const TreeScan& scan_;
    const ScanShape& shape_;
    HeadTokens tokens_;
    PathOutputs outputs_;
    LateOutputs late_;
    Buffer state_;
};

}  // namespace

void tree_scan(const TreeScan& scan, Queue /*queue*/) {
    check(scan);
    const Paths paths(scan.shape.tokens, [&](int token) { return scan.tree.parent[token]; });
#pragma omp parallel
    {
        HeadTreeScan one(scan, paths);
#pragma omp for collapse(2) schedule(static) nowait
        for (int sequence = 0; sequence < scan.shape.sequences; ++sequence) {
            for (int head = 0; head < scan.shape.heads; ++head) {
                one.run(sequence, head);
            }
        }
        one.complete();
    }
}

}  // namespace treeline::kernels::cpu
