// Look-ups, self-speculation, heads and cascades: what each runs, holds and verifies, and what was measured of them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "numerics/quantile.h"
#include "setups.h"
#include "sim/drafters/draft_steps.h"
#include "sim/operations.h"
#include "sim/round.h"

namespace drafter_kinds_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup setup_of(Drafter drafter, const Acceptance& acceptance, const char* target = "llama-3.1-8b",
                    const char* device = "h100-sxm", const char* stack = "cuda-graph") {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform(device, stack);
    setup.drafter = std::move(drafter);
    setup.acceptance = acceptance;
    setup.speculations = chains_up_to(8);
    return setup;
}

RoundEstimate estimate(const RoundSetup& setup, int draft_tokens, double batch = 1.0, double context = 1024.0) {
    return evaluate(compile_round(setup), {draft_tokens, batch, context});
}

SelfDrafter first_layers(std::size_t count) {
    SelfDrafter drafter;
    drafter.layers.resize(count);
    std::iota(drafter.layers.begin(), drafter.layers.end(), std::size_t{0});
    drafter.shares_cache = true;
    return drafter;
}

}  // namespace

TEST_CASE("a look-up that finds nothing in some rounds yields and verifies less") {
    NgramDrafter sometimes;
    sometimes.hit_rate = 0.25;
    const Acceptance acceptance = Acceptance::per_position({0.8, 0.6, 0.5, 0.4});
    const RoundSetup always = setup_of(NgramDrafter{}, acceptance), rarely = setup_of(sometimes, acceptance);
    // A quarter of the rounds yields 1 + 0.8 + 0.6 + 0.5 + 0.4 = 3.3 tokens, the others 1: 1 + 0.25·2.3.
    CHECK(estimate(rarely, 4).accept_length == Approx(1.575));
    CHECK(compile_round(rarely).row(4).draft_tokens == 4.0);  // what the engine is told, whatever is found
    CHECK(estimate(always, 4).accept_length == Approx(3.3));
    // 128 sequences verify 256 tokens instead of 640.
    CHECK(estimate(rarely, 4, 128.0).verify < estimate(always, 4, 128.0).verify);
    CHECK(estimate(rarely, 4, 128.0).verify >= estimate(always, 1, 128.0).verify * 0.999);
    const RoundRow row = compile_round(rarely).row(4);
    CHECK(std::accumulate(row.accepted.exactly.begin(), row.accepted.exactly.end(), 0.0) == Approx(1.0));
    CHECK(row.accepted.exactly.front() == Approx(0.75 + 0.25 * 0.2));
    CHECK(row.accepted.exactly[2] == Approx(0.25 * (0.6 - 0.5)));
    CHECK(row.accepted.ends_at_leaf == Approx(0.25 * 0.4));
}

TEST_CASE("suffix decoding's drafts end early: their mean length is a geometric sum") {
    NgramDrafter suffix;
    suffix.kind = LookupKind::suffix;
    suffix.mean_draft = 4.0;
    const DrafterPlan drafter = plan(suffix, model("llama-3.1-8b"), model("llama-3.1-8b").precision);
    // 1 + 0.75 + 0.75² + 0.75³ = 2.734 of at most 4; without a limit 4.
    CHECK(drafter.drafted_tokens(4.0) == Approx(2.734375));
    CHECK(drafter.drafted_tokens(1000.0) == Approx(4.0));
    CHECK(plan(NgramDrafter{}, model("llama-3.1-8b"), model("llama-3.1-8b").precision).drafted_tokens(7.0) == 7.0);
}

