#include "kernels/cpu/path_outputs.h"

namespace treeline::kernels::cpu {

PathOutputs::PathOutputs(const Paths& paths)
    : paths_(paths), cb_(paths.ancestor.size()), decay_(paths.ancestor.size()), decay_from_start_(paths.parent.size()) {}

void PathOutputs::move_to(const HeadTokens& tokens, const ScanShape& shape, bool other_group) {
    if (other_group && tokens.has_output()) {
        multiply_c_and_b(tokens, shape.state_size);
    }
    find_decays(tokens);
}

/// <C_i, B_j> for every token i and j on its path; the heads of a group share them.
void PathOutputs::multiply_c_and_b(const HeadTokens& tokens, int state_size) {
    for (int token = 0; token < tokens.count(); ++token) {
        for (int i = paths_.begin[std::size_t(token)]; i < paths_.begin[std::size_t(token) + 1]; ++i) {
            dot_products({tokens.c(token), 0}, 1, {tokens.b(paths_.ancestor[std::size_t(i)]), 0}, 1, state_size, cb_ + i, 1);
        }
    }
}

/// e^{L_i - L_j} along the path of i is that of its parent times the decay of i: no exponential of a sum is needed, and none
/// can overflow.
void PathOutputs::find_decays(const HeadTokens& tokens) {
    for (int token = 0; token < tokens.count(); ++token) {
        const int parent = paths_.parent[std::size_t(token)];
        const int begin = paths_.begin[std::size_t(token)];
        const int end = paths_.begin[std::size_t(token) + 1];
        const float own = tokens.decay(token);
        for (int i = begin; i < end - 1; ++i) {
            decay_[std::size_t(i)] = own * decay_[std::size_t(paths_.begin[std::size_t(parent)] + i - begin)];
        }
        decay_[std::size_t(end - 1)] = 1.0F;
        decay_from_start_[std::size_t(token)] = own * (parent < 0 ? 1.0F : decay_from_start_[std::size_t(parent)]);
    }
}

void PathOutputs::complete(const HeadTokens& tokens, int head_dim, int token, float* y) const {
    scale(y, head_dim, decay_from_start(token));
    for (int i = paths_.begin[std::size_t(token)]; i < paths_.begin[std::size_t(token) + 1]; ++i) {
        add_scaled(y, tokens.input(paths_.ancestor[std::size_t(i)]), head_dim, decay_[std::size_t(i)] * cb_[std::size_t(i)]);
    }
}

}  // namespace treeline::kernels::cpu
