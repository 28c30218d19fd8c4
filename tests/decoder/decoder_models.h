// Small models of each architecture that the decoder runs.
#pragma once

#include <string>

#include "decoder/decode.h"

namespace treeline::testing {

inline Block attention_block(double window = unlimited) {
    Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 16;
    attention.reach.window = window;
    return {attention};
}

inline Block mamba2_block() {
    Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 16;
    mamba.state = 16;
    mamba.groups = 2;
    return {mamba};
}

inline Block mlp_block() {
    Mlp mlp;
    mlp.hidden = 96;
    return {mlp};
}

/// Four layers: "transformer", "mamba2", or "hybrid" of both in turn.
inline Model tiny_model(const std::string& architecture) {
    Model model;
    model.name = "tiny-" + architecture;
    model.vocabulary = "tiny";
    model.vocabulary_size = 96;
    model.width = 48;
    const LayerKind attention{"attention", {attention_block(), mlp_block()}};
    const LayerKind mamba{"mamba", {mamba2_block()}};
    if (architecture == "hybrid") {
        model.kinds = {mamba, attention};
        model.order = {0, 1, 0, 1};
    } else {
        model.kinds = {architecture == "mamba2" ? mamba : attention};
        model.order = {0, 0, 0, 0};
    }
    return model;
}

inline DraftTree chain_of(int draft_tokens) {
    std::vector<int> parents;
    for (int i = 0; i < draft_tokens; ++i) {
        parents.push_back(i);
    }
    return DraftTree::from_parents(parents);
}

}  // namespace treeline::testing
