// Does a decoder's setup become the round that the simulator prices for it?
#include <catch2/catch.hpp>

#include <set>

#include "calibrate/decoder_prediction.h"
#include "calibrate/held_out_decoder.h"
#include "setups.h"

namespace decoder_prediction_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

const sim::Device& cpu() {
    static const sim::Device device = testing::device("generic-x86");
    return device;
}

HeldOutDecoder mamba(sim::Rollback rollback, std::vector<int> children, sim::Verification verification) {
    HeldOutDecoder decoder;
    decoder.family = DecoderFamily::mamba2;
    decoder.drafter = HeldOutDrafter::first_layer;
    decoder.children = std::move(children);
    decoder.verification = verification;
    decoder.rollback = rollback;
    decoder.accepted = 2;
    return decoder;
}

decoder::DecodeSetup setup_on_cpu(const HeldOutDecoder& decoder) { return setup_of(decoder, {2, 12}, false); }

RoundPhases predicted(const HeldOutDecoder& decoder) { return predicted_phases(setup_on_cpu(decoder), cpu(), decoder.context); }

}  // namespace

TEST_CASE("held-out decoders cover three families, run as they are, and differ from each other") {
    for (const bool on_gpu : {false, true}) {
        std::set<std::string> names;
        std::set<DecoderFamily> families;
        for (const HeldOutDecoder& held_out : held_out_decoders(on_gpu, false)) {
            const std::string name = group_of(held_out) + ": " + policy_of(held_out);
            INFO(name);
            CHECK(names.insert(name).second);
            families.insert(held_out.family);
            const decoder::DecodeSetup setup = setup_of(held_out, {}, on_gpu);
            CHECK(decoder::problems_of(setup).empty());
            CHECK(problems_of(round_setup_of(setup, cpu())).empty());
        }
        CHECK(names.size() >= 24);
        CHECK(families.size() == 3);
        for (const HeldOutDecoder& quick : held_out_decoders(on_gpu, true)) {
            CHECK(names.count(group_of(quick) + ": " + policy_of(quick)) == 1);
        }
    }
}

TEST_CASE("the context of a configuration is that of the middle of its timed rounds") {
    // 2 rounds before and 6 of 12 timed ones, 3 tokens each, after 3 of the 4 prompt tokens (the last is the first root).
    const HeldOutDecoder decoder = mamba(sim::Rollback::replay, {1, 1}, sim::Verification::unrolled);
    const decoder::DecodeSetup setup = setup_on_cpu(decoder);
    CHECK(setup.new_tokens == 14 * 3);
    CHECK(setup.context_tokens + 3 + 8 * 3 == decoder.context);
}

TEST_CASE("plain decoding is one pass of the target") {
    HeldOutDecoder plain;
    const RoundPhases phases = predicted(plain);
    CHECK(phases.draft == Seconds(0.0));
    CHECK(phases.rollback == Seconds(0.0));
    CHECK(phases.host == Seconds(0.0));
    const sim::RoundSetup setup = round_setup_of(setup_on_cpu(plain), cpu());
    REQUIRE(setup.speculations.size() == 1);
    const sim::CompiledPass pass = sim::compile_pass(setup.target, setup.precision, setup.platform, {});
    CHECK(phases.verify.value() == Approx(sim::pass_time(pass, sim::totals_of(pass, {1.0, 1.0, 256.0, 1.0})).value()));
}

TEST_CASE("every phase of every configuration has a time, if and only if it runs") {
    for (const HeldOutDecoder& decoder : held_out_decoders(false, false)) {
        INFO(group_of(decoder) << ": " << policy_of(decoder));
        const RoundPhases phases = predicted(decoder);
        CHECK((phases.draft > Seconds(0.0)) == (decoder.drafter == HeldOutDrafter::first_layer));
        CHECK(phases.verify > Seconds(0.0));
        const bool replays = decoder.rollback == sim::Rollback::replay || decoder.rollback == sim::Rollback::recompute;
        if (decoder.drafter != HeldOutDrafter::none && replays) {
            CHECK(phases.rollback > Seconds(0.0));
        }
        CHECK(phases.round() == phases.draft + phases.verify + phases.rollback + phases.host);
    }
}

TEST_CASE("more sequences, more context and longer drafts never take less") {
    for (const DecoderFamily family : {DecoderFamily::transformer, DecoderFamily::mamba2, DecoderFamily::hybrid}) {
        HeldOutDecoder decoder = mamba(sim::Rollback::replay, {1, 1}, sim::Verification::unrolled);
        decoder.family = family;
        decoder.rollback = family == DecoderFamily::transformer ? sim::Rollback::truncate : sim::Rollback::replay;
        const Seconds least = predicted(decoder).round();
        HeldOutDecoder larger = decoder;
        larger.batch = 8;
        CHECK(predicted(larger).round() > least);
        larger = decoder;
        larger.children = {1, 1, 1, 1};
        CHECK(predicted(larger).round() > least);
        larger = decoder;
        larger.context = 4096;
        CHECK(predicted(larger).round() >= least);
    }
}

