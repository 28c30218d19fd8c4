// What a Network works in: one set of activations for all blocks, and the caches of each block.
#pragma once

#include <map>
#include <type_traits>

#include "decoder/network.h"

namespace treeline::decoder {

/// Activations between two operations; each fits the largest pass.
struct Network::Buffers {
    kernels::Rows residual, normed, selected, logits;
    std::vector<kernels::Rows> outputs;  ///< of blocks that read the same norm, and so run side by side
    kernels::Rows wide;                  ///< queries, keys and values; gate and values of a feed-forward block
    kernels::Rows mixed;                 ///< attention or scan
    kernels::Rows gated;                 ///< the activation of a feed-forward block
    kernels::Rows down, latent_query;    ///< of latent attention
    RecurrentRows recurrent;
    kernels::Rows scan_outputs;           ///< where they are not in the order of the pass's rows
    kernels::Rows moved;                  ///< keys and values on their way
    std::byte* windows_aside = nullptr;   ///< [most_branches] windows
    float* attention_scratch = nullptr;   ///< where the context is split
    std::map<int, const float*> turning;  ///< rotary tables by head_dim

    struct Experts {
        kernels::Rows logits, wide, gated, outputs;   ///< but for logits, a row for each slot
        kernels::Rows latent_in, latent_out, routed;  ///< where experts work in a width of their own
        kernels::Rows shared_wide, shared_gated, shared, shared_gate;
        float* weight = nullptr;
        const float* one = nullptr;     ///< [rows] ones
        const int* own_slot = nullptr;  ///< [rows]: 0, 1, 2, ...
        int *slot = nullptr, *row_of_slot = nullptr, *first_slot = nullptr;
    } experts;
};

/// Of one block; what its kind does not need is empty.
struct Network::Cache {
    kernels::Rows keys_values;  ///< [sequence * positions + place]: keys, then values; or a latent and a key
    kernels::Rows states;       ///< [slot] rows of all heads' states, without gaps
    kernels::Rows windows;      ///< [slot] rows of conv_width - 1 inputs, without gaps
    RecurrentRows kept;         ///< [ring_rows], then the rows of the last pass with keep_rows, then one without effect
};

/// The members that are there, to change or read.
template <class Use>
void for_each_rows(RecurrentRows& rows, Use use) {
    for (kernels::Rows* member : {&rows.projection, &rows.convolved, &rows.selected, &rows.steps}) {
        if (*member) {
            use(*member);
        }
    }
}

/// Part of each row, from `column` on.
template <class AnyRows>
AnyRows slice(AnyRows rows, std::int64_t column) {
    using Byte = std::conditional_t<std::is_same_v<AnyRows, kernels::Rows>, std::byte, const std::byte>;
    rows.data = static_cast<Byte*>(rows.data) + column * static_cast<std::int64_t>(kernels::bytes_of(rows.type));
    return rows;
}

/// The same rows from `row` on.
inline kernels::Rows from_row(kernels::Rows rows, std::int64_t row) { return slice(rows, row * rows.stride); }

/// For scans that go step by step over chains and trees alike.
inline kernels::ScanSteps steps_of(const ScanPlan& plan) {
    const kernels::ConstStates initial{plan.states.data, plan.states.type};
    return {plan.sequences, plan.tokens, plan.row_of, plan.tree,   initial,
            plan.state_of,  plan.y,      plan.write,  plan.states, plan.written_to};
}

/// What decides over decay and input, Block::steps() columns.
inline kernels::Rows steps_of(const Mamba2Weights& block, const RecurrentRows& rows) {
    return slice(rows.projection, block.inner() + block.conv.channels);
}
inline kernels::Rows steps_of(const GatedDeltaWeights& block, const RecurrentRows& rows) {
    return slice(rows.projection, block.inner() + block.conv.channels);
}
inline kernels::Rows steps_of(const Mamba1Weights& /*block*/, const RecurrentRows& rows) { return rows.steps; }

}  // namespace treeline::decoder
