// What each number of a software stack adds to passes, rounds and memory. The stack is the ideal one with that number alone.
#include <catch2/catch.hpp>

#include "setups.h"

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double microsecond = 1e-6;
constexpr double layers = 64.0;  // of Mamba-2 2.7B

Speculation chain(int tokens) { return {ChainShape{tokens}, Verification::unrolled, "chain"}; }

/// Mamba-2 2.7B on an A10G with n-gram drafts that cost nothing.
RoundSetup mamba_setup(Rollback rollback, const Speculation& speculation) {
    RoundSetup setup;
    setup.target = model("mamba2-2.7b");
    setup.precision = setup.target.precision;
    setup.platform = platform("a10g", "ideal");
    setup.drafter = NgramDrafter{Seconds(0.0)};
    setup.acceptance = Acceptance::geometric(0.5);
    setup.rollback = rollback;
    setup.speculations = {chain(0), speculation};
    return setup;
}

RoundEstimate estimate(const RoundSetup& setup, double batch = 1.0) {
    REQUIRE(problems_of(setup).empty());
    const CompiledRound round = compile_round(setup);
    REQUIRE(round.runs(1));
    return evaluate(round, {1, batch, 100.0});
}

/// What `change` of the stack adds to a round, in microseconds.
template <class Change>
double added_microseconds(RoundSetup setup, double batch, Change change) {
    const Seconds before = estimate(setup, batch).round;
    change(setup.platform.stack);
    return (estimate(setup, batch).round - before).value() / microsecond;
}

}  // namespace

TEST_CASE("kernels that reach half of the bandwidth take twice as long where memory bounds them") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const Seconds whole = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.stack.memory_efficiency = 0.5;
    setup.platform.stack.unhidden = 0.0;
    // Token-by-token scans add their few FLOPs to the memory time, so a little less than twice.
    const Seconds half = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK(half / whole == Approx(2.0).epsilon(0.01));
    CHECK(half / whole < 2.0);
}

TEST_CASE("each token of a scan waits for the one before: layers x tokens x step, replay included") {
    const auto step = [](Stack& stack) { stack.scan_step = Seconds(1.0 * microsecond); };
    // Verification of 5 tokens, and a replay of the τ tokens that were accepted: 64·(5 + τ) us.
    const RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const double accepted = estimate(setup).accept_length;
    CHECK(added_microseconds(setup, 1.0, step) == Approx(layers * (5.0 + accepted)));
    // Rows of a batch step side by side.
    CHECK(added_microseconds(setup, 8.0, step) == Approx(layers * (5.0 + accepted)));
}

TEST_CASE("the step latency is the same in both faces, to the last bit") {
    RoundSetup setup = mamba_setup(Rollback::joint, chain(4));
    setup.platform.stack = stack("research-graph");
    setup.speculations.push_back({SequencesShape{2, 3}, Verification::unrolled, "2x3"});
    const CompiledRound round = compile_round(setup);
    const std::vector<int> speculation = {0, 1, 2, 1};
    const std::vector<double> batch = {1.0, 2.0, 3.0, 4.0}, context(4, 100.0);
    std::vector<RoundEstimate> columns(4);
    evaluate(round, {speculation, batch, context}, columns);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(columns[i].round == evaluate(round, {speculation[i], batch[i], context[i]}).round);
    }
}

TEST_CASE("operations of an explained pass still add up with step latencies") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.scan_step = Seconds(2.0 * microsecond);
    for (const ExplainedPass& pass : explain(compile_round(setup), {1, 2.0, 100.0})) {
        Seconds sum;
        for (const OperationEstimate& operation : pass.operations) {
            sum += operation.time;
        }
        CHECK(sum / pass.time == Approx(1.0));
    }
}

TEST_CASE("host work of a round: replay passes, trees, verified tokens, sampling") {
    const RoundSetup replayed = mamba_setup(Rollback::replay, chain(4));
    const RoundSetup joint = mamba_setup(Rollback::joint, chain(4));
    const auto rollback = [](Stack& stack) { stack.host_per_rollback = Seconds(70.0 * microsecond); };
    CHECK(added_microseconds(replayed, 1.0, rollback) == Approx(70.0));
    CHECK(added_microseconds(joint, 1.0, rollback) == Approx(0.0).margin(1e-6));

    const auto tree = [](Stack& stack) { stack.host_per_tree = Seconds(30.0 * microsecond); };
    const RoundSetup branched = mamba_setup(Rollback::replay, {SequencesShape{2, 4}, Verification::unrolled, "2x4"});
    RoundSetup packed = mamba_setup(Rollback::replay, {WidthsShape{{2, 2}}, Verification::packed, "widths 2,2"});
    packed.acceptance.siblings = RankAcceptance({0.5, 0.2});
    CHECK(added_microseconds(packed, 1.0, tree) == Approx(30.0));
    CHECK(added_microseconds(branched, 1.0, tree) == Approx(0.0).margin(1e-6));  // independent sequences are rows, no tree
    CHECK(added_microseconds(replayed, 1.0, tree) == Approx(0.0).margin(1e-6));

    // Two sequences of 2 drafts of 4 tokens and a root: repeating the root in both rows is no host work.
    const auto token = [](Stack& stack) { stack.host_per_draft_token = Seconds(5.0 * microsecond); };
    CHECK(added_microseconds(branched, 2.0, token) == Approx(2.0 * (2.0 * 4.0 + 1.0) * 5.0));

    const auto sampling = [](Stack& stack) { stack.host_per_sampling = Seconds(11.0 * microsecond); };
    CHECK(added_microseconds(replayed, 1.0, sampling) == Approx(0.0).margin(1e-6));
    RoundSetup sampled = replayed;
    sampled.decoding = Decoding::sampling;
    // N-gram drafts sample nothing: one pass, that verifies.
    CHECK(added_microseconds(sampled, 1.0, sampling) == Approx(11.0));
}

