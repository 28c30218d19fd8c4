// Which steps does a row of a compiled round have, and what does it keep? Every number is counted by hand from the shape of its
// draft and the policy that takes drafts back.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "setups.h"
#include "tree_setups.h"

namespace round_rows_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

/// Steps of one pass, each as rows, tokens, logits, context offset and runs.
using Steps = std::vector<std::vector<double>>;

Steps steps_of(const CompiledRound& round, const RoundRow& row, PassId id) {
    const auto pass = static_cast<std::size_t>(id);
    Steps found;
    for (std::uint32_t i = row.begin[pass]; i < row.begin[pass + 1]; ++i) {
        const RoundStep& step = round.steps[i];
        found.push_back({step.rows, step.tokens, step.logits, step.context_offset, step.runs});
    }
    return found;
}

const Steps none;
const Steps one_token = {{1.0, 1.0, 1.0, 0.0, 1.0}};  // of plain decoding

/// Mamba-2 2.7B and a smaller one; drafts are accepted with 1/2, siblings with 1/2 and 1/4.
RoundSetup mamba(Rollback rollback, std::vector<Speculation> speculations) {
    RoundSetup setup =
        with_trees(pair_setup("mamba2-2.7b", "mamba2-130m", platform("h100-sxm", "ideal")), std::move(speculations), rollback);
    setup.acceptance = Acceptance::geometric(0.5);
    setup.acceptance.siblings = RankAcceptance({0.5, 0.25});
    return setup;
}

CompiledRound compiled(const RoundSetup& setup) {
    REQUIRE(problems_of(setup).empty());
    return compile_round(setup);
}

}  // namespace

TEST_CASE("plain decoding is a row of one step, and a chain of three drafts adds its passes to it") {
    const CompiledRound round = compiled(mamba(Rollback::replay, {chain(3)}));
    const RoundRow& plain = round.row(0);
    CHECK(steps_of(round, plain, PassId::plain) == one_token);
    CHECK(plain.begin.back() - plain.begin.front() == 1);
    CHECK(plain.speculates == 0.0);
    CHECK(plain.holds_drafter == 0.0);
    CHECK(plain.graphs == 1.0);
    CHECK(plain.kept == 1.0);

    const RoundRow& row = round.row(1);
    CHECK(row.speculates == 1.0);
    CHECK(row.holds_drafter == 1.0);
    CHECK(row.draft_tokens == 3.0);
    CHECK(row.drafted == 3.0);
    CHECK(row.depth == 3.0);
    CHECK(row.branched == 0.0);
    CHECK(row.grown == 0.0);
    CHECK(row.unrolled_tokens == 0.0);
    // None, one, two or all three drafts: 1/2, 1/4, 1/8 and 1/8; an eighth of the rounds ends at the last one.
    CHECK(row.accepted.exactly == std::vector<double>{0.5, 0.25, 0.125, 0.125});
    CHECK(row.accept_length() == 1.875);
    CHECK(steps_of(round, row, PassId::plain) == one_token);
    CHECK(steps_of(round, row, PassId::draft) == Steps{{1.0, 1.125, 1.0, 0.0, 1.0}, {1.0, 1.0, 1.0, 1.5, 2.0}});
    CHECK(steps_of(round, row, PassId::verify_unrolled) == Steps{{1.0, 4.0, 4.0, 0.0, 1.0}});
    CHECK(steps_of(round, row, PassId::advance) == Steps{{1.0, 1.875, 0.0, 0.0, 1.0}});
    for (const PassId id : {PassId::draft_tree, PassId::draft_copy, PassId::draft_inner, PassId::draft_markov,
                            PassId::draft_context, PassId::verify_chunk, PassId::verify_packed, PassId::ring_replay,
                            PassId::ring_flush, PassId::state_copy, PassId::compaction}) {
        CHECK(steps_of(round, row, id) == none);
    }
    // Four tokens are verified; graphs of a step, of two kinds of draft passes and of the replay.
    CHECK(row.target_states == 1.0);
    CHECK(row.draft_states == 4.0);
    CHECK(row.cached_activations == 4.0);
    CHECK(row.logits == 4.0);
    CHECK(row.activations == 4.0);
    CHECK(row.new_tokens == 4.0);
    CHECK(row.graphs == 4.0);
}

