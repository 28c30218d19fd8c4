// Are trees, ways of verifying and policies for recurrent states priced as the formula sheet says, on every kind of target?
#include <catch2/catch.hpp>

#include "sim/drafters/draft_steps.h"
#include "tree_setups.h"

namespace tree_round_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup mamba(std::vector<Speculation> speculations, Rollback rollback, const char* device_name = "rtx-3090") {
    return with_trees(pair_setup("mamba2-2.7b", "mamba2-130m", platform(device_name, "cuda-graph")), std::move(speculations),
                      rollback);
}

std::vector<Speculation> every_way() {
    std::vector<Speculation> all;
    for (const Verification verification : all_verifications) {
        for (const TreeShape& shape :
             {TreeShape(ChainShape{4}), TreeShape(BinaryShape{4}), TreeShape(SequencesShape{3, 4}), TreeShape(BeamShape{4, 5}),
              TreeShape(SglangShape{5, 4, 24}), TreeShape(OptimalShape{24, 6, 0}), TreeShape(BranchingShape{{3, 2, 2, 1}})}) {
            all.push_back(shaped(shape, verification));
        }
    }
    return all;
}

RoundSetup hybrid(std::vector<Speculation> speculations, Rollback rollback) {
    RoundSetup setup = pair_setup("llama3.1-mamba2-8b-distill", "mamba2-llama3.1-draft", platform("rtx-3090", "cuda-graph"));
    return with_trees(setup, std::move(speculations), rollback);
}

double bytes_of(const std::vector<Operation>& operations, const char* name, const PassShape& shape) {
    for (const Operation& operation : operations) {
        if (operation.name.find(name) != std::string::npos) {
            return bytes_of<true, true>(operation, terms_of(shape)).value();
        }
    }
    FAIL("no operation " << name);
    return 0.0;
}

double flops_of_scan(const std::vector<Operation>& operations, const char* name, const PassShape& shape) {
    for (const Operation& operation : operations) {
        if (operation.name.find(name) != std::string::npos) {
            return flops_of<true>(operation, terms_of(shape)).value();
        }
    }
    FAIL("no operation " << name);
    return 0.0;
}

}  // namespace

TEST_CASE("columns equal points bit for bit on every shape, way of verifying and policy") {
    std::vector<RoundSetup> setups = {llama(every_way())};
    for (const Rollback rollback : rollbacks_for(model("mamba2-2.7b"))) {
        setups.push_back(mamba(every_way(), rollback));
        setups.push_back(hybrid(every_way(), rollback));
    }
    setups.push_back(setups.front());
    setups.back().platform.mode = CostMode::hoi;
    std::size_t compared = 0;
    for (const RoundSetup& setup : setups) {
        REQUIRE(problems_of(setup).empty());
        const CompiledRound round = compile_round(setup);
        std::vector<int> speculation;
        std::vector<double> batch, context;
        for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
            for (int repeat = 0; round.runs(i) && repeat < 40; ++repeat) {
                speculation.push_back((i * 7 + repeat) % static_cast<int>(round.rows.size()));
                if (!round.runs(speculation.back())) {
                    speculation.back() = i;
                }
                batch.push_back(1.0 + repeat * 13 % 64);
                context.push_back(repeat * 997 % 32768);
            }
        }
        std::vector<RoundEstimate> estimates(batch.size());
        evaluate(round, {speculation, batch, context}, estimates);
        for (std::size_t i = 0; i < estimates.size(); ++i) {
            const RoundEstimate point = evaluate(round, {speculation[i], batch[i], context[i]});
            const bool same = point.round == estimates[i].round && point.draft == estimates[i].draft &&
                              point.verify == estimates[i].verify && point.rollback == estimates[i].rollback &&
                              point.memory == estimates[i].memory && point.energy_per_token == estimates[i].energy_per_token &&
                              point.accept_length == estimates[i].accept_length;
            compared += same ? 1 : 0;
            if (!same) {
                FAIL("point " << i << " of " << setup.target.name << ", " << name_of(setup.rollback));
            }
        }
    }
    CHECK(compared > 5'000);
}

TEST_CASE("full binary trees packed and unrolled have the published states and tokens") {
    // STree, figure 3: 1 state and 15, 31, 63 tokens packed; 8, 16, 32 states and 32, 80, 192 tokens unrolled. (80 is printed
    // as 90; 16 paths of 5 tokens make 80.)
    for (const auto& [levels, packed_tokens, states, tokens] :
         {std::tuple(4, 15.0, 8.0, 32.0), std::tuple(5, 31.0, 16.0, 80.0), std::tuple(6, 63.0, 32.0, 192.0)}) {
        const DraftTree tree = build_tree(BinaryShape{levels}, {});
        const VerifyShape packed = verify_shape(Verification::packed, tree);
        CHECK(packed.sequences == 1.0);
        CHECK(packed.tokens == packed_tokens);
        const VerifyShape unrolled = verify_shape(Verification::unrolled, tree);
        CHECK(unrolled.sequences == states);
        CHECK(unrolled.sequences * unrolled.tokens == tokens);
    }
}