TEST_CASE("each sequence of a step, and each of its tokens, adds to plain decoding and to rounds, in both evaluators") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const auto sequence = [](Stack& stack) { stack.host_per_sequence = Seconds(30.0 * microsecond); };
    const auto token = [](Stack& stack) { stack.host_per_verified_token = Seconds(7.0 * microsecond); };
    CHECK(added_microseconds(setup, 8.0, sequence) == Approx(8.0 * 30.0));
    CHECK(added_microseconds(setup, 8.0, token) == Approx(8.0 * 5.0 * 7.0));  // four drafts and the bonus token

    const DesignPoint plain{0, 8.0, 100.0};
    const Seconds before = evaluate(compile_round(setup), plain).round;
    sequence(setup.platform.stack);
    token(setup.platform.stack);
    const CompiledRound round = compile_round(setup);
    const RoundEstimate after = evaluate(round, plain);
    CHECK((after.round - before).value() / microsecond == Approx(8.0 * (30.0 + 7.0)));
    CHECK(after.autoregressive == after.round);
    CHECK(explain(round, plain).front().time == after.round);

    const std::vector<int> speculation = {0, 1};
    const std::vector<double> batch = {8.0, 8.0}, context = {100.0, 100.0};
    std::vector<RoundEstimate> columns(2);
    evaluate(round, {speculation, batch, context}, columns);
    for (int i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(i);
        CHECK(columns[at].round == evaluate(round, {i, 8.0, 100.0}).round);
        CHECK(columns[at].autoregressive == after.autoregressive);
    }
}

TEST_CASE("a host copies states row by row: two tensors a layer, three calls each") {
    // 64 layers · 2 rows · 2 tensors (state, convolution history) · 3 calls (two views and a copy) · 10 us = 7.68 ms, against
    // which the copies themselves hide.
    RoundSetup setup = mamba_setup(Rollback::joint, {SequencesShape{2, 6}, Verification::unrolled_chunk, "2x6"});
    const Seconds in_graph = estimate(setup).rollback;
    setup.platform.stack.state_copy = StateCopy::eager;
    setup.platform.stack.eager_launch = Seconds(10.0 * microsecond);
    CHECK(estimate(setup).rollback.value() == Approx(7.68e-3));
    CHECK(in_graph.value() < 2e-3);
}

TEST_CASE("a chunk scan of a few tokens moves the state six times") {
    // Read and written at either end, and through memory in fp32 from chunk states to state passing to the output: 2 + 2·2
    // states of 80·64·128 fp32 elements.
    const RoundSetup setup = mamba_setup(Rollback::joint, {ChainShape{4}, Verification::unrolled_chunk, "chain"});
    const double state = 4.0 * 80 * 64 * 128;
    const CompiledRound round = compile_round(setup);
    for (const TimedOperation& timed : round.pass(PassId::verify_chunk).operations) {
        if (timed.operation.kind == OperationKind::scan) {
            CHECK(timed.operation.bytes.per_sequence.value() == Approx(6.0 * state));
            CHECK(timed.rates.overlap == 1.0);
        }
    }
}

TEST_CASE("each captured graph keeps its memory: one a length under joint attainment, one for replay") {
    const auto added = [](Rollback rollback) {
        RoundSetup setup = mamba_setup(rollback, chain(6));
        const Bytes before = estimate(setup).memory;
        setup.platform.stack.memory_per_graph = Bytes(1e6);
        return (estimate(setup).memory - before).value() / 1e6;
    };
    CHECK(added(Rollback::joint) == Approx(7.0));   // "K + 1 graphs captured" for K drafted tokens, Snakes and Ladders
    CHECK(added(Rollback::replay) == Approx(2.0));  // the step and the replay
}

TEST_CASE("a drafter in captured graphs does not wait for the host that launches its target") {
    RoundSetup setup = pair_setup("pythia-6.9b", "mamba-130m", platform("rtx-4090", "eager"));
    setup.speculations = {chain(0), chain(5)};
    const RoundEstimate eager = estimate(setup);
    setup.platform.stack.draft_graphs = true;
    const RoundEstimate captured = estimate(setup);
    CHECK(captured.verify == eager.verify);
    CHECK(captured.draft < 0.6 * eager.draft);
}

TEST_CASE("every kernel takes its start-up once: 6 in a layer, and those at the ends") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.unhidden = 0.3;
    const Seconds before = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.stack.kernel_startup = Seconds(1.0 * microsecond);
    // Norm, two projections, convolution, scan and gated norm; embedding, final norm, LM head and sampling.
    const Seconds after = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK((after - before).value() / microsecond == Approx(layers * 6.0 + 4.0));
}

TEST_CASE("what kernels fail to hide: the overlap law's r on matrix products") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.unhidden = 0.25;
    const CompiledRound round = compile_round(setup);
    for (const TimedOperation& timed : round.pass(PassId::plain).operations) {
        CHECK(timed.rates.overlap == (timed.operation.sequential ? 1.0 : 0.25));
    }
}