TEST_CASE("engines that replay what was rejected, too, replay all that was verified") {
    for (const auto& [rollback, tokens] : {std::pair{Rollback::replay, 4.0}, {Rollback::recompute, 1.875}}) {
        RoundSetup setup = mamba(rollback, {chain(3)});
        setup.platform.stack.states.replays_rejected = true;
        const CompiledRound round = compiled(setup);
        CHECK(steps_of(round, round.row(1), PassId::advance) == Steps{{1.0, tokens, 0.0, 0.0, 1.0}});
    }
}

TEST_CASE("snapshots of all verified tokens are kept beside the live state, or with it among them") {
    RoundSetup setup = mamba(Rollback::snapshot, {chain(3)});
    CHECK(compiled(setup).row(1).target_states == 5.0);
    setup.platform.stack.states.snapshots_hold_live_state = true;
    CHECK(compiled(setup).row(1).target_states == 4.0);
    CHECK(compiled(setup).row(0).target_states == 1.0);
    setup.rollback = Rollback::replay;  // which keeps none for each token
    CHECK(compiled(setup).row(1).target_states == 1.0);
    // By engines: vLLM and llama.cpp keep it among them, SGLang and TensorRT-LLM beside them.
    const auto among = [](const char* stack) { return platform("h100-sxm", stack).stack.states.snapshots_hold_live_state; };
    CHECK((among("vllm-0.8") && among("vllm") && among("llama.cpp")));
    CHECK_FALSE((among("sglang") || among("tensorrt-llm") || among("cuda-graph")));
}

TEST_CASE("a ring keeps its tokens beside a draft's, is replayed in the verification and written now and then") {
    const CompiledRound round = compiled(mamba(Rollback::ring, {chain(3)}));
    const RoundRow& row = round.row(1);
    const RingUse ring = ring_use(row.accepted, ring_capacity);
    CHECK(steps_of(round, row, PassId::ring_replay) == Steps{{1.0, ring.mean_tokens, 0.0, 0.0, 1.0}});
    CHECK(steps_of(round, row, PassId::ring_flush) == Steps{{1.0, 1.0, 0.0, 0.0, ring.flush_probability}});
    CHECK(steps_of(round, row, PassId::advance) == none);
    CHECK(row.cached_activations == 4.0 + 32.0);
    CHECK(row.graphs == 3.0);
}

TEST_CASE("joint attainment carries the accepted drafts along: a pass for each number of them, with a row more") {
    const CompiledRound round = compiled(mamba(Rollback::joint, {chain(2)}));
    const RoundRow& row = round.row(1);
    // Three tokens, and none, one or two that were accepted: 1/2, 1/4, 1/4. Three logits on two rows.
    CHECK(steps_of(round, row, PassId::verify_unrolled) ==
          Steps{{2.0, 3.0, 1.5, 0.0, 0.5}, {2.0, 4.0, 1.5, 0.0, 0.25}, {2.0, 5.0, 1.5, 0.0, 0.25}});
    CHECK(steps_of(round, row, PassId::state_copy) == Steps{{1.0, 1.0, 0.0, 0.0, 1.0}});
    CHECK(row.target_states == 2.0);
    CHECK(row.activations == 2.0 * 5);
    CHECK(row.logits == 3.0);
    CHECK(row.graphs == 1.0 + 2 + 2);  // two kinds of draft passes, and two further lengths
    RoundSetup certain = mamba(Rollback::joint, {chain(2)});
    certain.acceptance = Acceptance::geometric(1.0);
    const CompiledRound always = compiled(certain);  // both drafts, in every round
    CHECK(steps_of(always, always.row(1), PassId::verify_unrolled) == Steps{{2.0, 5.0, 1.5, 0.0, 1.0}});
}