TEST_CASE("no more drafts are accepted, nor wasted, than a look-up makes") {
    NgramDrafter one_token;
    one_token.hit_rate = 0.3;
    one_token.mean_draft = 1.0;
    // Drafts of one token in 0.3 of the rounds, 0.9 of them accepted: 0.3 drafted and 0.27 accepted a round, however long they
    // may be.
    const RoundSetup by_rate = setup_of(one_token, Acceptance::geometric(0.9));
    for (const int limit : {1, 4, 8}) {
        CHECK(estimate(by_rate, limit).accept_length == Approx(1.27));
        CHECK(compile_round(by_rate).row(limit).drafted == Approx(0.3));
        CHECK(estimate(by_rate, limit).wasted_draft_share == Approx(0.1));
    }
    // A mean of two tokens goes on with 1/2: 0.9 + 0.81/2 + 0.729/4 + 0.6561/8 accepted of 1 + 1/2 + 1/4 + 1/8.
    NgramDrafter two_tokens;
    two_tokens.mean_draft = 2.0;
    CHECK(estimate(setup_of(two_tokens, Acceptance::geometric(0.9)), 4).accept_length == Approx(2.5692625));
    CHECK(estimate(setup_of(two_tokens, Acceptance::geometric(0.9)), 4).wasted_draft_share == Approx(1.0 - 1.5692625 / 1.875));
    // An accept length stays as it was stated, and what is accepted is verified.
    const RoundSetup stated = setup_of(two_tokens, Acceptance::mean_length(3.2, 4.0));
    CHECK(estimate(stated, 4).accept_length == Approx(3.2));
    CHECK(compile_round(stated).row(4).drafted == Approx(2.2));
    CHECK(estimate(stated, 4).wasted_draft_share == Approx(0.0).margin(1e-12));
}

TEST_CASE("an early exit drafts in its share of the layers and holds nothing of its own") {
    const RoundSetup exit = setup_of(first_layers(8), Acceptance::geometric(0.7));
    const DrafterPlan drafter = plan(exit.drafter, exit.target, exit.precision);
    CHECK(added_weights(drafter, 1.0).value() == 0.0);
    const CompiledRound round = compile_round(exit);
    CHECK(round.memory.draft_caches.empty());
    CHECK(round.draft_prefill.operations.empty());
    // Llama-3.1-8B: 32 layers of 436 MB and an LM head of 1.05 GB. Eight layers and the head are 4.54 of 15.01 GB: 0.30.
    const RoundEstimate of_four = evaluate(round, {4, 1.0, 1024.0});
    CHECK(of_four.draft / (4.0 * of_four.autoregressive) == Approx(0.30).margin(0.04));
    SelfDrafter wrong = first_layers(2);
    wrong.layers = {3, 3};
    CHECK(problems_of(wrong, exit.target).front().find("must rise from 0 to at most 31") != std::string::npos);
}

TEST_CASE("LayerSkip's measured speed-up on A100 asks for a plausible rate") {
    // facebook/layerskip-llama2-7B, exit after layer 4, CNN/DM summaries with transformers on A100: 25.83 ms per token become
    // 19.91, 1.297 times (Hugging Face, layer-skip-assets, 2024). Its acceptance is not printed; between 0.45 and 0.9 of the
    // drafts must be accepted, by any length from 2 to 6, for the model to agree. The rate of other self-drafts lies there,
    // too.
    const auto best = [](double rate) {
        const RoundSetup setup =
            setup_of(first_layers(4), Acceptance::geometric(rate), "llama-2-7b", "a100-sxm-80", "research-eager");
        double speedup = 0.0;
        for (int k = 2; k <= 6; ++k) {
            speedup = std::max(speedup, estimate(setup, k).throughput_multiplier);
        }
        return speedup;
    };
    CHECK(best(0.45) < 1.297);
    CHECK(best(0.9) > 1.297);
}

