// The part of a scan's outputs that comes from tokens of the same pass: y_i += sum over j on the path of i of
// e^{L_i - L_j} dt_j <C_i, B_j> x_j (kernels/state_scan.h), for trees and for chains, which are trees of one path.
#pragma once

#include <vector>

#include "kernels/cpu/head_tokens.h"

namespace treeline::kernels::cpu {

/// The path of each token as a list: itself last, the root first. Only these pairs of tokens interact.
struct Paths {
    std::vector<int> parent, begin, ancestor;

    /// parent_of(token) is -1 for the first token.
    template <class ParentOf>
    Paths(int tokens, ParentOf parent_of) : begin{0} {
        for (int token = 0; token < tokens; ++token) {
            parent.push_back(parent_of(token));
            if (parent.back() >= 0) {
                const auto of_parent = static_cast<std::size_t>(parent.back());
                for (int i = begin[of_parent]; i < begin[of_parent + 1]; ++i) {
                    ancestor.push_back(ancestor[static_cast<std::size_t>(i)]);
                }
            }
            ancestor.push_back(token);
            begin.push_back(static_cast<int>(ancestor.size()));
        }
    }
};

/// One sequence and head at a time, as HeadTokens.
class PathOutputs {
public:
    explicit PathOutputs(const Paths& paths);

    /// After tokens.move_to(), which says whether B and C are others than before.
    void move_to(const HeadTokens& tokens, const ScanShape& shape, bool other_group);
    /// `products` holds <C, h_0 row> for each token and channel, head_dim (a multiple of 16) per token; a token's row of `y`
    /// receives the sum over states and tokens, D x included.
    void complete(const HeadTokens& tokens, int head_dim, const float* products, float* const* y) const;
    /// e^{L_token}, the decay from the initial state on.
    [[nodiscard]] float decay_from_start(int token) const { return decay_from_start_[static_cast<std::size_t>(token)]; }
    /// e^{L_token - L_other} dt_other for the `level`-th token of a token's path.
    [[nodiscard]] float step_from(int token, int level) const {
        return step_[static_cast<std::size_t>(paths_.begin[static_cast<std::size_t>(token)] + level)];
    }

private:
    void multiply_c_and_b(const HeadTokens& tokens, int state_size);
    void find_steps(const HeadTokens& tokens);

    const Paths& paths_;
    Buffer cb_, step_, decay_from_start_, weight_;
};

}  // namespace treeline::kernels::cpu
