// A layer of a few odd numbers by itself: weights are fp8 (1 byte), activations and caches bf16 (2), recurrent states fp32 (4),
// the width of the model 7.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/layers/attention_parts.h"
#include "sim/layers/layers.h"

namespace treeline::testing {

inline sim::LayerContext on_ranks(double ranks, sim::PassKind pass = sim::PassKind::decode) {
    sim::LayerContext context;
    context.width = 7.0;
    context.precision = sim::checkpoint_precision(sim::NumberFormat::fp8, sim::NumberFormat::bf16);
    context.ranks = ranks;
    context.pass = pass;
    context.layer = "layer";
    return context;
}

template <class Kind>
std::vector<sim::Operation> operations_with(const Kind& block, const sim::LayerContext& context) {
    std::vector<sim::Operation> operations;
    append(block, context, operations);
    return operations;
}

inline sim::Operation named(const std::vector<sim::Operation>& operations, const std::string& name) {
    for (const sim::Operation& operation : operations) {
        if (operation.name == "layer: " + name) {
            return operation;
        }
    }
    FAIL("no operation " + name);
    return {};
}

/// 4 heads of 3, queries from a latent of 5, outputs through two groups of 6, a window of 8.
inline sim::CompressedAttention compressed_attention() {
    sim::CompressedAttention attention;
    attention.heads = 4;
    attention.head_dim = 3;
    attention.q_lora_rank = 5;
    attention.output_groups = 2;
    attention.output_rank = 6;
    attention.window = 8;
    return attention;
}

}  // namespace treeline::testing