TEST_CASE("QuantSpec drafts with a copy in 4 bits, and its published gain needs its published acceptance") {
    const Model target = model("llama-2-7b");
    SelfDrafter drafter;
    drafter.copy = checkpoint_precision(NumberFormat::int4, NumberFormat::fp16);
    drafter.copy->kv_cache = {NumberFormat::int4};
    drafter.shares_cache = true;
    RoundSetup setup = setup_of(drafter, Acceptance::geometric(0.92), "llama-2-7b", "rtx-a6000");
    setup.precision.kv_cache = {NumberFormat::int8};  // the two halves of its hierarchical cache
    const CompiledRound round = compile_round(setup);
    CHECK(round.memory.draft_caches.empty());  // the draft's cache is the upper half of the target's
    // 6.5 billion parameters of linear layers in 4 bits with a 16-bit scale for each 128: about 3.3 GB beside the target.
    CHECK(round.memory.draft_weights.value() == Approx(3.4e9).epsilon(0.1));
    Seconds fastest(1.0);
    for (int k = 1; k <= 8; ++k) {
        fastest = std::min(fastest, evaluate(round, {k, 1.0, 32'000.0}).time_per_token);
    }
    // "Acceptance rates above 90 %, end-to-end speed-ups up to about 2.5" (arXiv 2502.10424, abstract), over a 16-bit cache.
    setup.precision = target.precision;
    const double speedup = evaluate(compile_round(setup), {0, 1.0, 32'000.0}).time_per_token / fastest;
    CHECK(speedup > 2.0);
    CHECK(speedup < 2.75);
}

TEST_CASE("a cascade drafts through the middle model, whose drafts another one drafts") {
    // TriForce (arXiv 2404.11912): Llama-2-7B-128K, a retrieval cache of 4096 tokens, and a model of 68 million parameters
    // before it: 2.31 times on one A100 with a cache of about 122,880 tokens. Its acceptance is not in the abstract: the model
    // agrees if between 0.75 and 0.94 of the middle model's drafts are accepted.
    CascadeDrafter drafter;
    SelfDrafter middle;
    middle.reach.window = 4096.0;
    IndependentDrafter smallest;
    smallest.model = model("tinyllama-1.1b");  // the catalogue has no smaller Llama; its first two layers are nearly JF68M
    smallest.model.order.resize(2);
    smallest.model.width = 768;
    smallest.precision = smallest.model.precision;
    smallest.reach.window = 256.0;
    drafter.middle = middle;
    drafter.inner = smallest;
    drafter.inner_tokens = 2;
    drafter.inner_length = 2.0;
    RoundSetup cascade = setup_of(drafter, Acceptance::geometric(0.94), "llama-2-7b", "a100-sxm-80");
    RoundSetup two_levels = setup_of(middle, Acceptance::geometric(0.94), "llama-2-7b", "a100-sxm-80");
    const RoundEstimate fast = estimate(cascade, 6, 1.0, 122'880.0), slow = estimate(two_levels, 6, 1.0, 122'880.0);
    CHECK(fast.draft < 0.75 * slow.draft);
    CHECK(fast.verify == slow.verify);
    CHECK(fast.throughput_multiplier > 2.31);
    cascade.acceptance = Acceptance::geometric(0.75);
    CHECK(estimate(cascade, 6, 1.0, 122'880.0).throughput_multiplier < 2.31);
    const RoundEstimate without_inner = [&] {
        CascadeDrafter free = drafter;
        free.inner = NgramDrafter{};
        cascade.drafter = free;
        return estimate(cascade, 6, 1.0, 122'880.0);
    }();
    CHECK(without_inner.draft < fast.draft);
    drafter.inner_length = 4.0;
    CHECK(problems_of(drafter, model("llama-2-7b")).front() == "an inner round of 2 drafts yields 1 to 3 tokens");
}

TEST_CASE("a look-up first spares the other drafter the rounds with a match") {
    LookupFirstDrafter drafter;
    drafter.lookup.hit_rate = 0.5;
    drafter.otherwise = OneLayerDrafter::published_eagle3();
    const Acceptance acceptance = Acceptance::geometric(0.7);
    const RoundEstimate first = estimate(setup_of(drafter, acceptance), 5, 256.0);
    const RoundEstimate alone = estimate(setup_of(OneLayerDrafter::published_eagle3(), acceptance), 5, 256.0);
    drafter.drafts_anyway = true;
    const RoundEstimate anyway = estimate(setup_of(drafter, acceptance), 5, 256.0);
    CHECK(first.draft < alone.draft);
    CHECK(anyway.draft == alone.draft);
    CHECK(first.verify == alone.verify);
    CHECK(first.memory == alone.memory);
}

TEST_CASE("after a look-up that always finds a draft, nobody else drafts") {
    LookupFirstDrafter drafter;
    drafter.lookup.hit_rate = 1.0;
    drafter.otherwise = OneLayerDrafter::published_eagle3();
    const RoundSetup eagle = setup_of(drafter, Acceptance::geometric(0.7));
    // What keeps the head's cache in step runs, whatever is allowed.
    const std::vector<ExplainedPass> passes = explain(compile_round(eagle), {5, 4.0, 1024.0});
    CHECK(std::count_if(passes.begin(), passes.end(),
                        [](const ExplainedPass& pass) { return pass.phase.starts_with("draft"); }) == 1);
    drafter.otherwise = MedusaDrafter{};  // has no cache
    CHECK(estimate(setup_of(drafter, Acceptance::geometric(0.7)), 4).draft == Seconds(0.0));
}

TEST_CASE("one request drafts in the rounds without a match, with whole passes") {
    LookupFirstDrafter drafter;
    drafter.lookup.hit_rate = 0.25;
    drafter.otherwise = MedusaDrafter{};
    const Acceptance acceptance = Acceptance::geometric(0.7);
    const RoundEstimate alone = estimate(setup_of(MedusaDrafter{}, acceptance), 4);
    CHECK(estimate(setup_of(drafter, acceptance), 4).draft.value() == Approx(0.75 * alone.draft.value()));
}

TEST_CASE("a head that reads the target's cache keeps none and reads no prompts") {
    OneLayerDrafter gemma;
    gemma.kind = OneLayerKind::mtp;
    gemma.layers = 4;
    gemma.width = 1024;
    gemma.reads_target_cache = true;
    const CompiledRound round = compile_round(setup_of(gemma, Acceptance::geometric(0.7)));
    CHECK(round.memory.draft_caches.empty());
    CHECK(round.draft_prefill.operations.empty());
    CHECK(round.row(4).accepted.length > 1.0);
    const CompiledRound own = compile_round(setup_of(OneLayerDrafter{0, 2, OneLayerKind::mtp}, Acceptance::geometric(0.7)));
    CHECK_FALSE(own.memory.draft_caches.empty());
    // Four layers of 1,024 beside a model of 4,096 are a third of one of its layers, but bring a table of the vocabulary:
    // 128,256 × 1,024 in bf16 are 263 MB.
    CHECK(round.memory.draft_weights.value() > 263e6);
}

TEST_CASE("heads of Spec-Bench gain what they gained there, with their measured accept lengths") {
    // hemingkx/Spec-Bench, Leaderboard.md: Vicuna in fp16, batch 1, greedy, Hugging Face transformers. Trees of about the
    // published sizes: Medusa and Hydra 63 nodes in 4 levels, Token Recycling 80 in 6, EAGLE 25 in 5, prompt look-up chains
    // of 10.
    struct Row {
        const char *target, *device;
        Drafter drafter;
        TreeShape shape;
        double accept_length, speedup;
    };
    NgramDrafter recycling;
    recycling.kind = LookupKind::recycling;
    const MedusaDrafter medusa, hydra{4, 1, HeadsKind::hydra};
    const OneLayerDrafter eagle{0, 2, OneLayerKind::eagle};
    const TreeShape heads = BranchingShape{{4, 3, 2, 1}}, recycled = BranchingShape{{4, 2, 2, 1, 1, 1}},
                    eagle_tree = BranchingShape{{3, 2, 1, 1, 1}};
    const Row rows[] = {
        {"vicuna-7b", "rtx-3090", hydra, heads, 3.26, 1.91},
        {"vicuna-7b", "rtx-3090", medusa, heads, 2.32, 1.44},
        {"vicuna-7b", "rtx-3090", recycling, recycled, 2.73, 1.4},
        {"vicuna-7b", "rtx-3090", eagle, eagle_tree, 3.57, 2.03},
        {"vicuna-7b", "rtx-3090", NgramDrafter{}, ChainShape{10}, 1.73, 1.64},
        {"vicuna-13b", "a100-sxm-80", hydra, heads, 3.35, 2.2},
        {"vicuna-13b", "a100-sxm-80", medusa, heads, 2.39, 1.8},
        {"vicuna-13b", "a100-sxm-80", recycling, recycled, 2.73, 2.17},
        {"vicuna-13b", "a100-sxm-80", eagle, eagle_tree, 3.64, 2.16},
        {"vicuna-13b", "a100-sxm-80", NgramDrafter{}, ChainShape{10}, 1.67, 1.56},
        {"vicuna-33b", "a100-sxm-80", hydra, heads, 3.24, 2.22},
        {"vicuna-33b", "a100-sxm-80", medusa, heads, 2.33, 1.76},
        {"vicuna-33b", "a100-sxm-80", recycling, recycled, 2.62, 1.83},
        {"vicuna-33b", "a100-sxm-80", NgramDrafter{}, ChainShape{10}, 1.54, 1.4},
    };
    std::vector<double> errors;
    for (const Row& row : rows) {
        RoundSetup setup = setup_of(row.drafter, Acceptance::geometric(0.5), row.target, row.device, "research-eager");
        const bool chain = std::holds_alternative<ChainShape>(row.shape);
        setup.speculations = {{ChainShape{0}, Verification::unrolled, "plain"},
                              {row.shape, chain ? Verification::unrolled : Verification::packed, "measured"}};
        setup.acceptance.measured = {{build_tree(row.shape, RankAcceptance::known_or_assumed({})), row.accept_length}};
        const double predicted = estimate(setup, 1).throughput_multiplier;
        INFO(row.target << " " << row.accept_length << ": " << predicted << " measured " << row.speedup);
        errors.push_back(std::abs(predicted / row.speedup - 1.0));
        CHECK(errors.back() < 0.4);  // the worst: token recycling on the RTX 3090, 1.94 against 1.4
    }
    INFO("median error " << numerics::quantile(errors, 0.5) << ", p90 " << numerics::quantile(errors, 0.9));
    CHECK(numerics::quantile(errors, 0.5) < 0.19);  // on RTX 3090 too fast, on A100 too slow: whose hosts they were is not said
    CHECK(numerics::quantile(errors, 0.9) < 0.35);
}

TEST_CASE("the heads of an MLP speculator read the target's width once, and their own narrow one from then on") {
    MedusaDrafter drafter;
    drafter.kind = HeadsKind::mlp;
    drafter.heads = 4;
    drafter.width = 1024;
    const Model target = model("llama-3.1-8b");  // 4096 wide
    const DrafterPlan heads = plan(drafter, target, target.precision);
    // (4096 + 3·1024)/4 inputs in the mean.
    CHECK(std::get<Projection>(heads.model->kinds.front().blocks.front().kind).in == 1792);
}

TEST_CASE("a copy for drafting has an LM head of its own only where its embeddings are stored in another format") {
    SelfDrafter drafter;
    const Model target = model("llama-3.1-8b");
    drafter.copy = target.precision;
    CHECK(plan(drafter, target, target.precision).shares_head);
    CHECK_FALSE(plan(drafter, target, target.precision).shares_body);
    drafter.copy->embeddings.format = NumberFormat::int4;
    CHECK_FALSE(plan(drafter, target, target.precision).shares_head);
}

TEST_CASE("numbers of drafters are accepted at their limits, and refused beyond") {
    const Model target = model("llama-3.1-8b");  // 32 layers, 128,256 tokens
    const auto wrong = [&](const Drafter& drafter) { return problems_of(drafter, target).size(); };
    const auto lookup = [&](double hit_rate, double mean_draft) {
        NgramDrafter drafter;
        drafter.hit_rate = hit_rate;
        drafter.mean_draft = mean_draft;
        return wrong(drafter);
    };
    CHECK(lookup(1.0, 0.0) == 0);
    CHECK(lookup(1.0, 1.0) == 0);
    CHECK(lookup(1.0, 0.99) == 1);
    CHECK(lookup(0.01, 1.5) == 0);
    CHECK(lookup(0.0, 1.5) == 1);
    CHECK(lookup(1.01, 1.5) == 1);
    CHECK(lookup(0.0, 0.5) == 1);  // one sentence for both
    const auto heads = [&](Count count, Count layers) { return wrong(MedusaDrafter{count, layers}); };
    CHECK(heads(1, 1) == 0);
    CHECK(heads(0, 1) == 1);
    CHECK(heads(1, 0) == 1);
    const auto block = [&](Count layers, Count rows) { return wrong(ParallelDrafter{ParallelKind::dflash, layers, rows}); };
    CHECK(block(1, 2) == 0);
    CHECK(block(0, 2) == 1);
    CHECK(block(1, 1) == 1);
    OneLayerDrafter head;
    head.draft_vocabulary = 128'256;
    CHECK(wrong(head) == 0);
    head.draft_vocabulary = 128'257;
    CHECK(wrong(head) == 1);
    const auto layers = [&](std::vector<std::size_t> which) {
        SelfDrafter drafter;
        drafter.layers = std::move(which);
        return wrong(drafter);
    };
    CHECK(layers({}) == 0);
    CHECK(layers({0, 31}) == 0);
    CHECK(layers({0, 32}) == 1);
    CHECK(layers({1, 1}) == 1);
    CHECK(layers({2, 1}) == 1);
    const auto cascade = [&](int drafts, double length) {
        CascadeDrafter drafter{SelfDrafter{}, NgramDrafter{}};
        drafter.inner_tokens = drafts;
        drafter.inner_length = length;
        return wrong(drafter);
    };
    CHECK(cascade(1, 1.0) == 0);
    CHECK(cascade(1, 2.0) == 0);
    CHECK(cascade(1, 2.1) == 1);
    CHECK(cascade(1, 0.9) == 1);
    CHECK(cascade(0, 1.0) == 1);
}

TEST_CASE("SPIRe keeps one layer at least, and a sparse cache sees something") {
    const Model target = model("llama-3.1-8b");
    const auto wrong = [&](Count layers, double window) {
        SpireDrafter drafter;
        drafter.layers = layers;
        drafter.reach.window = window;
        return problems_of(Drafter(drafter), target).size();
    };
    CHECK(wrong(1, 256.0) == 0);
    CHECK(wrong(0, 256.0) == 1);
    CHECK(wrong(32, 256.0) == 0);
    CHECK(wrong(33, 256.0) == 1);
    CHECK(wrong(1, 0.0) == 1);
}

TEST_CASE("only drafters that read accepted tokens on their own have a pass for them") {
    const RoundSetup head = setup_of(OneLayerDrafter{}, Acceptance::geometric(0.7));
    const auto steps_for_context = [](const RoundSetup& setup) {
        const CompiledRound round = compile_round(setup);
        std::size_t context = 0;
        for (const RoundRow& row : round.rows) {
            const auto at = static_cast<std::size_t>(PassId::draft_context);
            context += row.begin[at + 1] - row.begin[at];
        }
        return context;
    };
    CHECK(steps_for_context(head) == 0);
    CHECK(steps_for_context(setup_of(ParallelDrafter{}, Acceptance::geometric(0.7))) > 0);
}

TEST_CASE("a Markov head runs once for each draft of a block, and reads a table of the whole vocabulary") {
    ParallelDrafter drafter = ParallelDrafter::published_dspark();
    const auto passes_of_head = [&] {
        const CompiledRound round = compile_round(setup_of(drafter, Acceptance::geometric(0.7)));
        const auto head = static_cast<std::size_t>(PassId::draft_markov);
        double runs = 0.0, drafts = 0.0;
        for (const RoundRow& row : round.rows) {
            for (std::uint32_t i = row.begin[head]; i < row.begin[head + 1]; ++i) {
                runs += round.steps[i].runs;
                CHECK(round.steps[i].tokens == 1.0);
                CHECK(round.steps[i].phase == Phase::draft);
            }
            drafts += row.problem.empty() ? row.draft_tokens : 0.0;
        }
        return std::pair(runs, drafts);
    };
    const auto [runs, drafts] = passes_of_head();
    REQUIRE(drafts > 0.0);
    CHECK(runs == drafts);
    const RoundSetup setup = setup_of(drafter, Acceptance::geometric(0.7));
    const DrafterPlan with = plan(setup.drafter, setup.target, setup.precision);
    const double rows = static_cast<double>(setup.target.vocabulary_size);
    REQUIRE(with.markov.model);
    CHECK(with.markov.model->width == 256);
    CHECK(with.markov.model->order.empty());

    ParallelDrafter independent = drafter;
    independent.markov_rank = 0;
    const DrafterPlan without = plan(Drafter(independent), setup.target, setup.precision);
    CHECK_FALSE(without.markov.model);
    const double both_tables = 2.0 * 2.0 * 256.0 * rows;  // bf16: the rows that tokens add, and what they are multiplied with
    CHECK((added_weights(with, 1.0, {}) - added_weights(without, 1.0, {})).value() == Approx(both_tables));
    const CompiledRound round = compile_round(setup);
    const CompiledPass& head = round.pass(PassId::draft_markov);
    const auto table = std::max_element(
        head.operations.begin(), head.operations.end(),
        [](const TimedOperation& a, const TimedOperation& b) { return a.cost.bytes.fixed < b.cost.bytes.fixed; });
    REQUIRE(table != head.operations.end());
    CHECK(table->cost.bytes.fixed.value() == Approx(2.0 * 256.0 * rows));

    drafter.gru_width = 1024;  // Domino: the first draft goes without, and so does the target's embedding
    const auto [fewer, as_many] = passes_of_head();
    CHECK(as_many == drafts);
    CHECK(fewer < runs);
    const DrafterPlan domino = plan(Drafter(drafter), setup.target, setup.precision);
    const double width = static_cast<double>(setup.target.width);
    const double of_gru = 3.0 * 1024.0 * (width + 1.0 + 1024.0 + 1.0) + 256.0 * (width + 1024.0);
    CHECK((added_weights(domino, 1.0, {}) - added_weights(without, 1.0, {})).value() ==
          Approx(2.0 * (256.0 * rows + of_gru)).epsilon(1e-4));
}

TEST_CASE("a cascade that drafts nothing reads each token once in both of its models") {
    CascadeDrafter drafter;
    drafter.middle = IndependentDrafter{model("llama-3.2-1b"), model("llama-3.2-1b").precision};
    drafter.inner = IndependentDrafter{model("llama-3.2-1b"), model("llama-3.2-1b").precision};
    const CompiledRound round = compile_round(setup_of(drafter, Acceptance::geometric(0.7)));
    const auto inner = static_cast<std::size_t>(PassId::draft_inner);
    REQUIRE(round.off.begin[inner + 1] - round.off.begin[inner] == 1);
    const RoundStep& step = round.steps[round.off.begin[inner]];
    CHECK(step.rows == 1.0);
    CHECK(step.tokens == 1.0);
    CHECK(step.runs == 1.0);
}

TEST_CASE("the first pass over a tree ends at one token, whose successors are drafted") {
    const TreeShape shape = WidthsShape{{3, 2}};
    const DraftTree tree = build_tree(shape, RankAcceptance());
    const Model small = model("llama-3.2-1b");
    const DraftSteps steps =
        draft_steps(plan(Drafter(IndependentDrafter{small, small.precision}), small, small.precision), shape, tree, {}, false);
    REQUIRE(steps.passes.size() == 2);
    CHECK(steps.passes[0].logits == 1.0);
    CHECK(steps.passes[1].logits == steps.passes[1].tokens);
}

TEST_CASE("of a look-up whose misses were counted as rejected, hits have 0.62 and then 0.75 accepted") {
    NgramDrafter lookup;
    Acceptance once = Acceptance::per_position({0.31});
    count_misses(lookup, once, 1);
    CHECK(lookup.hit_rate == Approx(0.5));
    CHECK(once.position(1) == Approx(0.62));
    // Two drafts of a hit have 0.62·1.75 = 1.085 accepted, on average; of all 0.434 + 0.217.
    Acceptance twice = Acceptance::per_position({0.434, 0.217});
    count_misses(lookup, twice, 2);
    CHECK(lookup.hit_rate == Approx(0.6));
    CHECK(twice.position(1) == Approx(0.434 / 0.6));
    CHECK(twice.position(2) == Approx(0.217 / 0.6));
    // No fewer rounds hit than have a draft accepted, and no more than all do.
    Acceptance sure = Acceptance::per_position({0.5, 0.0});
    count_misses(lookup, sure, 2);
    CHECK(lookup.hit_rate == Approx(0.5));
    Acceptance always = Acceptance::per_position({0.9, 0.9});
    count_misses(lookup, always, 2);
    CHECK(lookup.hit_rate == 1.0);
    Acceptance never = Acceptance::per_position({0.0});
    lookup.hit_rate = 0.7;
    count_misses(lookup, never, 1);
    CHECK(lookup.hit_rate == 0.7);
}

}  // namespace drafter_kinds_test