TEST_CASE("a packed tree reads the state once and computes over pairs of tokens, as the formula sheet says") {
    // Mamba2-2.7b: H = 80 heads of P = 64, N = 128, G = 1; b = 2, n = 15.
    const Model target = model("mamba2-2.7b");
    Precision precision = uniform_precision(NumberFormat::bf16);
    precision.state = Storage{NumberFormat::fp32};
    PassOptions options;
    options.writes = StateWrites::none;
    options.verification = Verification::packed;
    const auto operations = operations_of(target, precision, options);
    const double b = 2.0, n = 15.0, H = 80.0, P = 64.0, N = 128.0;
    const PassShape shape{b, n, 0.0, n};
    CHECK(flops_of_scan(operations, "tree scan", shape) ==
          2 * b * n * n * N + 2 * b * H * n * P * N + 2 * b * H * n * n * P + b * H * n * n);
    const double own = 3.0 * H * 4;  // A, D and the bias of dt in fp32
    const double state = H * P * N * 4, inputs = 2 * (3 * H * P + 2 * N + H);
    CHECK(bytes_of(operations, "tree scan", shape) == Approx(b * (state + n * inputs + 8.125 * n * n) + own).epsilon(1e-12));
    // An engine that snapshots every node reads each node's state from its parent's slot and writes its own.
    options.writes = StateWrites::every_state;
    CHECK(bytes_of(operations_of(target, precision, options), "tree scan with snapshots", shape) ==
          Approx(b * n * (2 * state + inputs) + own).epsilon(1e-12));
    // The chunk scan reads and writes the state, and passes it through memory once more in fp32; scores too.
    options.verification = Verification::unrolled_chunk;
    const auto chunked = operations_of(target, precision, options);
    CHECK(bytes_of(chunked, "chunk scan", shape) == Approx(b * (6 * state + n * inputs + 8.0 * n * n) + own).epsilon(1e-12));
    // One of the two products with the state runs the tiles of a whole chunk of 256.
    CHECK(flops_of_scan(chunked, "chunk scan", shape) == b * (2 * n * n * N + 2 * H * n * n * P + 2 * H * (n + 256) * P * N));
}

TEST_CASE("tree attention computes a dense block of new tokens under a mask of a bit a pair") {
    PassOptions options;
    options.verification = Verification::packed;
    const Precision bf16 = uniform_precision(NumberFormat::bf16);
    const auto packed = operations_of(model("llama-3-8b"), bf16, options);
    const auto chain_pass = operations_of(model("llama-3-8b"), bf16, {});
    const PassShape shape{4.0, 13.0, 1000.0, 13.0};
    // 32 heads of 128: a chain sees s + (n + 1)/2 keys on average, the block s + (n + 1)/2 + n/2.
    CHECK(flops_of_scan(packed, ": attention", shape) == 4.0 * 52 * 32 * 128 * (1000 + 7.0 + 6.5));
    CHECK(bytes_of(packed, ": attention", shape) - bytes_of(chain_pass, ": attention", shape) == 4.0 * 13 * 13 / 8);
}

TEST_CASE("of an accepted path all tokens but the root move in the cache, which stands where it belongs") {
    const CompiledRound round = compile_round(llama({shaped(BinaryShape{3}, Verification::packed)}));
    REQUIRE(round.runs(1));
    const RoundRow& row = round.row(1);
    const auto pass = static_cast<std::size_t>(PassId::compaction);
    REQUIRE(row.begin[pass + 1] - row.begin[pass] == 1);
    CHECK(row.accept_length() > 1.5);
    CHECK(round.steps[row.begin[pass]].tokens == row.accept_length() - 1.0);
    CHECK(round.steps[row.begin[pass]].rows == 1.0);
}