TEST_CASE("rows that verify a tree start from copies of a state, one after the other on a host or at once in a graph") {
    // Two children with two each: four paths of three tokens.
    const Speculation tree = shaped(BranchingShape{{2, 2}}, Verification::unrolled);
    RoundSetup setup = mamba(Rollback::snapshot, {tree});
    setup.platform.stack.states.committed_copies = 2.0;
    const auto copies = [&](StateCopy how) {
        setup.platform.stack.launching.state_copy = how;
        const CompiledRound round = compiled(setup);
        return steps_of(round, round.row(1), PassId::state_copy);
    };
    const std::vector<double> committed = {1.0, 1.0, 0.0, 0.0, 2.0};
    CHECK(copies(StateCopy::in_graph) == Steps{{1.0, 3.0, 0.0, 0.0, 1.0}, committed});
    CHECK(copies(StateCopy::eager) == Steps{{1.0, 1.0, 0.0, 0.0, 3.0}, committed});
    CHECK(copies(StateCopy::by_index) == Steps{{1.0, 1.0, 0.0, 0.0, 1.0}, committed});
    setup.platform.stack.states.committed_copies = 0.0;
    CHECK(copies(StateCopy::in_graph) == Steps{{1.0, 3.0, 0.0, 0.0, 1.0}});
    setup.rollback = Rollback::replay;  // which keeps none for each token
    setup.platform.stack.states.committed_copies = 2.0;
    CHECK(copies(StateCopy::in_graph) == Steps{{1.0, 3.0, 0.0, 0.0, 1.0}});
    setup.speculations = {chain(0), shaped(BranchingShape{{2}}, Verification::unrolled)};  // two rows: one copy
    CHECK(copies(StateCopy::in_graph) == Steps{{1.0, 1.0, 0.0, 0.0, 1.0}});
    setup.rollback = Rollback::snapshot;
    setup.platform.stack.states.committed_copies = 0.0;
    CHECK(copies(StateCopy::by_index) == Steps{{1.0, 1.0, 0.0, 0.0, 1.0}});
    setup.speculations = {chain(0), chain(2)};
    CHECK(copies(StateCopy::by_index) == none);
    CHECK(copies(StateCopy::in_graph) == none);
}

TEST_CASE("a tree of a recurrent drafter: a row for each node, copied states where paths part; rows or a packed tree verify") {
    RoundSetup setup = mamba(Rollback::snapshot, {shaped(BranchingShape{{2, 2}}, Verification::unrolled),
                                                  shaped(BranchingShape{{2, 2}}, Verification::packed)});
    const CompiledRound round = compiled(setup);
    const RoundRow &rows = round.row(1), &packed = round.row(2);
    for (const RoundRow* row : {&rows, &packed}) {
        CHECK(row->draft_tokens == 6.0);
        CHECK(row->depth == 2.0);
        CHECK(row->branched == 1.0);
        CHECK(row->grown == 0.0);
        CHECK(row->draft_states == 2.0 + 2.0);
        CHECK(steps_of(round, *row, PassId::draft_copy) == Steps{{2.0, 1.0, 0.0, 0.0, 1.0}});
        CHECK(row->accept_length() == 1.0 + 0.75 + 0.5625);
        CHECK(steps_of(round, *row, PassId::compaction) == none);  // nothing is cached by token
        CHECK(row->graphs == 1.0 + 2.0);
    }
    CHECK(steps_of(round, rows, PassId::verify_unrolled) == Steps{{4.0, 3.0, 3.0, 0.0, 1.0}});
    CHECK(rows.unrolled_tokens == 12.0);
    CHECK(rows.logits == 12.0);
    CHECK(rows.target_states == 4.0 + 12.0);
    CHECK(steps_of(round, packed, PassId::verify_packed) == Steps{{1.0, 7.0, 7.0, 0.0, 1.0}});
    CHECK(packed.unrolled_tokens == 0.0);
    CHECK(packed.new_tokens == 7.0);
    CHECK(packed.target_states == 1.0 + 7.0);
    setup.platform.stack.launching.state_copy = StateCopy::by_index;
    const CompiledRound indexed = compiled(setup);
    CHECK(steps_of(indexed, indexed.row(1), PassId::draft_copy) == none);
    CHECK(steps_of(round, rows, PassId::verify_packed) == none);
}

