// Rotary position embedding: heads of queries and keys turned by angles that grow with the position (Su et al., "RoFormer",
// arXiv 2104.09864), in the half-split form of GPT-NeoX and Llama.
#pragma once

#include <vector>

#include "kernels/element.h"

namespace treeline::kernels {

/// For a head x of a row at position p, and i below head_dim / 2, with cosine c and sine s of p base^(-2i / head_dim):
///     x_i, x_{i + head_dim/2} = c x_i - s x_{i + head_dim/2}, s x_i + c x_{i + head_dim/2}
struct Rotary {
    int rows = 1;
    int heads = 1;                  ///< next to each other; queries and keys of one projection are turned together
    int head_dim = 1;               ///< even
    Rows x;                         ///< heads * head_dim wide, changed in place
    const int* position = nullptr;  ///< [rows], each a row of the table
    const float* table = nullptr;   ///< rotary_table()
};

/// [positions][head_dim]: the cosines of a position, then its sines. From double precision: an angle of 1e5 would lose three
/// digits in single.
std::vector<float> rotary_table(int positions, int head_dim, double base = 10000.0);

/// As check(const Scan&).
void check(const Rotary& rotary);

}  // namespace treeline::kernels
