// Plans of drafters and the passes by which they grow a shape, number by number: rows, runs and names of passes, host times,
// shares, and what a layer is copied from.
#include <catch2/catch.hpp>

#include <vector>

#include "setups.h"
#include "sim/drafters/draft_steps.h"
#include "sim/drafters/drafter.h"

namespace drafter_parts_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// A drafter with one model of one of these names.
DrafterPlan plan_of(const char* name) {
    const Model small = model(name);
    return plan(Drafter(IndependentDrafter{small, small.precision}), small, small.precision);
}

DrafterPlan plan_beside(const Drafter& drafter, const Model& target) { return plan(drafter, target, target.precision); }

struct Figures {
    double rows, tokens, logits, context_offset, runs, share;
    bool operator==(const Figures&) const = default;
};

std::vector<Figures> passes_of(const DrafterPlan& drafter, const TreeShape& shape, bool counts_hoi = false) {
    std::vector<Figures> figures;
    for (const DraftStep& pass : draft_steps(drafter, shape, build_tree(shape, {}), {}, counts_hoi).passes) {
        figures.push_back({pass.rows, pass.tokens, pass.logits, pass.context_offset, pass.runs, pass.share});
    }
    return figures;
}

}  // namespace

TEST_CASE("the passes that draft a chain, a tree, a block and a cascade") {
    const DrafterPlan attention = plan_of("llama-3.2-1b"), recurrent = plan_of("mamba2-130m");
    using Passes = std::vector<Figures>;
    CHECK(passes_of(attention, ChainShape{1}) == Passes{{1, 1, 1, 0, 1, 1}});
    CHECK(passes_of(attention, ChainShape{3}) == Passes{{1, 1, 1, 0, 1, 1}, {1, 1, 1, 1.5, 2, 1}});
    CHECK(passes_of(attention, ChainShape{3}, true) == Passes{{1, 1, 1, 0, 1, 1}, {1, 1, 1, 0, 2, 1}});
    // Two nodes, four below them, of which two have a child each.
    const TreeShape tree = ParentsShape{{0, 0, 1, 1, 2, 2, 3, 5}};
    CHECK(expanded_nodes(tree, build_tree(tree, {})) == std::vector<double>{2.0, 2.0});
    CHECK(passes_of(attention, tree) == Passes{{1, 1, 1, 0, 1, 1}, {1, 2, 2, 1, 1, 1}, {1, 2, 2, 3, 1, 1}});
    CHECK(passes_of(recurrent, tree) == Passes{{1, 1, 1, 0, 1, 1}, {2, 1, 1, 1, 1, 1}, {2, 1, 1, 2, 1, 1}});
    const DraftSteps rows = draft_steps(recurrent, tree, build_tree(tree, {}), {}, false);
    CHECK(rows.copied_states == 2.0);  // where the root's row becomes two
    CHECK(rows.kept_states == 2.0 + 2.0 + 2.0);
    // Only the second node of the first level goes on.
    const TreeShape leaf_first = ParentsShape{{0, 0, 2}};
    CHECK(expanded_nodes(leaf_first, build_tree(leaf_first, {})) == std::vector<double>{1.0});
    CHECK(draft_steps(recurrent, leaf_first, build_tree(leaf_first, {}), {}, false).copied_states == 0.0);

    const DrafterPlan block = plan_beside(ParallelDrafter{}, model("llama-3.1-8b"));
    CHECK(passes_of(block, ChainShape{5}) == Passes{{1, 6, 5, 0, 1, 1}});  // five masks and the token before them
    DrafterPlan cascade = attention;
    cascade.inner.tokens = 2.0;
    cascade.inner.length = 2.0;
    CHECK(passes_of(cascade, ChainShape{3}) == Passes{{1, 3, 3, 0, 1, 1}, {1, 3, 3, 1.5, 0.5, 1}});  // one and a half rounds
    CHECK(passes_of(cascade, ChainShape{2}) == Passes{{1, 3, 3, 0, 1, 1}});
    CHECK(passes_of(attention, ChainShape{0}).empty());
}

TEST_CASE("shapes that engines grow run all candidates of a level, whatever the final tree keeps") {
    const auto expanded = [](const TreeShape& shape) {
        return expanded_nodes(shape, build_tree(shape, RankAcceptance({0.5, 0.3})));
    };
    CHECK(expanded(SglangShape{3, 2, 4}) == std::vector<double>{2.0, 2.0});
    CHECK(expanded(BeamShape{2, 3}) == std::vector<double>{2.0, 2.0});
    CHECK(expanded(BeamShape{2, 1}).empty());
}