TEST_CASE("an accepted path moves in the cache where several paths were cached and a draft was accepted") {
    RoundSetup setup = llama({shaped(BranchingShape{{2, 2}}, Verification::packed), chain(2)});
    const auto moved = [&](double first, double second, int speculation) {
        setup.acceptance = Acceptance::geometric(first);
        setup.acceptance.siblings = RankAcceptance({first, second});
        const CompiledRound round = compiled(setup);
        return steps_of(round, round.row(speculation), PassId::compaction);
    };
    CHECK(moved(0.5, 0.25, 1) == Steps{{1.0, 0.75 + 0.5625, 0.0, 0.0, 1.0}});
    CHECK(moved(0.5, 0.0, 1) == Steps{{1.0, 0.75, 0.0, 0.0, 1.0}});
    CHECK(moved(0.0, 0.0, 1) == none);
    CHECK(moved(0.5, 0.25, 2) == none);
    const CompiledRound round = compiled(setup);
    // By attention over the tree: the root, with what the last round accepted at a leaf, then both children at once.
    CHECK(steps_of(round, round.row(1), PassId::draft_tree) == Steps{{1.0, 2.0, 2.0, 1.0, 1.0}});
    CHECK(steps_of(round, round.row(1), PassId::draft).size() == 1);
    CHECK(steps_of(round, round.row(2), PassId::draft).size() == 2);
}

TEST_CASE("which drafts branch, and which shapes differ from round to round") {
    struct Expected {
        TreeShape shape;
        Verification verification;
        Decoding decoding;
        double branched, grown;
    };
    using enum Verification;
    for (const Expected& each : {Expected{ChainShape{4}, unrolled, Decoding::greedy, 0.0, 0.0},
                                 Expected{BranchingShape{{2, 1}}, packed, Decoding::greedy, 1.0, 0.0},
                                 Expected{BranchingShape{{1, 1}}, packed, Decoding::greedy, 0.0, 0.0},
                                 Expected{OptimalShape{1, 1, 0}, packed, Decoding::greedy, 0.0, 0.0},
                                 Expected{SglangShape{3, 2, 6}, packed, Decoding::greedy, 1.0, 1.0},
                                 Expected{SglangShape{1, 2, 2}, packed, Decoding::greedy, 1.0, 1.0},  // settings for trees
                                 Expected{SglangShape{3, 1, 4}, packed, Decoding::greedy, 0.0, 0.0},
                                 Expected{SequencesShape{2, 3}, unrolled, Decoding::greedy, 0.0, 0.0},
                                 Expected{SequencesShape{2, 3}, packed, Decoding::greedy, 0.0, 1.0},
                                 Expected{SequencesShape{2, 3}, unrolled, Decoding::sampling, 0.0, 1.0},
                                 Expected{SequencesShape{1, 3}, packed, Decoding::sampling, 0.0, 0.0},
                                 Expected{BranchingShape{{2, 1}}, packed, Decoding::sampling, 1.0, 0.0}}) {
        RoundSetup setup = llama({shaped(each.shape, each.verification)});
        setup.decoding = each.decoding;
        const CompiledRound round = compiled(setup);
        CAPTURE(each.shape.index(), name_of(each.verification), name_of(each.decoding));
        REQUIRE(round.row(1).problem.empty());
        CHECK(round.row(1).branched == each.branched);
        CHECK(round.row(1).grown == each.grown);
    }
}