TEST_CASE("states are read and written by index: a tree's rows need no copies, but for the snapshot that they start from") {
    const RoundPhases replayed = predicted(mamba(sim::Rollback::replay, {2, 2}, sim::Verification::unrolled));
    sim::RoundSetup copying =
        round_setup_of(setup_on_cpu(mamba(sim::Rollback::replay, {2, 2}, sim::Verification::unrolled)), cpu());
    copying.platform.stack.launching.state_copy = sim::StateCopy::in_graph;
    const sim::RoundEstimate copied = sim::evaluate(sim::compile_round(copying), {1, 1.0, 256.0});
    CHECK(replayed.rollback < copied.rollback);
    CHECK(replayed.draft < copied.draft);
    CHECK(replayed.verify == copied.verify);

    // Eight layers, a state and a window (fp32) read and written: 28·64·128 and 3·(1792 + 2·128) elements.
    const RoundPhases chain = predicted(mamba(sim::Rollback::snapshot, {1, 1}, sim::Verification::unrolled));
    const RoundPhases tree = predicted(mamba(sim::Rollback::snapshot, {2, 2}, sim::Verification::unrolled));
    const double bytes = 8.0 * 2.0 * 4.0 * (28.0 * 64 * 128 + 3.0 * (1792 + 2 * 128));
    const double compaction = predicted(mamba(sim::Rollback::replay, {2, 2}, sim::Verification::unrolled)).rollback.value() -
                              predicted(mamba(sim::Rollback::replay, {1, 1}, sim::Verification::unrolled)).rollback.value();
    CHECK(compaction == Approx(0.0).margin(1e-12));  // no keys and values in this family
    CHECK(chain.rollback == Seconds(0.0));
    CHECK(tree.rollback.value() == Approx(bytes / cpu().bandwidth.value()));
}

TEST_CASE("a pass that recomputes accepted tokens forms no logits") {
    const HeldOutDecoder decoder = mamba(sim::Rollback::recompute, {1, 1}, sim::Verification::unrolled);
    const sim::CompiledRound round = sim::compile_round(round_setup_of(setup_on_cpu(decoder), cpu()));
    for (const sim::LaunchedOperation& operation : round.pass(sim::PassId::advance).launched) {
        CHECK(operation.part != sim::ModelPart::head);
    }
    // Verification reads the head's weights, 16 000 rows of 896 fp32 values, and this pass does not; but it writes the states
    // of eight layers.
    const RoundPhases phases = predicted(decoder);
    CHECK(phases.verify.value() - phases.rollback.value() >=
          0.99 * 4.0 * (16'000.0 * 896 - 8.0 * 28 * 64 * 128) / cpu().bandwidth.value());
}

TEST_CASE("what cannot be predicted says so") {
    decoder::DecodeSetup setup = setup_on_cpu(mamba(sim::Rollback::replay, {1, 1}, sim::Verification::unrolled));
    setup.given_acceptance.reset();
    CHECK_THROWS_WITH(round_setup_of(setup, cpu()), Catch::Contains("greedy acceptance is not known before the run"));
    setup.rollback = sim::Rollback::truncate;
    CHECK_THROWS_WITH(round_setup_of(setup, cpu()), Catch::Contains("cannot serve"));
}

TEST_CASE("measured rounds have their phases, with acceptance as part of the verification") {
    decoder::DecodeResult result;
    result.seconds = {{1.0, 3.0}, {4.0, 5.0}, {0.5, 0.25}, {0.1, 0.3}, {0.0, 0.1}, {6.0, 8.0}};
    const std::vector<RoundPhases> rounds = measured_rounds(result);
    REQUIRE(rounds.size() == 2);
    CHECK(rounds[1].draft.value() == 3.0);
    CHECK(rounds[1].verify.value() == 5.25);
    CHECK(rounds[1].rollback.value() == 0.3);
    CHECK(rounds[1].host.value() == 0.1);
    result.seconds = {{}, {}, {}, {}, {}, {6.0, 8.0}};  // a round as one graph
    CHECK(measured_rounds(result)[1].round().value() == 8.0);
    CHECK(measured_rounds(result)[1].verify.value() == 0.0);
}

}  // namespace decoder_prediction_test