TEST_CASE("a Markov head with a GRU leaves the first draft alone") {
    ParallelDrafter domino = ParallelDrafter::published_dspark();
    const Model target = model("llama-3.1-8b");
    const auto runs = [&](int drafts) {
        const TreeShape shape = ChainShape{drafts};
        return draft_steps(plan_beside(domino, target), shape, build_tree(shape, {}), {}, false).markov_runs;
    };
    CHECK(runs(5) == 5.0);
    domino.gru_width = 1024;
    CHECK(runs(5) == 4.0);
    CHECK(runs(1) == 0.0);
}

TEST_CASE("a look-up takes its host time before another drafter, which drafts where nothing was found") {
    const Model target = model("llama-3.1-8b");
    LookupFirstDrafter drafter;
    drafter.lookup.hit_rate = 0.25;
    drafter.lookup.lookup_per_sequence = Seconds(3e-6);
    drafter.otherwise = MedusaDrafter{};
    CHECK(plan_beside(drafter, target).host_per_round_and_sequence == Seconds(3e-6));
    CHECK(plan_beside(drafter, target).drafting_share == 0.75);
    CHECK(plan_beside(drafter, target).kind == "lookup-first");
    drafter.drafts_anyway = true;
    CHECK(plan_beside(drafter, target).drafting_share == 1.0);
}

