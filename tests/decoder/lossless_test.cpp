// With greedy acceptance, does every way of speculating produce plain greedy decoding, token for token?
#include <catch2/catch.hpp>

#include "lossless_check.h"

namespace lossless_test {

using namespace treeline;
using namespace treeline::testing;
using namespace treeline::decoder;

TEST_CASE("self-speculation by fewer layers changes no token, on every architecture, shape, verification and policy",
          "[slow]") {
    for (const char* architecture : all_architectures) {
        const std::string_view model = architecture;
        const Yardstick plain_run = yardstick(small_setup(tiny_model(architecture)));
        for (const sim::DraftTree& tree : shapes()) {
            // Masks of several words concern attention and the tree scan, which these three have.
            const bool sees_wide_trees = model == "transformer" || model == "mamba2" || model == "latent";
            if (tree.nodes() > 63 && !sees_wide_trees) {
                continue;
            }
            const double accept_length = check_all_ways(plain_run, SharedLayers{.layers = 2}, tree);
            INFO(architecture << ", " << tree.nodes() << " nodes");
            CHECK(accept_length > 1.3);
            CHECK((tree.most_children() > 1 || accept_length < tree.depth() + 1));  // something was rejected, too
        }
    }
}

TEST_CASE("what the drafter is changes no token", "[slow]") {
    for (const char* architecture : {"transformer", "mamba2", "hybrid"}) {
        const Yardstick plain_run = yardstick(small_setup(tiny_model(architecture)));
        for (const char* other : {"transformer", "mamba2", "hybrid"}) {
            // A stranger is seldom right: everything is rejected nearly every round.
            check_all_ways(plain_run, OwnModel{tiny_model(other)}, shapes()[1]);
        }
        check_all_ways(plain_run, NgramLookup{}, shapes()[1]);
        check_all_ways(plain_run, NgramLookup{}, chain_of(3));
    }
}

TEST_CASE("a drafter that is the whole target is always right, and so its caches must be") {
    for (const char* architecture : {"transformer", "mamba2", "hybrid"}) {
        const Yardstick plain_run = yardstick(small_setup(tiny_model(architecture)));
        for (const sim::DraftTree& tree : {chain_of(4), shapes()[1]}) {
            DecodeSetup setup = plain_run.setup;
            setup.drafter = SharedLayers{.layers = 4};
            setup.tree = tree;
            setup.verification = sim::Verification::unrolled;
            setup.rollback = sim::has_recurrent_state(setup.target) ? sim::Rollback::snapshot : sim::Rollback::truncate;
            const DecodeResult result = decode(setup);
            INFO(architecture << ", " << tree.nodes() << " nodes");
            CHECK(result.tokens == plain_run.tokens);
            // The first-ranked children are what the target picks: all of a chain, and of the tree the path 1, 4, 6, 9 ...
            int depth = 0;
            for (int token = 0; tree.children(token) > 0; token = tree.first_child(token)) {
                ++depth;
            }
            int other_rounds = 0;
            for (std::size_t accepted = 0; accepted < result.rounds_by_accepted.size(); ++accepted) {
                other_rounds += static_cast<int>(accepted) == depth ? 0 : result.rounds_by_accepted[accepted];
            }
            CHECK(other_rounds == 0);
        }
    }
}

TEST_CASE("sliding windows, blocks side by side, shared layers and ungated layers change no token") {
    sim::Model windowed = tiny_model("transformer");
    windowed.kinds.front().blocks.front() = attention_block(6);
    sim::Model parallel = tiny_model("hybrid");  // the feed-forward block reads what attention reads
    parallel.kinds[1].blocks[1].norms = 0;
    sim::Model shared = tiny_model("hybrid");
    shared.kinds[1].distinct_copies = 1;
    shared.tied_embeddings = true;
    sim::Model ungated = tiny_model("transformer");
    std::get<sim::Mlp>(ungated.kinds.front().blocks[1].kind).gated = false;
    sim::Model gate_in_scan = tiny_model("mamba2");
    std::get<sim::Mamba2>(gate_in_scan.kinds.front().blocks.front().kind).gated_norm = false;
    for (const sim::Model& model : {windowed, parallel, shared, ungated, gate_in_scan}) {
        check_all_ways(yardstick(small_setup(model)), SharedLayers{.layers = 2}, shapes()[1]);
    }
    // A drafter with a sparse cache: the target's layers with a window.
    check_all_ways(yardstick(small_setup(tiny_model("transformer"))), SharedLayers{.layers = 4, .window = 4, .sink = 2},
                   shapes()[1]);
}

TEST_CASE("rings of inputs that fill several times change no token") {
    for (const char* architecture : {"hybrid", "mamba1", "delta"}) {
        DecodeSetup setup = small_setup(tiny_model(architecture));
        setup.new_tokens = 3 * sim::ring_capacity;
        const Yardstick plain_run = yardstick(setup);
        for (const sim::Verification verification : {sim::Verification::packed, sim::Verification::unrolled}) {
            for (const sim::DraftTree& tree : {chain_of(2), sim::DraftTree::from_parents({0, 0, 1, 1, 2})}) {
                setup = plain_run.setup;
                setup.drafter = SharedLayers{.layers = 2};
                setup.tree = tree;
                setup.verification = verification;
                setup.rollback = sim::Rollback::ring;
                INFO(architecture << ", seed " << setup.seed << ", " << tree.nodes() << " nodes, " << name_of(verification));
                CHECK(decode(setup).tokens == plain_run.tokens);
            }
        }
    }
}

TEST_CASE("norms before and after a block, LayerNorms, biases, norms of heads and gates change no token") {
    sim::Model normed = tiny_model("hybrid");
    for (sim::LayerKind& kind : normed.kinds) {
        for (sim::Block& block : kind.blocks) {
            block.norms = 2;
            block.norm_vectors = 4;
        }
    }
    normed.final_norm_vectors = 2;
    sim::Model attending = tiny_model("transformer");
    auto& attention = std::get<sim::Attention>(attending.kinds.front().blocks.front().kind);
    attention.query_key_norm = 32;
    attention.qkv_bias = attention.output_bias = attention.output_gate = true;
    std::get<sim::Mlp>(attending.kinds.front().blocks[1].kind).bias = true;
    sim::Model shared_keys = tiny_model("transformer");
    std::get<sim::Attention>(shared_keys.kinds.front().blocks.front().kind).keys_are_values = true;
    sim::Model sparse = tiny_model("transformer");
    std::get<sim::Attention>(sparse.kinds.front().blocks.front().kind).reach = {.sink = 1.0, .scale = 0.25};
    sim::Model mixed = tiny_model("experts");
    std::get<sim::MixtureOfExperts>(mixed.kinds.front().blocks[1].kind) = {.experts = 9,
                                                                           .active = 3,
                                                                           .hidden = 32,
                                                                           .shared_hidden = 40,
                                                                           .latent = 24,
                                                                           .gated = false,
                                                                           .router_bias = true,
                                                                           .shared_gate = true};
    sim::Model inner_norms = tiny_model("mamba1");
    std::get<sim::Mamba1>(inner_norms.kinds.front().blocks.front().kind).inner_norms = true;
    sim::Model gated_latent = tiny_model("latent");
    auto& latent = std::get<sim::LatentAttention>(gated_latent.kinds.front().blocks.front().kind);
    latent.output_gate = true;
    latent.q_lora_rank = 0;
    for (const sim::Model& model : {normed, attending, shared_keys, sparse, mixed, inner_norms, gated_latent}) {
        check_all_ways(yardstick(small_setup(model)), SharedLayers{.layers = 2}, shapes()[1]);
    }
}

TEST_CASE("prompts of several passes, a batch of one and the longest paths change no token") {
    DecodeSetup setup = small_setup(tiny_model("hybrid"));
    setup.batch = 1;
    setup.prompt_tokens = 71;
    setup.context_tokens = 0;
    const Yardstick plain_run = yardstick(setup);
    check_all_ways(plain_run, SharedLayers{.layers = 2}, chain_of(12));
    setup.prompt_tokens = 1;
    setup.new_tokens = 1;
    check_all_ways(yardstick(setup), SharedLayers{.layers = 2}, chain_of(1));
}

}  // namespace lossless_test
