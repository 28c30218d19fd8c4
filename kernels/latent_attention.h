// Multi-head latent attention in its absorbed form (DeepSeek-V2, arXiv 2405.04434): the cache holds one row per token, a latent
// and a turned key that all heads share. A head's query is brought into the latent's space first (HeadLinear), scored against
// whole rows, and what it gathers is the latent part alone, from which a second HeadLinear makes the head's values.
#pragma once

#include "kernels/element.h"
#include "kernels/packed_tree.h"

namespace treeline::kernels {

struct LatentAttention {
    int sequences = 1;
    int tokens = 1;  ///< new tokens of a sequence
    int heads = 1;
    int latent = 512;  ///< a multiple of 4 up to 1024
    int turned = 64;   ///< a multiple of 4
    ConstRows query;   ///< heads * (latent + turned) wide
    ConstRows cache;   ///< [sequences][capacity] rows of latent + turned elements
    int capacity = 0;
    const int* context = nullptr;  ///< as in Attention, as the next three
    TreeView tree;
    int first_token = 0;
    float scale = 0.0F;  ///< of the scores
    Rows output;         ///< heads * latent wide
};

/// y = x W^T for each head by itself: head h reads `inputs` columns from h * input_stride on and writes `outputs` from
/// h * output_stride on.
struct HeadLinear {
    int rows = 1;
    int heads = 1;
    int inputs = 1;
    int outputs = 1;
    ConstRows x;
    int input_stride = 1;
    ConstRows weight;  ///< row head * outputs + output, inputs wide, of the type of x
    Rows y;
    int output_stride = 1;
};

/// to[row][head] = from[row][head / copies]: heads that share what others have of their own.
struct RepeatHeads {
    int rows = 1;
    int heads = 1;
    int copies = 1;
    int width = 1;  ///< of a head
    ConstRows from;
    Rows to;  ///< of the type of `from`
};

/// As check(const Scan&).
void check(const LatentAttention& attention);
void check(const HeadLinear& linear);
void check(const RepeatHeads& repeat);

}  // namespace treeline::kernels
