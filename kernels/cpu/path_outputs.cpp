#include "kernels/cpu/path_outputs.h"

#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/vectors.h"

namespace treeline::kernels::cpu {
namespace {

/// to = decay * products + sum over the path of weight * x of its tokens: `vectors` sums of channels stay in registers, rows of
/// x are in the cache.
template <int vectors>
[[gnu::always_inline]] inline void complete_part(const float* products, float decay, const float* weights, const int* path,
                                                 int length, const float* const* x, int channel, float* to) {
    Vector16 sums[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
        load_vector(sums[i], products + channel + 16 * i);
        sums[i] *= decay;
    }
    for (int i = 0; i < length; ++i) {
        const float* of_token = x[path[i]] + channel;
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j) {
            Vector16 values;
            load_vector(values, of_token + 16 * j);
            sums[j] += weights[i] * values;
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
        store_vector(to + channel + 16 * i, sums[i]);
    }
}

TREELINE_VECTORISED void complete_all(const float* products, int head_dim, const float* decays, const float* weights,
                                      const Paths& paths, int tokens, const float* const* x, float* const* y) {
    for (int token = 0; token < tokens; ++token, products += head_dim) {
        const int begin = paths.begin[std::size_t(token)], length = paths.begin[std::size_t(token) + 1] - begin;
        const int* path = paths.ancestor.data() + begin;
        int channel = 0;
        for (; channel + 64 <= head_dim; channel += 64) {
            complete_part<4>(products, decays[token], weights + begin, path, length, x, channel, y[token]);
        }
        for (; channel < head_dim; channel += 16) {
            complete_part<1>(products, decays[token], weights + begin, path, length, x, channel, y[token]);
        }
    }
}

}  // namespace

PathOutputs::PathOutputs(const Paths& paths)
    : paths_(paths),
      cb_(paths.ancestor.size()),
      step_(paths.ancestor.size()),
      decay_from_start_(paths.parent.size()),
      weight_(paths.ancestor.size()) {}

void PathOutputs::move_to(const HeadTokens& tokens, const ScanShape& shape, bool other_group) {
    if (other_group && tokens.has_output()) {
        multiply_c_and_b(tokens, shape.state_size);
    }
    find_steps(tokens);
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
void PathOutputs::find_steps(const HeadTokens& tokens) {
    const float d = tokens.d();
    for (int token = 0; token < tokens.count(); ++token) {
        const int parent = paths_.parent[std::size_t(token)];
        const int begin = paths_.begin[std::size_t(token)], length = paths_.begin[std::size_t(token) + 1] - begin;
        const float* of_parent = step_ + (parent < 0 ? 0 : paths_.begin[std::size_t(parent)]);
        const float decay = tokens.decay(token);
        float* step = step_ + begin;
        for (int i = 0; i < length - 1; ++i) {
            step[i] = decay * of_parent[i];
        }
        step[length - 1] = tokens.dt(token);
        decay_from_start_[std::size_t(token)] = decay * (parent < 0 ? 1.0F : decay_from_start_[std::size_t(parent)]);
        if (tokens.has_output()) {
            const float* cb = cb_ + begin;
            float* weight = weight_ + begin;
            for (int i = 0; i < length; ++i) {
                weight[i] = step[i] * cb[i];
            }
            weight[length - 1] += d;
        }
    }
}

void PathOutputs::complete(const HeadTokens& tokens, int head_dim, const float* products, float* const* y) const {
    complete_all(products, head_dim, decay_from_start_.data(), weight_.data(), paths_, tokens.count(), tokens.x_rows(), y);
}

}  // namespace treeline::kernels::cpu