TEST_CASE("look-ups that find nothing, or end early, draft and verify fewer tokens and accept in fewer rounds") {
    RoundSetup setup = mamba(Rollback::snapshot, {chain(4)});
    const auto row_of = [&](double hit_rate, double mean_draft) {
        NgramDrafter drafter;
        drafter.hit_rate = hit_rate;
        drafter.mean_draft = mean_draft;
        setup.drafter = drafter;
        const CompiledRound round = compiled(setup);
        const Steps verified = steps_of(round, round.row(1), PassId::verify_unrolled);
        REQUIRE(verified.size() == 1);
        CHECK(verified.front()[1] == Approx(1.0 + round.row(1).drafted).epsilon(1e-14));
        return round.row(1);
    };
    // Half of the drafts accepted: 1 + 1/2 + 1/4 + 1/8 + 1/16.
    const RoundRow always = row_of(1.0, 0.0);
    CHECK(always.accept_length() == 1.9375);
    CHECK(always.drafted == 4.0);
    const RoundRow half = row_of(0.5, 0.0);
    CHECK(half.accept_length() == 1.0 + 0.5 * 0.9375);
    CHECK(half.drafted == 2.0);
    CHECK(half.accepted.exactly == std::vector<double>{0.5 + 0.25, 0.125, 0.0625, 0.03125, 0.03125});
    // A draft goes on with 1/2: 1, 1/2, 1/4 and 1/8 of them are there, of which 1/2, 1/4, … are accepted.
    const RoundRow early = row_of(1.0, 2.0);
    CHECK(early.drafted == Approx(1.875).epsilon(1e-14));
    CHECK(early.accept_length() == Approx(1.0 + 1.0 / 2 + 1.0 / 8 + 1.0 / 32 + 1.0 / 128).epsilon(1e-14));
    const RoundRow both = row_of(0.5, 2.0);
    CHECK(both.drafted == Approx(0.9375).epsilon(1e-14));
    CHECK(both.accept_length() == Approx(1.0 + 0.5 * (1.0 / 2 + 1.0 / 8 + 1.0 / 32 + 1.0 / 128)).epsilon(1e-14));
    // Positions that were measured hold as they are; no fewer are drafted than accepted.
    setup.acceptance = Acceptance::per_position({0.9, 0.8, 0.7, 0.6});
    const RoundRow measured = row_of(1.0, 1.5);
    CHECK(measured.accept_length() == Approx(4.0));
    CHECK(measured.drafted == Approx(3.0));
    CHECK(row_of(0.5, 0.0).drafted == 2.0);
}

TEST_CASE("where nothing is drafted a drafter with a cache reads what it misses: in its pass, or in one of its own") {
    RoundSetup setup = llama({chain(2)});
    const auto off_steps = [&](PassId id) {
        const CompiledRound round = compiled(setup);
        CHECK(steps_of(round, round.off, PassId::plain) == one_token);
        return steps_of(round, round.off, id);
    };
    const Steps reads = {{1.0, 1.0, 0.0, 0.0, 1.0}};
    CHECK(off_steps(PassId::draft) == reads);
    CHECK(off_steps(PassId::draft_context) == none);
    setup.platform.stack.drafts.drafter_reads_round = true;
    CHECK(off_steps(PassId::draft) == none);
    CHECK(off_steps(PassId::draft_context) == reads);
    setup.platform.stack.drafts.drafter_reads_round = false;
    setup.drafter = ParallelDrafter::published_dspark();
    CHECK(off_steps(PassId::draft) == none);
    CHECK(off_steps(PassId::draft_context) == reads);
    setup.drafter = NgramDrafter{};
    CHECK(off_steps(PassId::draft) == none);
}

