// What a Network works in: one set of activations for all blocks, and the caches of each block.
#pragma once

#include <map>

#include "decoder/network.h"

namespace treeline::decoder {

/// Activations between two operations; each fits the largest pass.
struct Network::Buffers {
    kernels::Rows residual, normed, selected, logits;
    std::vector<kernels::Rows> outputs;  ///< of blocks that read the same norm, and so run side by side
    kernels::Rows wide;                  ///< queries, keys and values; gate and values of a feed-forward block
    kernels::Rows mixed;                 ///< attention or scan
    kernels::Rows gated;                 ///< after the norm of a scan, or the activation of a feed-forward block
    kernels::Rows projection, convolved;
    kernels::Rows moved;                  ///< keys and values on their way
    std::byte* windows_aside = nullptr;   ///< [most_branches] windows
    float* attention_scratch = nullptr;   ///< where the context is split
    std::map<int, const float*> turning;  ///< rotary tables by head_dim
};

/// Of one block; what its kind does not need is empty.
struct Network::Cache {
    kernels::Rows keys_values;            ///< [sequence * positions + place]: keys, then values
    kernels::Rows states;                 ///< [slot] rows of all heads' states, without gaps
    kernels::Rows windows;                ///< [slot] rows of conv_width - 1 inputs, without gaps
    kernels::Rows projection, convolved;  ///< of the last pass with keep_rows
};

/// Part of each row, from `column` on.
template <class AnyRows>
AnyRows slice(AnyRows rows, std::int64_t column) {
    using Byte = std::conditional_t<std::is_same_v<AnyRows, kernels::Rows>, std::byte, const std::byte>;
    rows.data = static_cast<Byte*>(rows.data) + column * static_cast<std::int64_t>(kernels::bytes_of(rows.type));
    return rows;
}

/// The same rows from `row` on.
inline kernels::Rows from_row(kernels::Rows rows, std::int64_t row) { return slice(rows, row * rows.stride); }

}  // namespace treeline::decoder
