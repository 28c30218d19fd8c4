// What the host of a software stack adds to passes and rounds. The stack is the ideal one with one number beside it.
#include <catch2/catch.hpp>

#include "stack_setups.h"

namespace stack_host_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;
using namespace treeline::testing::stack_setups;

TEST_CASE("host work of a round: replay passes, trees, verified tokens, sampling") {
    const RoundSetup replayed = mamba_setup(Rollback::replay, chain(4));
    const RoundSetup joint = mamba_setup(Rollback::joint, chain(4));
    const auto rollback = [](Stack& stack) { stack.passes.host_per_rollback = Seconds(70.0 * microsecond); };
    CHECK(added_microseconds(replayed, 1.0, rollback) == Approx(70.0));
    CHECK(added_microseconds(joint, 1.0, rollback) == Approx(0.0).margin(1e-6));

    const auto tree = [](Stack& stack) { stack.host[HostDriver::tree] = Seconds(30.0 * microsecond); };
    const RoundSetup branched = mamba_setup(Rollback::replay, {SequencesShape{2, 4}, Verification::unrolled, "2x4"});
    RoundSetup packed = mamba_setup(Rollback::replay, {WidthsShape{{2, 2}}, Verification::packed, "widths 2,2"});
    packed.acceptance.siblings = RankAcceptance({0.5, 0.2});
    CHECK(added_microseconds(packed, 1.0, tree) == Approx(30.0));
    CHECK(added_microseconds(branched, 1.0, tree) == Approx(0.0).margin(1e-6));  // independent sequences are rows, no tree
    CHECK(added_microseconds(replayed, 1.0, tree) == Approx(0.0).margin(1e-6));
    // An engine that may branch runs its code for trees, whatever tree grows: here the best candidates form a chain.
    RoundSetup grown = mamba_setup(Rollback::replay, {SglangShape{3, 2, 4}, Verification::packed, "3-2-4"});
    grown.acceptance.siblings = RankAcceptance({0.9, 0.01});
    REQUIRE(compile_round(grown).row(1).depth == 3.0);
    CHECK(added_microseconds(grown, 1.0, tree) == Approx(30.0));
    grown.speculations.back().shape = SglangShape{3, 1, 4};
    CHECK(added_microseconds(grown, 1.0, tree) == Approx(0.0).margin(1e-6));

    // Two sequences of 2 drafts of 4 tokens and a root: repeating the root in both rows is no host work.
    const auto token = [](Stack& stack) { stack.host[HostDriver::draft_token] = Seconds(5.0 * microsecond); };
    CHECK(added_microseconds(branched, 2.0, token) == Approx(2.0 * (2.0 * 4.0 + 1.0) * 5.0));

    const auto sampling = [](Stack& stack) { stack.passes.host_per_sampling = Seconds(11.0 * microsecond); };
    CHECK(added_microseconds(replayed, 1.0, sampling) == Approx(0.0).margin(1e-6));
    RoundSetup sampled = replayed;
    sampled.decoding = Decoding::sampling;
    // N-gram drafts sample nothing: one pass, that verifies.
    CHECK(added_microseconds(sampled, 1.0, sampling) == Approx(11.0));
}

TEST_CASE("each sequence of a step, and each of its tokens, adds to plain decoding and to rounds, in both evaluators") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const auto sequence = [](Stack& stack) { stack.host[HostDriver::sequence] = Seconds(30.0 * microsecond); };
    const auto token = [](Stack& stack) { stack.host[HostDriver::token] = Seconds(7.0 * microsecond); };
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

TEST_CASE("each token that a sequence yields is sampled and streamed by the host, in plain steps and in rounds") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const double vocabulary = static_cast<double>(setup.target.vocabulary_size);
    const auto emitted = [](Stack& stack) {
        stack.host[HostDriver::emitted_token] = Seconds(200.0 * microsecond);
        stack.host[HostDriver::emitted_entry] = Seconds(0.002 * microsecond);
    };
    const double of_token = 200.0 + 0.002 * vocabulary;
    const double accept_length = estimate(setup).accept_length;
    REQUIRE(accept_length > 1.5);
    CHECK(added_microseconds(setup, 8.0, emitted) == Approx(8.0 * accept_length * of_token));

    const CompiledRound before = compile_round(setup);
    emitted(setup.platform.stack);
    const CompiledRound after = compile_round(setup);
    for (const int speculation : {0, drafting_off}) {  // one token for each sequence, and no more where a drafter waits
        const DesignPoint plain{speculation, 8.0, 100.0};
        CHECK((evaluate(after, plain).round - evaluate(before, plain).round).value() / microsecond == Approx(8.0 * of_token));
    }
    const DesignPoint drafted{1, 8.0, 100.0};
    CHECK((evaluate(after, drafted).autoregressive - evaluate(before, drafted).autoregressive).value() / microsecond ==
          Approx(8.0 * of_token));

    // What a draft model drafts is sampled by the host, too; what looks drafts up samples nothing.
    const auto drafts = [](Stack& stack) { stack.host[HostDriver::drafted_entry] = Seconds(0.001 * microsecond); };
    CHECK(added_microseconds(setup, 8.0, drafts) == Approx(0.0).margin(1e-6));
    RoundSetup pair = pair_setup("pythia-6.9b", "mamba-130m", platform("rtx-4090", "ideal"));
    pair.speculations = {chain(0), chain(5)};
    const double entries = static_cast<double>(pair.target.vocabulary_size);
    CHECK(added_microseconds(pair, 2.0, drafts) == Approx(2.0 * 5.0 * 0.001 * entries));
}