TEST_CASE("joint attainment: one row more, between k + 1 and 2k + 1 tokens, one pass for each length") {
    const CompiledRound round = compile_round(mamba({shaped(SequencesShape{2, 6}, Verification::unrolled)}, Rollback::joint));
    REQUIRE(round.runs(1));
    const RoundRow& row = round.row(1);
    const auto pass = static_cast<std::size_t>(PassId::verify_unrolled);
    double probability = 0.0;
    REQUIRE(row.begin[pass + 1] - row.begin[pass] == 7);  // Snakes and Ladders: K + 1 graphs, 1 + K to 1 + 2K tokens
    for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
        const RoundStep& step = round.steps[i];
        CHECK(step.rows == 3.0);
        CHECK(step.tokens == 7.0 + (i - row.begin[pass]));
        probability += step.runs;
    }
    CHECK(probability == Approx(1.0));
    CHECK(row.activations == 3.0 * (7 + 6));  // the longest
    std::vector<std::string> verifications;
    for (const ExplainedPass& explained : explain(round, {1, 1.0, 100.0})) {
        if (explained.phase.starts_with("verify")) {
            verifications.push_back(explained.phase);
        }
    }
    REQUIRE(verifications.size() == 7);
    CHECK(verifications.front() == "verify, length 1");
    CHECK(verifications.back() == "verify, length 7");
    CHECK(row.target_states == 3.0);  // N + 1 for N drafts
    const CompiledRound replay = compile_round(mamba({shaped(SequencesShape{2, 6}, Verification::unrolled)}, Rollback::replay));
    CHECK(replay.row(1).target_states == 2.0);  // N, and the activations of the last step
    CHECK(replay.row(1).cached_activations == 14.0);
}

TEST_CASE("the input ring: exact for certain acceptance, and a larger ring is flushed less") {
    AcceptedTokens all;
    all.exactly = {0.0, 0.0, 0.0, 1.0};  // always 3 drafts: 4 tokens a round
    // Ring of 16: fills 4, 8, 12, 16, and at 16 the next 4 no longer fit: every fourth verification writes the state.
    const RingUse use = ring_use(all, 16);
    CHECK(use.flush_probability == Approx(0.25));
    CHECK(use.mean_tokens == Approx(10.0));
    AcceptedTokens mixed;
    mixed.exactly = {0.4, 0.3, 0.2, 0.1};  // mean 2 tokens a round
    double before = 1.0;
    for (const int capacity : {4, 8, 16, 32, 64}) {
        const RingUse larger = ring_use(mixed, capacity);
        CHECK(larger.flush_probability <= before + 1e-12);
        CHECK(larger.mean_tokens <= capacity);
        // A flush empties the ring, so tokens written a round are about the mean number of tokens a flush carries.
        before = larger.flush_probability;
    }
    CHECK(before == Approx(2.0 / 61.0).epsilon(0.05));  // about one flush per (64 − 4 + 1) / 2 rounds
}

TEST_CASE("memory of the policies: replay < joint < snapshot; unrolled trees outgrow a card where packed ones fit") {
    const auto memory = [](Rollback rollback, const Speculation& speculation) {
        return evaluate(compile_round(mamba({speculation}, rollback)), {1, 1.0, 512.0}).memory;
    };
    // Snakes and Ladders, table 4 (Mamba-2-2.7B, one draft of 6): 6.78 GB with replay, 7.51 GB joint, 6.60 GB without.
    for (const int k : {2, 6, 12}) {
        CHECK(memory(Rollback::replay, chain(k)) < memory(Rollback::joint, chain(k)));
        CHECK(memory(Rollback::joint, chain(k)) < memory(Rollback::snapshot, chain(k)));
    }
    // STree, table 1: packed trees of 8 to 40 nodes need 7.67 to 7.91 GB, unrolled ones 8.47 to 12.32 GB.
    Bytes packed_before, unrolled_before;
    for (const int levels : {3, 4, 5, 6, 7}) {
        const Bytes packed = memory(Rollback::replay, shaped(BinaryShape{levels}, Verification::packed));
        const Bytes unrolled = memory(Rollback::replay, shaped(BinaryShape{levels}, Verification::unrolled));
        CHECK(packed < unrolled);
        CHECK(unrolled - packed > 1.9 * (unrolled_before - packed_before));  // a state a leaf: doubles with each level
        packed_before = packed;
        unrolled_before = unrolled;
    }
    const CompiledRound round =
        compile_round(mamba({shaped(BinaryShape{8}, Verification::packed), shaped(BinaryShape{7}, Verification::unrolled),
                             shaped(BinaryShape{8}, Verification::unrolled)},
                            Rollback::replay));
    CHECK(evaluate(round, {1, 1.0, 512.0}).fits);
    CHECK(evaluate(round, {2, 1.0, 512.0}).fits);        // 64 states of 170 MB
    CHECK_FALSE(evaluate(round, {3, 1.0, 512.0}).fits);  // 128 of them on a card of 24 GB
}

TEST_CASE("an SSM drafter's memory does not grow with the context, a Transformer's does") {
    const auto growth = [](RoundSetup setup) {
        setup.prompt_tokens = 512.0;  // however long the answer grows
        const CompiledRound round = compile_round(setup);
        return evaluate(round, {1, 1.0, 32768.0}).memory - evaluate(round, {1, 1.0, 1024.0}).memory;
    };
    const Speculation tree = shaped(BranchingShape{{3, 2, 2, 1, 1}}, Verification::packed);
    CHECK(growth(mamba({tree}, Rollback::replay)) == Bytes(0.0));
    CHECK(growth(llama({tree})) > Bytes(0.0));
}

