// The causal depthwise convolution before the scan of Mamba-2: for a channel c and the inputs u_{i-K+1} … u_i of its path,
//     out_i = silu(bias_c + sum over k of weight_kc u_{i-K+1+k})
#pragma once

#include "kernels/element.h"
#include "kernels/packed_tree.h"

namespace treeline::kernels {

struct ConvolutionShape {
    int sequences = 1;
    int tokens = 1;  ///< of a sequence in this pass
    int channels = 1;
    int width = 4;  ///< K, from 2 to 8
};

/// The last K - 1 inputs of each sequence, oldest first: [sequences][width - 1][channels] without gaps.
struct ConvolutionUpdate {
    ConvolutionShape shape;
    ConstRows input;                ///< channels wide
    const float* weight = nullptr;  ///< [width][channels], the oldest input's first
    const float* bias = nullptr;    ///< [channels]; null: 0
    const void* window = nullptr;   ///< of the input's type
    /// None: the tokens are a chain. Else a token's window is made of its ancestors.
    TreeView tree;
    Rows output;  ///< channels wide
    /// Where the windows after the last token go; null: they are not written. Chains only; may be `window` itself.
    void* window_after = nullptr;
};

/// Moves windows on by the accepted tokens of a verification pass.
struct ConvolutionAdvance {
    ConvolutionShape shape;
    ConstRows input;
    const int* row_of = nullptr;  ///< [sequences][tokens]: rows of the accepted tokens; a negative one ends the sequence
    void* window = nullptr;       ///< of the input's type, changed in place
};

/// As check(const Scan&).
void check(const ConvolutionUpdate& update);
void check(const ConvolutionAdvance& advance);

}  // namespace treeline::kernels
