#include "kernels/cpu/head_tokens.h"
#include "kernels/cpu/kernels.h"

namespace treeline::kernels::cpu {
namespace {

/// The path of each token as a list: itself last, the root first. Only these pairs of tokens interact.
struct Paths {
    std::vector<int> begin, ancestor;

    explicit Paths(const TreeView& tree) : begin{0} {
        for (int token = 0; token < tree.tokens; ++token) {
            if (const int parent = tree.parent[token]; parent >= 0) {
                for (int i = begin[std::size_t(parent)]; i < begin[std::size_t(parent) + 1]; ++i) {
                    ancestor.push_back(ancestor[std::size_t(i)]);
                }
            }
            ancestor.push_back(token);
            begin.push_back(static_cast<int>(ancestor.size()));
        }
    }
};

class HeadTreeScan {
public:
    HeadTreeScan(const TreeScan& scan, const Paths& paths)
        : scan_(scan),
          shape_(scan.shape),
          paths_(paths),
          tokens_(scan.shape, scan.tokens, nullptr, true),
          state_(static_cast<std::size_t>(shape_.head_dim) * shape_.state_size),
          y_(static_cast<std::size_t>(shape_.tokens) * shape_.head_dim),
          cb_(paths.ancestor.size()),
          decay_(paths.ancestor.size()),
          decay_from_start_(static_cast<std::size_t>(shape_.tokens)) {}

    void run(int sequence, int head) {
        tokens_.move_to(sequence, head);
        const int group = tokens_.group_of(head);
        if (sequence != sequence_ || group != group_) {
            multiply_c_and_b();
            sequence_ = sequence;
            group_ = group;
        }
        find_decays();
        const std::int64_t initial = scan_.state_of != nullptr ? scan_.state_of[sequence] : sequence;
        const std::int64_t elements = std::int64_t{shape_.head_dim} * shape_.state_size;
        const ConstRows states{scan_.initial.data, scan_.initial.type, elements};
        const float* state = view(states, initial * shape_.heads + head, 0, elements, state_.data());
        dot_products({tokens_.c(0), shape_.state_size}, shape_.tokens, {state, shape_.state_size}, shape_.head_dim,
                     shape_.state_size, y_.data(), shape_.head_dim);
        for (int token = 0; token < shape_.tokens; ++token) {
            float* y = y_ + std::int64_t{token} * shape_.head_dim;
            scale(y, shape_.head_dim, decay_from_start_[std::size_t(token)]);
            for (int i = paths_.begin[std::size_t(token)]; i < paths_.begin[std::size_t(token) + 1]; ++i) {
                add_scaled(y, tokens_.input(paths_.ancestor[std::size_t(i)]), shape_.head_dim,
                           decay_[std::size_t(i)] * cb_[std::size_t(i)]);
            }
            tokens_.finish(token, y, scan_.y, std::int64_t{sequence} * shape_.tokens + token);
        }
    }

private:
    /// <C_i, B_j> for every token i and j on its path; the heads of a group share them.
    void multiply_c_and_b() {
        for (int token = 0; token < shape_.tokens; ++token) {
            for (int i = paths_.begin[std::size_t(token)]; i < paths_.begin[std::size_t(token) + 1]; ++i) {
                dot_products({tokens_.c(token), 0}, 1, {tokens_.b(paths_.ancestor[std::size_t(i)]), 0}, 1, shape_.state_size,
                             cb_ + i, 1);
            }
        }
    }

    /// e^{L_i - L_j} along the path of i is that of its parent times the decay of i: no exponential of a sum is needed, and
    /// none can overflow.
    void find_decays() {
        for (int token = 0; token < shape_.tokens; ++token) {
            const int parent = scan_.tree.parent[token];
            const int begin = paths_.begin[std::size_t(token)];
            const int end = paths_.begin[std::size_t(token) + 1];
            const float own = tokens_.decay(token);
            for (int i = begin; i < end - 1; ++i) {
                decay_[std::size_t(i)] = own * decay_[std::size_t(paths_.begin[std::size_t(parent)] + i - begin)];
            }
            decay_[std::size_t(end - 1)] = 1.0F;
            decay_from_start_[std::size_t(token)] = own * (parent < 0 ? 1.0F : decay_from_start_[std::size_t(parent)]);
        }
    }

    const TreeScan& scan_;
    const ScanShape& shape_;
    const Paths& paths_;
    HeadTokens tokens_;
    Buffer state_, y_, cb_, decay_, decay_from_start_;
    int sequence_ = -1, group_ = -1;
};

}  // namespace

void tree_scan(const TreeScan& scan, Queue /*queue*/) {
    check(scan);
    const Paths paths(scan.tree);
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