TEST_CASE("drafting a tree: a pass a level, over the nodes that get children") {
    const DraftTree tree = build_tree(BranchingShape{{3, 2, 2, 1, 1}}, {});  // widths 3, 6, 12, 12, 12
    CHECK(expanded_nodes(BranchingShape{{3, 2, 2, 1, 1}}, tree) == std::vector<double>{3, 6, 12, 12});
    const DraftTree grown = build_tree(SglangShape{5, 4, 24}, ranks);
    CHECK(expanded_nodes(SglangShape{5, 4, 24}, grown) == std::vector<double>{4, 4, 4, 4});
    AcceptedTokens accepted = accepted_tokens(mamba({}, Rollback::replay).acceptance, BranchingShape{{3, 2, 2, 1, 1}}, tree);

    const Model small = model("mamba2-130m");
    const DrafterPlan recurrent = plan(Drafter(IndependentDrafter{small, small.precision}), small, small.precision);
    const DraftSteps batch = draft_steps(recurrent, BranchingShape{{3, 2, 2, 1, 1}}, tree, accepted, false);
    REQUIRE(batch.passes.size() == 5);
    CHECK(batch.passes[3].rows == 12.0);
    CHECK(batch.passes[3].tokens == 1.0);
    CHECK(batch.copied_states == 3.0 + 6.0 + 12.0);  // where a level has more nodes than the one before
    CHECK_FALSE(batch.tree_attention);

    const Model transformer = model("llama-3.2-1b");
    const DrafterPlan attention =
        plan(Drafter(IndependentDrafter{transformer, transformer.precision}), transformer, transformer.precision);
    const DraftSteps levels = draft_steps(attention, BranchingShape{{3, 2, 2, 1, 1}}, tree, accepted, false);
    REQUIRE(levels.passes.size() == 5);
    CHECK(levels.passes[3].rows == 1.0);
    CHECK(levels.passes[3].tokens == 12.0);
    CHECK(levels.passes[3].context_offset == 1.0 + 3.0 + 6.0);
    CHECK(levels.passes[0].tokens == Approx(1.0 + accepted.ends_at_leaf));
    CHECK(levels.copied_states == 0.0);
}

TEST_CASE("eager state copies cost their launches, copies within the graph a node each") {
    RoundSetup setup = mamba({shaped(SequencesShape{2, 6}, Verification::unrolled)}, Rollback::joint);
    const Seconds in_graph = evaluate(compile_round(setup), {1, 1.0, 0.0}).rollback;
    setup.platform.stack.launching.state_copy = StateCopy::eager;
    setup.platform.stack.launching.eager_launch = Seconds(20e-6);
    const Seconds eager = evaluate(compile_round(setup), {1, 1.0, 0.0}).rollback;
    // 64 layers, a state and a convolution history each, for 2 rows one after the other, three calls each.
    CHECK(eager.value() == Approx(64 * 2 * 2 * 3 * 20e-6));
    CHECK(in_graph < eager);
}

TEST_CASE("what a stack, an engine or a policy cannot do is a sentence of that shape alone") {
    RoundSetup setup = mamba({chain(4), shaped(BinaryShape{4}, Verification::packed), chain(40),
                              shaped(BinaryShape{4}, Verification::unrolled_chunk)},
                             Rollback::ring);
    CompiledRound round = compile_round(setup);
    CHECK(round.runs(1));
    CHECK(round.runs(2));
    CHECK(round.row(3).problem.find("does not fit in a ring of 32 tokens") != std::string::npos);
    CHECK(round.row(4).problem.find("'ring' cannot follow verification 'unrolled-chunk'") != std::string::npos);
    setup.rollback = Rollback::joint;
    CHECK(compile_round(setup).row(2).problem.find("'joint' cannot follow verification 'packed'") != std::string::npos);
    setup.platform.stack = stack("vllm");
    CHECK(problems_of(setup).front() ==
          "the stack '" + setup.platform.stack.name + "' does not implement the rollback 'joint' (it has snapshot)");
    setup.rollback = Rollback::snapshot;
    round = compile_round(setup);
    CHECK(round.runs(1));
    CHECK(round.row(2).problem == "the stack '" + setup.platform.stack.name + "' verifies chains only");
    setup.acceptance.siblings = {};
    CHECK(compile_round(setup).row(2).problem.find("how often siblings are accepted") != std::string::npos);
}

}  // namespace tree_round_test