TEST_CASE("heads hold a copy of their weights for each position, tied ones a single one") {
    const Model target = model("llama-3.1-8b");
    MedusaDrafter drafter{3, 2};
    const double three = added_weights(plan_beside(drafter, target), 1.0).value();
    drafter.tied = true;
    const double one = added_weights(plan_beside(drafter, target), 1.0).value();
    CHECK(three == Approx(3.0 * one));
    // Two layers of 4096 · 4097 and an LM head of 4096 · 128,256, in bf16.
    CHECK(one == Approx(2.0 * 4096.0 * (2.0 * 4097.0 + 128'256.0)));
    // Hydra's heads read one to three embeddings beside the hidden state: two in the mean.
    drafter.kind = HeadsKind::hydra;
    CHECK(std::get<Projection>(plan_beside(drafter, target).model->kinds.front().blocks.front().kind).in == 4096 * 3);
}

TEST_CASE("a cascade adds the weights of both of its models, layer by layer") {
    const Model target = model("llama-3.1-8b");
    const IndependentDrafter small{model("llama-3.2-1b"), model("llama-3.2-1b").precision};
    const double alone = added_weights(plan_beside(small, target), 1.0).value();
    CHECK(alone == Approx(stored_weights(small.model, small.precision, 1.0).value()));
    CascadeDrafter drafter;
    drafter.middle = small;
    drafter.inner = small;
    CHECK(added_weights(plan_beside(drafter, target), 1.0).value() == Approx(2.0 * alone));
}

TEST_CASE("a layer beyond the last is the last") {
    const Model target = model("llama-3.1-8b");
    SelfDrafter drafter;
    drafter.layers = {0, 40};
    REQUIRE_FALSE(problems_of(Drafter(drafter), target).empty());
    CHECK(plan_beside(drafter, target).model->order == std::vector<std::size_t>{target.order.front(), target.order.back()});
}

TEST_CASE("the cache of a sparse drafter has a window, a sink and a share of the context") {
    const Model target = model("llama-3.1-8b");
    const auto wrong = [&](double window, double sink, double scale) {
        ContextReach reach;
        reach.window = window;
        reach.sink = sink;
        reach.scale = scale;
        return problems_of(reach, target).size();
    };
    CHECK(wrong(256.0, 0.0, 1.0) == 0);
    CHECK(wrong(256.0, 16.0, 0.1) == 0);
    CHECK(wrong(256.0, -1.0, 1.0) == 1);
    CHECK(wrong(256.0, 0.0, 0.0) == 1);
    CHECK(wrong(256.0, 0.0, -0.5) == 1);
    CHECK(wrong(256.0, 0.0, 1.5) == 1);
    CHECK(wrong(0.0, 0.0, 1.0) == 1);
    CHECK(problems_of(ContextReach{256.0}, model("mamba2-130m")).size() == 1);  // no attention
}

TEST_CASE("a head is published in the format of its target's embeddings, or of its activations where those are quantised") {
    Precision target = uniform_precision(NumberFormat::bf16);
    target.embeddings = Storage{NumberFormat::bf16};
    target.activations = Storage{NumberFormat::fp16};
    CHECK(head_precision(target, true).weights == Storage{NumberFormat::bf16});
    CHECK(head_precision(target, true).math == NumberFormat::bf16);
    target.embeddings = Storage{NumberFormat::int8};
    CHECK(head_precision(target, true).weights == Storage{NumberFormat::fp16});
    CHECK(head_precision(target, true).embeddings == Storage{NumberFormat::int8});
    CHECK(head_precision(target, false).embeddings == Storage{NumberFormat::fp16});
}

TEST_CASE("layers of a drafter that reads its target's cache are like the target's last ones, and keep no cache") {
    // Three layers of three kinds, all of which attend.
    Model target = model("llama-3.1-8b");
    target.kinds = {target.kinds.front(), target.kinds.front(), target.kinds.front()};
    for (std::size_t i = 0; i < 3; ++i) {
        target.kinds[i].name = std::string(1, static_cast<char>('a' + i));
        for (Block& block : target.kinds[i].blocks) {
            if (auto* attention = std::get_if<Attention>(&block.kind)) {
                attention->query_heads = 8 * static_cast<Count>(i + 1);
            }
        }
    }
    target.order = {0, 1, 2};
    OneLayerDrafter drafter;
    drafter.layers = 3;
    drafter.width = 1024;
    const auto heads = [&](const Drafter& of) {
        const DrafterPlan made = plan(of, target, target.precision);
        std::vector<Count> found;
        for (const std::size_t kind : made.model->order) {
            for (const Block& block : made.model->kinds[kind].blocks) {
                if (const auto* attention = std::get_if<Attention>(&block.kind)) {
                    found.push_back(attention->query_heads);
                    CHECK(attention->reuses_cache == std::get<OneLayerDrafter>(of).reads_target_cache);
                }
            }
        }
        return found;
    };
    CHECK(heads(drafter) == std::vector<Count>{24, 24, 24});
    drafter.reads_target_cache = true;
    CHECK(heads(drafter) == std::vector<Count>{8, 16, 24});
    const DrafterPlan made = plan_beside(drafter, target);
    REQUIRE(made.model->kinds.size() == 3);
    CHECK(made.model->kinds[0].name == "draft layer");
    CHECK(made.model->kinds[1].name == "further draft layer");
    CHECK(made.model->kinds[2].name == "further draft layer (c)");
    drafter.layers = 2;
    CHECK(heads(drafter) == std::vector<Count>{16, 24});
    drafter.layers = 4;  // more than there are
    CHECK(heads(drafter) == std::vector<Count>{24, 24, 24, 24});
}

TEST_CASE("a block drafter beside compressed attention caches what its last layer caches of a token") {
    Model target = model("deepseek-v4-flash");
    LayerKind latent;
    latent.name = "latent";
    LatentAttention attention;
    attention.heads = 16;
    attention.kv_lora_rank = 512;
    attention.nope_dim = attention.value_dim = 128;
    attention.rope_dim = 64;
    latent.blocks = {{attention}, {Mlp{1024}}};
    target.kinds.push_back(latent);
    target.order.push_back(target.kinds.size() - 1);
    const DrafterPlan made = plan_beside(ParallelDrafter::dspark_of_deepseek_v4(), target);
    CHECK(std::get<Projection>(made.context_model->kinds[1].blocks.front().kind).out == 512 + 64);
}

TEST_CASE("a stated precision is that of a drafter's own layers: a head that it shares stays the target's") {
    const Model target = model("qwen3-8b");
    Precision narrow = mlx_precision(4.0, 64.0, NumberFormat::bf16);
    const Precision wide = uniform_precision(NumberFormat::bf16);
    const auto head_of = [](const DrafterPlan& plan) {
        return weight_format(plan.precision, "output: LM head", plan.precision.embeddings).storage;
    };
    OneLayerDrafter mtp{0, 2, OneLayerKind::mtp};
    mtp.precision = wide;
    ParallelDrafter block;
    block.precision = wide;
    block.markov_rank = 256;
    for (const Drafter& drafter : {Drafter(mtp), Drafter(block)}) {
        const DrafterPlan shared = plan(drafter, target, narrow);
        REQUIRE(shared.shares_head);
        CHECK(head_of(shared) == narrow.embeddings);
        CHECK(shared.precision.embeddings == narrow.embeddings);
        CHECK(shared.precision.weights == wide.weights);
    }
    CHECK(plan(Drafter(block), target, narrow).markov.precision == wide);
    // A head that the checkpoint stores apart from its embeddings (exl3, GGUF) is shared as it is stored.
    narrow.exceptions = {{"LM head", Storage{NumberFormat::int8}, NumberFormat::bf16}};
    CHECK(head_of(plan(Drafter(mtp), target, narrow)) == Storage{NumberFormat::int8});
    // A head of its own is in the stated precision.
    mtp.draft_vocabulary = 32'000;
    CHECK(head_of(plan(Drafter(mtp), target, narrow)) == wide.embeddings);
    // And without a statement the module is as the target.
    CHECK(plan(Drafter(OneLayerDrafter{0, 2, OneLayerKind::mtp}), target, narrow).precision == narrow);
}

}  // namespace drafter_parts_test