TEST_CASE("a drafter that reads verified tokens apart runs a pass more, and each pass of another shape is built anew") {
    RoundSetup setup = pair_setup("qwen3-8b", "qwen3-0.6b", platform("rtx-4090", "ideal"));
    setup.speculations = {chain(0), chain(1), chain(4)};
    const CompiledRound in_first_pass = compile_round(setup);
    setup.platform.stack.drafts.drafter_reads_round = true;
    const CompiledRound apart = compile_round(setup);
    const auto draft = [](const CompiledRound& round, int speculation) {
        return evaluate(round, {speculation, 1.0, 1'000.0}).draft.value();
    };
    // Reading five tokens costs about a pass without its head, and far less than drafting five.
    const double pass = draft(in_first_pass, 2) / 4.0;
    CHECK(draft(apart, 2) > draft(in_first_pass, 2) + 0.5 * pass);
    CHECK(draft(apart, 2) < draft(in_first_pass, 2) + 1.5 * pass);

    const auto reshaped = [](Stack& stack) { stack.host[HostDriver::reshaped_layer] = Seconds(60.0 * microsecond); };
    const auto added = [&](int speculation) {
        RoundSetup slower = setup;
        reshaped(slower.platform.stack);
        const DesignPoint point{speculation, 4.0, 1'000.0};
        return (evaluate(compile_round(slower), point).host - evaluate(apart, point).host).value() / microsecond;
    };
    CHECK(added(1) == Approx(28.0 * 2.0 * 60.0));  // reading and one draft
    CHECK(added(2) == Approx(28.0 * 3.0 * 60.0));  // and the second draft, which is captured
    setup.drafter = NoDrafter{};
    CHECK(evaluate(compile_round(setup), {0, 1.0, 1'000.0}).round == evaluate(apart, {0, 1.0, 1'000.0}).round);
}

TEST_CASE("a host copies states row by row: two tensors a layer, three calls each") {
    // 64 layers · 2 rows · 2 tensors (state, convolution history) · 3 calls (two views and a copy) · 10 us = 7.68 ms, against
    // which the copies themselves hide.
    RoundSetup setup = mamba_setup(Rollback::joint, {SequencesShape{2, 6}, Verification::unrolled_chunk, "2x6"});
    const Seconds in_graph = estimate(setup).rollback;
    setup.platform.stack.launching.state_copy = StateCopy::eager;
    setup.platform.stack.launching.eager_launch = Seconds(10.0 * microsecond);
    CHECK(estimate(setup).rollback.value() == Approx(7.68e-3));
    CHECK(in_graph.value() < 2e-3);
}

TEST_CASE("a drafter in captured graphs does not wait for the host that launches its target") {
    RoundSetup setup = pair_setup("pythia-6.9b", "mamba-130m", platform("rtx-4090", "eager"));
    setup.speculations = {chain(0), chain(5)};
    const RoundEstimate eager = estimate(setup);
    setup.platform.stack.launching.draft_graphs = true;
    const RoundEstimate captured = estimate(setup);
    CHECK(captured.verify == eager.verify);
    CHECK(captured.draft < 0.6 * eager.draft);
}

TEST_CASE("a host that builds its graph anew adds a time for each kernel, whatever the device does meanwhile") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.launching.launch_factor = 2.0;
    const Seconds before = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.stack.passes.host_per_kernel = Seconds(1.0 * microsecond);
    const Seconds after = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK((after - before).value() / microsecond == Approx(2.0 * (layers * 6.0 + 4.0)));
    // Host times of such a stack are those of a fast desktop.
    setup.platform.device.host_speed = 0.5;
    setup.platform.stack.scales_with_host = true;
    setup.platform.stack.passes.host_per_pass = Seconds(0.0);
    const Seconds slow = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.device.host_speed = 1.0;
    const Seconds fast = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK((slow - fast).value() / microsecond == Approx(2.0 * (layers * 6.0 + 4.0)));
}

TEST_CASE("host times of eager code grow on a slower host; those of other stacks hold as they are") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    Stack& stack = setup.platform.stack;
    // Far above what the device takes, so that launches bound the pass.
    stack.launching.host_launch = Seconds(50.0 * microsecond);
    stack.passes.host_per_pass = Seconds(100.0 * microsecond);
    stack.host[HostDriver::round] = Seconds(300.0 * microsecond);
    stack.passes.host_per_rollback = Seconds(80.0 * microsecond);
    const double fast = estimate(setup).round.value();
    setup.platform.device.host_speed = 0.5;
    CHECK(estimate(setup).round.value() == fast);
    stack.scales_with_host = true;
    RoundSetup doubled = setup;
    doubled.platform.device.host_speed = 1.0;
    Stack& twice = doubled.platform.stack;
    for (Seconds* time : {&twice.launching.host_launch, &twice.passes.host_per_pass, &twice.host[HostDriver::round],
                          &twice.passes.host_per_rollback}) {
        *time *= 2.0;
    }
    CHECK(estimate(setup).round.value() == Approx(estimate(doubled).round.value()));
    CHECK(estimate(setup).round.value() > 1.9 * fast);
}

TEST_CASE("trees cost host time for each token, more where each round grows another one") {
    const auto tree = [](Stack& stack) { stack.host[HostDriver::tree_token] = Seconds(10.0 * microsecond); };
    const auto grown = [](Stack& stack) { stack.host[HostDriver::grown_token] = Seconds(20.0 * microsecond); };
    RoundSetup fixed = mamba_setup(Rollback::replay, {WidthsShape{{2, 2}}, Verification::packed, "widths 2,2"});
    fixed.acceptance.siblings = RankAcceptance({0.5, 0.2});
    CHECK(added_microseconds(fixed, 2.0, tree) == Approx(2.0 * 5.0 * 10.0));
    CHECK(added_microseconds(fixed, 2.0, grown) == Approx(0.0).margin(1e-6));
    RoundSetup beams = fixed;
    beams.speculations[1] = {BeamShape{2, 3}, Verification::packed, "beams"};
    CHECK(added_microseconds(beams, 1.0, grown) > 5.0 * 20.0);
    const auto unrolled = [](Stack& stack) { stack.host[HostDriver::unrolled_token] = Seconds(4.0 * microsecond); };
    CHECK(added_microseconds(fixed, 1.0, unrolled) == Approx(0.0).margin(1e-6));
    fixed.speculations[1].verification = Verification::unrolled;  // two branches of two nodes each, and the root in both rows
    CHECK(added_microseconds(fixed, 2.0, unrolled) == Approx(2.0 * 2.0 * 3.0 * 4.0));
    RoundSetup sequences = mamba_setup(Rollback::replay, {SequencesShape{2, 4}, Verification::unrolled, "2x4"});
    CHECK(added_microseconds(sequences, 1.0, grown) == Approx(0.0).margin(1e-6));  // greedy: compared as rows
    sequences.decoding = Decoding::sampling;
    CHECK(added_microseconds(sequences, 1.0, grown) == Approx(9.0 * 20.0));  // merged into a tree to be accepted
}

TEST_CASE("EAGLE's layer runs outside of a model's forward function, and recurrent drafters are put in place layer by layer") {
    RoundSetup head = mamba_setup(Rollback::truncate, chain(4));
    head.target = model("llama-3-8b");
    head.precision = head.target.precision;
    head.drafter = OneLayerDrafter{};
    const auto wrapped = [](Stack& stack) { stack.passes.host_per_draft_pass = Seconds(500.0 * microsecond); };
    const auto bare = [&](Stack& stack) {
        wrapped(stack);
        stack.passes.host_per_head_pass = Seconds(200.0 * microsecond);
    };
    CHECK(added_microseconds(head, 1.0, wrapped) == Approx(4.0 * 500.0));
    CHECK(added_microseconds(head, 1.0, bare) == Approx(4.0 * 200.0));

    const auto states = [](Stack& stack) {
        stack.launching.eager_launch = Seconds(5.0 * microsecond);
        stack.launching.calls_per_draft_layer = 8.0;
    };
    const RoundSetup drafted = pair_setup("mamba2-2.7b", "mamba2-130m", platform("a10g", "ideal"));
    RoundSetup slow = drafted;
    states(slow.platform.stack);
    const auto host = [](const RoundSetup& setup) { return evaluate(compile_round(setup), {1, 1.0, 100.0}).host.value(); };
    CHECK((host(slow) - host(drafted)) / microsecond == Approx(24.0 * 8.0 * 5.0));
}

}  // namespace stack_host_test
