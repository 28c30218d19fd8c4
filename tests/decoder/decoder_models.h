// Small models of each architecture that the decoder runs.
#pragma once

#include <array>
#include <string>

#include "decoder/decode.h"

namespace treeline::testing {

inline sim::Block attention_block(double window = sim::unlimited) {
    sim::Attention attention;
    attention.query_heads = 4;
    attention.kv_heads = 2;
    attention.head_dim = 16;
    attention.reach.window = window;
    return {attention};
}

inline sim::Block mamba2_block() {
    sim::Mamba2 mamba;
    mamba.heads = 4;
    mamba.head_dim = 16;
    mamba.state = 16;
    mamba.groups = 2;
    return {mamba};
}

inline sim::Block latent_attention_block() {
    sim::LatentAttention attention;
    attention.heads = 3;
    attention.q_lora_rank = 24;
    attention.kv_lora_rank = 32;
    attention.nope_dim = 16;
    attention.rope_dim = 8;
    attention.value_dim = 12;
    return {attention};
}

inline sim::Block mlp_block() {
    sim::Mlp mlp;
    mlp.hidden = 96;
    return {mlp};
}

inline sim::Block mamba1_block() {
    sim::Mamba1 mamba;
    mamba.inner = 96;
    mamba.state = 8;
    mamba.dt_rank = 4;
    return {mamba};
}

inline sim::Block gated_delta_block() {
    sim::GatedDelta delta;
    delta.key_heads = 2;
    delta.value_heads = 4;
    delta.key_dim = 16;
    delta.value_dim = 12;
    return {delta};
}

inline sim::Block experts_block() {
    sim::MixtureOfExperts experts;
    experts.experts = 6;
    experts.active = 2;
    experts.hidden = 48;
    return {experts};
}

/// As tiny_model() knows them.
inline constexpr std::array all_architectures = {"transformer", "mamba2", "hybrid", "experts", "mamba1", "delta", "latent"};

/// Four layers: "transformer", "mamba2", "mamba1"; "hybrid", "delta" and "latent": Mamba-2, the gated delta rule or latent
/// attention in turn with a transformer; "experts": a transformer of which every second layer is a mixture.
inline sim::Model tiny_model(const std::string& architecture) {
    sim::Model model;
    model.name = "tiny-" + architecture;
    model.vocabulary = "tiny";
    model.vocabulary_size = 96;
    model.width = 48;
    const sim::LayerKind attention{"attention", {attention_block(), mlp_block()}};
    const auto one_kind = [&](const sim::Block& block) {
        model.kinds = {{"one", {block}}};
        model.order = {0, 0, 0, 0};
    };
    const auto in_turn = [&](const sim::LayerKind& first) {
        model.kinds = {first, attention};
        model.order = {0, 1, 0, 1};
    };
    if (architecture == "hybrid") {
        in_turn({"mamba", {mamba2_block()}});
    } else if (architecture == "delta") {
        in_turn({"delta", {gated_delta_block(), mlp_block()}});
    } else if (architecture == "experts") {
        in_turn({"experts", {attention_block(), experts_block()}});
    } else if (architecture == "latent") {
        in_turn({"latent", {latent_attention_block(), mlp_block()}});
    } else if (architecture == "mamba2") {
        one_kind(mamba2_block());
    } else if (architecture == "mamba1") {
        one_kind(mamba1_block());
    } else {
        model.kinds = {attention};
        model.order = {0, 0, 0, 0};
    }
    return model;
}

inline sim::DraftTree chain_of(int draft_tokens) {
    std::vector<int> parents;
    for (int i = 0; i < draft_tokens; ++i) {
        parents.push_back(i);
    }
    return sim::DraftTree::from_parents(parents);
}

}  // namespace treeline::testing