TEST_CASE("where times jump with rows a mean of tokens is priced as whole tokens in their shares") {
    RoundSetup setup = mamba(Rollback::recompute, {chain(3)});
    KernelLaw tiles;
    tiles.row_tile = 64.0;
    setup.platform.mode = CostMode::calibrated;
    setup.platform.device.calibration = Calibration{"h100-sxm", "", "", {{KernelClass::gemm, NumberFormat::bf16, tiles}}};
    const CompiledRound round = compiled(setup);
    const RoundRow& row = round.row(1);
    // 1.875 tokens: two in 7 of 8 rounds. The drafter's first pass has 1.125, and one logit whatever it reads.
    CHECK(steps_of(round, row, PassId::advance) == Steps{{1.0, 1.0, 0.0, 0.0, 0.125}, {1.0, 2.0, 0.0, 0.0, 0.875}});
    CHECK(steps_of(round, row, PassId::draft) ==
          Steps{{1.0, 1.0, 1.0, 0.0, 0.875}, {1.0, 2.0, 1.0, 0.0, 0.125}, {1.0, 1.0, 1.0, 1.5, 2.0}});
    CHECK(steps_of(round, row, PassId::verify_unrolled) == Steps{{1.0, 4.0, 4.0, 0.0, 1.0}});
    // Look-ups with 1.5 drafts in the mean: verifications of two and of three tokens, with as many logits.
    NgramDrafter drafter;
    drafter.hit_rate = 0.5;
    setup.drafter = drafter;
    const CompiledRound found = compiled(setup);
    CHECK(steps_of(found, found.row(1), PassId::verify_unrolled) ==
          Steps{{1.0, 2.0, 2.0, 0.0, 0.5}, {1.0, 3.0, 3.0, 0.0, 0.5}});
}

TEST_CASE("why a row cannot run: no drafter, no reach, an answer of one token, a ring of an engine that replays chains only") {
    const auto problem = [](const RoundSetup& setup) { return compile_round(setup).row(1).problem; };
    RoundSetup setup = llama({chain(2)});
    setup.prompt_tokens = 100.0;
    for (const auto& [answer, runs] : {std::pair{0.0, true}, {0.5, false}, {1.0, false}, {1.01, true}}) {
        setup.output_tokens = answer;
        CHECK(problem(setup).empty() == runs);
    }
    setup = llama({chain(2)});
    setup.drafter = NoDrafter{};
    CHECK(problem(setup) == "there is no drafter");
    setup.drafter = ParallelDrafter::published_dspark();
    CHECK(problem(setup).empty());
    setup.speculations.back() = shaped(BranchingShape{{2, 1}}, Verification::packed);
    CHECK(problem(setup) == "the drafter proposes a chain in one pass, and no tree");
    setup.speculations.back() = shaped(BranchingShape{{1, 1}}, Verification::packed);
    CHECK(problem(setup).empty());

    RoundSetup ring = mamba(Rollback::ring, {shaped(BranchingShape{{2, 1}}, Verification::packed)});
    CHECK(problem(ring).empty());
    ring.platform.stack.states.rollback_flags[Rollback::ring] = "--ring";
    CHECK_THAT(problem(ring), Catch::EndsWith("replays chains only"));
    ring.speculations.back() = chain(2);
    CHECK(problem(ring).empty());
    ring.drafter = NgramDrafter{};
    CHECK_THAT(problem(ring), Catch::EndsWith("replays drafts of a model or head only"));
    ring.platform.stack.states.rollback_flags.clear();
    CHECK(problem(ring).empty());
}

TEST_CASE("a device's memory is told part by part, the largest first, and logits where prompts need no more than a round") {
    RoundSetup setup = llama({chain(2)});
    setup.platform.stack.serving.logits_of_prompt = true;
    setup.platform.stack.caches.score_bytes = Bytes(0.0);
    setup.prompt_tokens = 1.0;
    const auto parts = [&](int speculation) {
        std::vector<std::string> names;
        const std::vector<MemoryPart> found = memory_parts(compiled(setup), {speculation, 3.0, 1.0});
        for (const MemoryPart& part : found) {
            CHECK(part.bytes > Bytes(0.0));
            names.push_back(part.part);
        }
        CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
        return names;
    };
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    // A prompt of one token needs what a step of plain decoding does.
    const std::vector<std::string> plain = parts(0);
    CHECK(plain.front() == "target weights");
    CHECK(has(plain, "logits"));
    CHECK(has(plain, "activations"));
    CHECK_FALSE(has(plain, "activations while prompts are read"));
    CHECK_FALSE(has(plain, "drafter weights"));
    CHECK(has(parts(1), "drafter weights"));
    setup.prompt_tokens = 100.0;
    CHECK(has(parts(0), "activations while prompts are read"));
    CHECK_FALSE(has(parts(0), "logits"));
}

}  // namespace round_rows_test
