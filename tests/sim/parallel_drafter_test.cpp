// Drafters that propose every token in one pass: what they run, what bounds them, and what they cost beside one token a pass.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/drafters/draft_steps.h"
#include "sim/operations.h"
#include "sim/round.h"

namespace parallel_drafter_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup setup_with(Drafter drafter, const char* target = "qwen3-8b") {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "cuda-graph");
    setup.drafter = std::move(drafter);
    setup.acceptance = Acceptance::per_position({0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2});
    setup.speculations.clear();
    for (const int k : {0, 1, 7, 15, 16}) {
        setup.speculations.push_back({ChainShape{k}, Verification::unrolled, "chain " + std::to_string(k)});
    }
    return setup;
}

double draft_ms(const CompiledRound& round, int speculation) {
    return 1e3 * evaluate(round, {speculation, 1.0, 1024.0}).draft.value();
}

}  // namespace

TEST_CASE("a block drafter runs its layers once, over a row for each draft and, for DFlash, the last token") {
    const RoundSetup setup = setup_with(ParallelDrafter{});
    const DrafterPlan drafter = plan(setup.drafter, setup.target, setup.precision);
    AcceptedTokens accepted;
    accepted.length = 3.0;
    const TreeShape shape = ChainShape{7};
    const DraftSteps steps = draft_steps(drafter, shape, build_tree(shape, RankAcceptance()), accepted, false);
    REQUIRE(steps.passes.size() == 1);
    CHECK(steps.passes[0].tokens == 8.0);
    CHECK(steps.passes[0].logits == 7.0);
    CHECK(steps.context_tokens == 3.0);
    const DrafterPlan dspark = plan(ParallelDrafter::published_dspark(), setup.target, setup.precision);
    CHECK(draft_steps(dspark, shape, build_tree(shape, RankAcceptance()), accepted, false).passes[0].tokens == 7.0);
    // Five layers of Qwen3-8B's attention (4096 wide, 32 and 8 heads of 128) and feed-forward network (12,288), and the fusion
    // of five features: 5·(2·4096² + 2·4096·1024 + 3·4096·12,288) + 5·4096² = 1.048 billion parameters, in bf16.
    CHECK(added_weights(drafter, 1.0).value() == Approx(2.0 * 1.0486e9).epsilon(0.001));
}

TEST_CASE("one pass for all drafts costs far less than one pass for each") {
    const CompiledRound parallel = compile_round(setup_with(ParallelDrafter{}));
    const CompiledRound p_eagle = compile_round(setup_with(OneLayerDrafter::published_p_eagle()));
    const CompiledRound one_by_one = compile_round(setup_with(OneLayerDrafter::published_eagle3()));
    // 2.1 GB of layers and 1.24 GB of the LM head at about 3 TB/s, and launches; 15 drafts cost hardly more than 7.
    CHECK(draft_ms(parallel, 2) == Approx(1.25).epsilon(0.25));
    CHECK(draft_ms(parallel, 3) < 1.1 * draft_ms(parallel, 2));
    CHECK(draft_ms(one_by_one, 3) > 2.0 * draft_ms(one_by_one, 2));
    CHECK(draft_ms(p_eagle, 3) < 1.1 * draft_ms(p_eagle, 2));
}

TEST_CASE("the block bounds the draft, and trees are refused") {
    RoundSetup setup = setup_with(ParallelDrafter{});
    setup.speculations.push_back({SglangShape{3, 2, 6}, Verification::packed, "tree"});
    setup.acceptance.siblings = RankAcceptance({0.6, 0.1});
    const CompiledRound round = compile_round(setup);
    CHECK(round.runs(3));
    CHECK(round.row(4).problem == "the drafter reaches 15 tokens ahead, not 16");
    CHECK(round.row(5).problem == "the drafter proposes a chain in one pass, and no tree");
}

TEST_CASE("EAGLE heads beside a quantised mixture are dense and in 16 bits; MTP modules are layers of the target") {
    Model mixture = model("qwen3-30b-a3b");
    const Precision fp8 = checkpoint_precision(NumberFormat::fp8, NumberFormat::bf16);
    const auto has_experts = [](const DrafterPlan& drafter) {
        for (const Block& block : drafter.model->kinds.front().blocks) {
            if (std::holds_alternative<MixtureOfExperts>(block.kind)) {
                return true;
            }
        }
        return false;
    };
    const DrafterPlan eagle3 = plan(OneLayerDrafter::published_eagle3(), mixture, fp8);
    CHECK_FALSE(has_experts(eagle3));
    CHECK(eagle3.precision.weights.format == NumberFormat::bf16);
    OneLayerDrafter module;
    module.kind = OneLayerKind::mtp;
    const DrafterPlan mtp = plan(module, mixture, fp8);
    CHECK(has_experts(mtp));
    CHECK(mtp.precision.weights.format == NumberFormat::fp8);
}

