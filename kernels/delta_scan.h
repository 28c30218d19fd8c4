// The gated delta rule, for one value head with a state S of V rows of K numbers:
//
//     g = A softplus(decay_raw + bias), beta = sigmoid(beta_raw)
//     S' = exp(g_i) S_parent(i)
//     S_i = S' + beta_i (v_i - S' k_i) (x) k_i
//     y_i = S_i q_i
//
// Source: Yang, Kautz and Hatamizadeh, "Gated Delta Networks" (arXiv 2412.06464). Each row of S is a recurrence of its own, so
// tokens are stepped row by row; trees from their parents' rows, which stay on chip. Bytes and FLOPs:
// sim/layers/gated_delta.cpp.
#pragma once

#include "kernels/channel_scan.h"

namespace treeline::kernels {

struct DeltaScan {
    ScanSteps steps;  ///< states are [value_heads][value_dim][key_dim]; y value_heads * value_dim wide
    int key_heads = 1;
    int value_heads = 1;                ///< value_heads / key_heads value heads share queries and keys
    int key_dim = 128;                  ///< a multiple of 4 up to 256
    int value_dim = 128;                ///< a multiple of 4
    ConstRows q;                        ///< key_heads * key_dim wide, scaled
    ConstRows k;                        ///< likewise, of length 1 a head
    ConstRows v;                        ///< value_heads * value_dim wide
    ConstRows beta;                     ///< value_heads wide, before the sigmoid
    ConstRows decay;                    ///< value_heads wide, before bias and softplus
    const float* a = nullptr;           ///< [value_heads], negative
    const float* decay_bias = nullptr;  ///< [value_heads]; null: 0
};

/// As check(const Scan&).
void check(const DeltaScan& scan);

}  // namespace treeline::kernels