TEST_CASE("DeepSeek-V4's DSpark head is three layers of the target that see a window alone") {
    const Model target = model("deepseek-v4-flash");
    const DrafterPlan drafter = plan(ParallelDrafter::dspark_of_deepseek_v4(), target, target.precision);
    REQUIRE(drafter.model);
    CHECK(drafter.model->order.size() == 3);
    for (const Block& block : drafter.model->kinds.front().blocks) {
        if (const auto* attention = std::get_if<CompressedAttention>(&block.kind)) {
            CHECK(attention->compression == 0);
            CHECK(attention->index_heads == 0);
        }
    }
    // 257 experts of 3·4096·2048 in fp4 with a scale of 8 bits for 32 elements, in each of three layers: 10.3 GB; attention,
    // streams, router and the fusion of three features add 0.5.
    CHECK(added_weights(drafter, 1.0).value() == Approx(3.0 * 257 * 3 * 4096 * 2048 * 0.53125).epsilon(0.08));
    // Modules for multi-token prediction likewise.
    const OneLayerDrafter mtp{};
    const DrafterPlan module = plan(mtp, target, target.precision);
    for (const Block& block : module.model->kinds.front().blocks) {
        if (const auto* attention = std::get_if<CompressedAttention>(&block.kind)) {
            CHECK(attention->compression == 0);
        }
    }
}

TEST_CASE("a DFlash head is dense, beside DeepSeek-V4, too") {
    const Model target = model("deepseek-v4-flash");
    const DrafterPlan drafter = plan(ParallelDrafter{}, target, target.precision);
    REQUIRE(drafter.model->kinds.front().blocks.size() == 2);
    CHECK(std::holds_alternative<Attention>(drafter.model->kinds.front().blocks[0].kind));
    CHECK(std::holds_alternative<Mlp>(drafter.model->kinds.front().blocks[1].kind));
}

TEST_CASE("a block has two rows at least, and a drafter one layer") {
    const auto possible = [](Count layers, int block) {
        ParallelDrafter drafter;
        drafter.layers = layers;
        drafter.block = block;
        return problems_of(Drafter(drafter), model("qwen3-8b")).empty();
    };
    CHECK(possible(1, 2));
    CHECK_FALSE(possible(1, 1));
    CHECK_FALSE(possible(0, 2));
}

TEST_CASE("a module of a dense target has a network like the target's, unless its width is stated") {
    Model target = model("llama-3.1-8b");
    for (LayerKind& kind : target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* dense = std::get_if<Mlp>(&block.kind)) {
                *dense = Mlp{5000, false, true};
            }
        }
    }
    const auto network_of = [&](Count stated) {
        OneLayerDrafter module{0, 2, OneLayerKind::mtp};
        module.feed_forward = stated;
        const DrafterPlan drafter = plan(module, target, target.precision);
        for (const LayerKind& kind : drafter.model->kinds) {
            for (const Block& block : kind.blocks) {
                if (const auto* dense = std::get_if<Mlp>(&block.kind)) {
                    return *dense;
                }
            }
        }
        return Mlp{};
    };
    CHECK(network_of(0).hidden == 5000);
    CHECK_FALSE(network_of(0).gated);
    CHECK(network_of(0).bias);
    CHECK(network_of(700).hidden == 700);
    CHECK(network_of(1).hidden == 1);
}

TEST_CASE("heads beside a target whose embeddings are quantised, too, stay as published; an LM head that they share does not") {
    const Model target = model("qwen3-8b");
    const Precision quantised = mlx_precision(4.0, 64.0, NumberFormat::bf16);
    REQUIRE(quantised.embeddings.element_bits() == 4.0);
    const auto formats = [&](const Drafter& drafter) { return plan(drafter, target, quantised).precision; };
    ParallelDrafter sharing, apart;
    apart.draft_vocabulary = 32000;
    for (const Drafter& drafter : {Drafter(sharing), Drafter(apart), Drafter(OneLayerDrafter::published_eagle3())}) {
        CHECK(formats(drafter).weights == Storage{NumberFormat::bf16});
        CHECK(formats(drafter).math == NumberFormat::bf16);
    }
    CHECK(formats(sharing).embeddings == quantised.embeddings);
    CHECK(formats(apart).embeddings == Storage{NumberFormat::bf16});
    CHECK(formats(OneLayerDrafter::published_eagle3()).embeddings == Storage{NumberFormat::bf16});
    sharing.precision = quantised;  // as a checkpoint that was quantised
    CHECK(formats(sharing).weights == quantised.weights);
}

}  // namespace parallel_drafter_test
