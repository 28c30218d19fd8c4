// Is a round put together as docs/cost-model.md, sections 3.4, 3.5 and 5, says? The numbers are small and worked out by hand;
// all but quotients are exact in binary.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/round.h"

namespace round_arithmetic_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

RoundConstants constants() {
    RoundConstants round;
    round.step_per_sequence = Seconds(0.75);
    return round;
}

/// A tree of three drafts whose rounds take 4 s of the host, and 11 s for each sequence.
RowConstants tree_row() {
    RowConstants row;
    row.speculates = row.holds_drafter = 1.0;
    row.draft_tokens = row.drafted = 3.0;
    row.logits = 4.0;
    row.host = {Seconds(4.0), Seconds(11.0)};
    return row;
}

RoundTotals totals() {
    RoundTotals totals;
    totals.time = {Seconds(10.0), Seconds(4.0), Seconds(12.0), Seconds(1.0)};  // plain, draft, verify, rollback
    totals.bytes = Bytes(100.0);
    totals.plain_bytes = Bytes(60.0);
    totals.flops = Flops(40.0);
    totals.plain_flops = Flops(16.0);
    return totals;
}

/// Two ranks; answers of eight tokens; others' prompts take 0.5 s of the target and 0.25 s of the drafter for each token.
RoundConstants beside_prompts() {
    RoundConstants round = constants();
    round.prompts = {Seconds(0.5), Seconds(0.25), Joules(1.0), Joules(2.0)};
    round.prompt_wait = 0.5;
    round.output_tokens = 8.0;
    round.target_transfer = Seconds(5.0);
    round.draft_transfer = Seconds(7.0);
    round.ranks = 2.0;
    round.constant_power = Joules(2.0) / Seconds(1.0);
    round.board_power = Joules(100.0) / Seconds(1.0);
    round.energy_per_byte = Joules(0.5) / Bytes(1.0);
    round.energy_per_flop = Joules(0.25) / Flops(1.0);
    round.price = Dollars(3.0) / Seconds(1.0);
    return round;
}

constexpr double accept_length = 2.0;
const Sequences four{4.0, 4.0, 4.0};

RoundEstimate finished(const RoundConstants& round, const RowConstants& row, const LoadFactors& measured = {}) {
    return finish_times<false>(round, row, accept_length, four, totals(), measured);
}

}  // namespace

TEST_CASE("what a device draws while it serves, it draws all the while") {
    RoundSetup setup = testing::pair_setup("llama-3.1-8b", "llama-3.2-1b", testing::platform("l40s", "cuda-graph"));
    setup.speculations = chains_up_to(3);
    setup.platform.device.board_power = Watts(0.0);  // unknown: nothing is cut
    const auto estimate = [&](Watts active) {
        setup.platform.device.active_power = active;
        return evaluate(compile_round(setup), {3, 2.0, 500.0});
    };
    const RoundEstimate without = estimate(Watts(0.0)), with = estimate(Watts(50.0));
    CHECK((with.energy_per_token - without.energy_per_token).value() ==
          Approx(50.0 * without.round.value() / (2.0 * without.accept_length)).epsilon(1e-9));
}

TEST_CASE("the phases of a round of four sequences") {
    const RoundEstimate e = finished(constants(), tree_row());
    CHECK(e.autoregressive == Seconds(10.0 + 0.75 * 4));
    CHECK(e.draft == Seconds(4.0));
    CHECK(e.verify == Seconds(12.0));
    CHECK(e.rollback == Seconds(1.0));
    CHECK(e.host == Seconds(4.0 + 4 * 11.0));
    CHECK(e.round == Seconds(4.0 + 12.0 + 1.0 + 48.0));
    CHECK(e.prompts == Seconds(0.0));
    CHECK(e.iteration_multiplier == 65.0 / 13.0);
    CHECK(e.throughput_multiplier == 2.0 / (65.0 / 13.0));
    CHECK(e.time_per_token == Seconds(32.5));
    CHECK(e.tokens_per_second_user == 2.0 * (1.0 / 65.0));
    CHECK(e.tokens_per_second_device == Approx(8.0 / 65.0).epsilon(1e-14));
    CHECK(e.decode_share == 1.0);
    CHECK(e.first_token == Seconds(0.0));
    CHECK(e.wasted_draft_share == 2.0 / 3.0);  // one of three drafts is accepted
}

TEST_CASE("an accelerator's turns come once for each sequence") {
    RowConstants row = tree_row();
    row.turn.plain = Seconds(1.0);
    row.turn.draft = Seconds(0.5);
    row.turn.verify = Seconds(0.25);
    const RoundEstimate e = finished(constants(), row);
    CHECK(e.autoregressive == Seconds(10.0 + 4.0 + 3.0));
    CHECK(e.draft == Seconds(6.0));
    CHECK(e.verify == Seconds(13.0));
}

TEST_CASE("plain decoding is one step, and pays for no draft") {
    RowConstants plain;
    plain.turn.plain = Seconds(1.0);
    RoundTotals only_plain = totals();
    only_plain.time = {Seconds(10.0), {}, {}, {}};
    only_plain.bytes = {};
    only_plain.flops = {};
    RoundConstants round = beside_prompts();
    const RoundEstimate e = finish_times<false>(round, plain, 1.0, four, only_plain, {});
    CHECK(e.autoregressive == Seconds(17.0));
    CHECK(e.verify == Seconds(17.0));
    CHECK(e.host == Seconds(0.0));
    CHECK(e.prompts == Seconds(0.5 * 1.5));  // the drafter is not there to read any
    CHECK(e.round == Seconds(17.75));
    CHECK(e.throughput_multiplier == 1.0);
    CHECK(e.wasted_draft_share == 0.0);
    const double busy = 17.75 + 0.5 * 2.5;
    CHECK(e.energy_per_token.value() == Approx((2 * busy + 0.5 * 60 + 0.25 * 16 + 4 * 1.0) * 2 / 4).epsilon(1e-14));
}

TEST_CASE("prompts of others lie between rounds, and a request waits for some before its first token") {
    const RoundEstimate e = finished(beside_prompts(), tree_row());
    // A request waits for half of three others' prompts after its first token, for the rest and its own before it.
    const double prompts = 0.75 * 1.5, round = 65.0 + 2 * prompts, plain = 13.0 + 0.5 * 1.5, busy = round + 0.75 * 2 * 2.5;
    CHECK(e.prompts == Seconds(2 * prompts));
    CHECK(e.round == Seconds(round));
    CHECK(e.iteration_multiplier == 65.0 / (plain - prompts));
    CHECK(e.throughput_multiplier == 2.0 / (round / plain));
    CHECK(e.time_per_token == Seconds(round / 2));
    CHECK(e.first_token == Seconds(0.75 * 8 * 2.5 + round + 5.0 + 7.0));
    CHECK(e.decode_share == 65.0 / busy);
    CHECK(e.tokens_per_second_device == Approx(4 * 2 / 2.0 / busy).epsilon(1e-14));
    CHECK(e.price_per_token.value() == Approx(3 * busy / 8).epsilon(1e-14));
    const double used = 2 * busy + 0.5 * 100 + 0.25 * 40 + (1 + 2) * 8;
    CHECK(e.energy_per_token.value() == Approx(used * 2 / 8).epsilon(1e-14));
}

TEST_CASE("energy has the board's limit, and turns' energy counts for each sequence") {
    RoundConstants round = beside_prompts();
    RowConstants row = tree_row();
    const double unlimited_energy = finished(round, row).energy_per_token.value();
    row.turn.energy = Joules(3.0);
    CHECK(finished(round, row).energy_per_token.value() == Approx(unlimited_energy + 4 * 3 * 2 / 8.0).epsilon(1e-14));
    round.board_power = Joules(1.0) / Seconds(1.0);
    const double busy = 65.0 + 2 * 0.75 * 1.5 + 0.75 * 2 * 2.5;
    CHECK(finished(round, row).energy_per_token.value() == Approx(busy * 2 / 8).epsilon(1e-14));
}

TEST_CASE("a pool that reads prompts takes nobody's turn, and its caches come in the middle of a round") {
    RoundConstants round = beside_prompts();
    round.prefill_pool = 1.0;
    const double length = finished(round, tree_row()).round.value();
    CHECK(finished(round, tree_row()).first_token.value() == Approx(0.75 * 8 + 1.5 * length + 5 + 7).epsilon(1e-14));
    round.output_tokens = 0.0;  // decoding alone
    CHECK(finished(round, tree_row()).first_token == Seconds(12.0));
    RowConstants without_drafter = tree_row();
    without_drafter.holds_drafter = 0.0;
    CHECK(finished(round, without_drafter).first_token == Seconds(5.0));
}

TEST_CASE("a drafter whose prompts take all of a step leaves nothing to gain") {
    RoundConstants round = beside_prompts();
    round.prompts.drafter = Seconds(13.0 / 1.5);  // 13 s, the step, and a half of the target's on both sides
    CHECK(finished(round, tree_row()).iteration_multiplier == unlimited);
    round.prompts.drafter = Seconds(8.0);
    CHECK(finished(round, tree_row()).iteration_multiplier == 65.0);  // 1 s is left
}

TEST_CASE("what was measured scales a step, a round and the prompts beside them") {
    const RoundEstimate usual = finished(beside_prompts(), tree_row());
    const RoundEstimate e = finished(beside_prompts(), tree_row(), {2.0, 4.0});
    CHECK(e.autoregressive == 2.0 * usual.autoregressive);
    CHECK(e.draft == 4.0 * usual.draft);
    CHECK(e.verify == 4.0 * usual.verify);
    CHECK(e.rollback == 4.0 * usual.rollback);
    CHECK(e.host == 4.0 * usual.host);
    CHECK(e.prompts == 4.0 * usual.prompts);
    CHECK(e.throughput_multiplier == 2.0 / (e.round.value() / (2 * 13.75)));
}

TEST_CASE("a pipeline's round is its way through all stages, or what all batches need of the busiest") {
    RoundConstants round = constants();
    round.stages = 4.0;
    round.largest_stage = 0.5;
    RowConstants row = tree_row();
    row.speculates = 0.0;
    row.host = {};  // so that no host time blurs the sums: drafting and rolling back take 5 s in one stage
    const auto verify = [&](double of_group) {
        const Sequences sequences{of_group, of_group, 0.0};
        return finish_times<true>(round, row, accept_length, sequences, totals(), {});
    };
    // All stages take 12 + 10 (a step, since nothing is drafted) and 5 in one of them.
    CHECK(verify(1.0).verify == Seconds(22.0));                  // alone: 27 > 11 + 5
    CHECK(verify(2.0).verify == Seconds((11.0 + 5.0) * 2 - 5));  // two in flight: 32 > 27
    CHECK(verify(9.0).verify == Seconds((11.0 + 5.0) * 4 - 5));  // as many as stages
    CHECK(verify(1.0).autoregressive == Seconds(10.0));
    CHECK(verify(3.0).autoregressive == Seconds(5.0 * 3));
    CHECK(verify(9.0).autoregressive == Seconds(20.0));
}

TEST_CASE("steps add to their phase; plain decoding's traffic is kept apart") {
    CompiledPass pass;
    PassTotals work;
    work.device = Seconds(2.0);
    work.bytes = Bytes(10.0);
    work.flops = Flops(5.0);
    RoundTotals sum;
    RoundStep step;
    step.runs = 3.0;
    step.phase = Phase::draft;
    add_step(pass, step, 2.0, work, sum);
    add_step(pass, step, 1.0, work, sum);
    CHECK(sum.of(Phase::draft) == Seconds(2.0 * (6 + 3)));
    CHECK(sum.bytes == Bytes(90.0));
    CHECK(sum.flops == Flops(45.0));
    CHECK(sum.plain_bytes == Bytes(0.0));
    step.runs = 1.0;
    step.phase = Phase::plain;
    add_step(pass, step, 1.0, work, sum);
    CHECK(sum.of(Phase::plain) == Seconds(2.0));
    CHECK(sum.plain_bytes == Bytes(10.0));
    CHECK(sum.plain_flops == Flops(5.0));
    CHECK(sum.bytes == Bytes(90.0));
}

TEST_CASE("a batch is dealt out to groups, and a group's share to a pipeline's batches") {
    RoundConstants round;
    round.groups = 4.0;
    round.stages = 2.0;
    const Sequences sequences = sequences_of(round, 17.0);
    CHECK(sequences.all == 17.0);
    CHECK(sequences.of_group == 5.0);
    CHECK(sequences.of_pass == 3.0);
    const Sequences fraction = sequences_of(RoundConstants{}, 2.5);  // one group and one stage round nothing
    CHECK(fraction.of_group == 2.5);
    CHECK(fraction.of_pass == 2.5);
    RoundStep step;
    step.rows = 3.0;
    step.tokens = 2.0;
    step.context_offset = 1.5;
    step.logits = 0.5;
    const PassShape shape = shape_of(step, 4.0, 100.0);
    CHECK(shape.sequences == 12.0);
    CHECK(shape.tokens == 2.0);
    CHECK(shape.context == 101.5);
    CHECK(shape.logits == 0.5);
}

TEST_CASE("passes that sequences share, each have, or partly share") {
    RoundStep step;
    CHECK(passes_of(step, 16.0).sequences == 16.0);
    CHECK(passes_of(step, 16.0).passes == 1.0);
    step.apart = 1.0;
    CHECK(passes_of(step, 16.0).sequences == 1.0);
    CHECK(passes_of(step, 16.0).passes == 16.0);
    step.apart = 0.5;
    CHECK(passes_of(step, 16.0).sequences == 4.0);
    CHECK(passes_of(step, 16.0).passes == 4.0);
}

TEST_CASE("a step that half of the sequences need runs where one of them does") {
    RoundStep step;
    step.share = 0.5;
    CHECK(passes_of(step, 1.0).passes == 0.5);
    CHECK(passes_of(step, 1.0).sequences == 1.0);
    // Of three sequences none needs it in an eighth of the rounds; 1.5 do in the mean, so 1.5 / (7/8) where any does.
    CHECK(passes_of(step, 3.0).passes == 0.875);
    CHECK(passes_of(step, 3.0).sequences == 1.5 / 0.875);
}

TEST_CASE("a speculation runs if its row has no problem, and no row is missing") {
    CompiledRound round;
    round.rows.resize(2);
    round.rows[1].problem = "no";
    CHECK(round.runs(0));
    CHECK_FALSE(round.runs(1));
    CHECK_FALSE(round.runs(2));
    round.rows[0].draft_tokens = 5.0;
    add_off_row(round);
    CHECK(round.row(drafting_off).draft_tokens == 5.0);
    CHECK(round.row(drafting_off).holds_drafter == 1.0);
    CHECK(round.row(drafting_off).draft_states == 1.0);
    CompiledRound empty;
    add_off_row(empty);
    CHECK(empty.off.holds_drafter == 0.0);
}

TEST_CASE("memory of a device, part by part") {
    MemoryModel memory;
    memory.target_weights = Bytes(1000.0);
    memory.draft_weights = Bytes(100.0);
    memory.reserved = Bytes(10.0);
    memory.per_graph = Bytes(4.0);
    memory.target_state = Bytes(8.0);
    memory.draft_state = Bytes(2.0);
    memory.replay_per_token = Bytes(0.5);
    memory.logits_per_token = Bytes(16.0);
    memory.activations_per_token = Bytes(32.0);
    memory.prefill = {0.0, 64.0, Bytes(1.0), Bytes(0.25)};
    RowConstants row = tree_row();
    row.target_states = 4.0;
    row.draft_states = 3.0;
    row.cached_activations = 6.0;
    row.activations = 5.0;
    row.graphs = 2.0;
    row.turn.workspace = Bytes(1.0);
    const double states = 8 * 4 + 2 * 3 + 0.5 * 6, round = 16 * 4 + 32 * 5;
    CHECK(state_memory(memory, row) == Bytes(states));
    CHECK(round_activations(memory, row, 2.0) == Bytes(2 * round));
    // 3 prompts of 10 tokens are 30 at once, 7 of them the 64 that a pass may have.
    CHECK(prompt_activations(memory.prefill, 3.0, 10.0) == Bytes(30 * (1 + 0.25 * 10)));
    CHECK(prompt_activations(memory.prefill, 7.0, 10.0) == Bytes(64 * (1 + 0.25 * 10)));
    memory.prefill.prompt_tokens = 4.0;
    CHECK(prompt_activations(memory.prefill, 3.0, 10.0) == Bytes(12 * (1 + 0.25 * 4)));
    CHECK(peak_memory(memory, row, 2.0, 0.0) == Bytes(1000 + 100 + 10 + 8 + 1 + 2 * states + 2 * round));
    row.holds_drafter = 0.0;
    CHECK(peak_memory(memory, row, 2.0, 0.0) == Bytes(1000 + 10 + 8 + 1 + 2 * (states - 6) + 2 * round));
    // Pools: 3 states of drafts and 2 of the engine's slots, of a quarter of the memory.
    memory.state_slots = 2.0;
    memory.per_state_pooled = 4.0;
    CHECK(pooled_memory(memory, row) == Bytes(8.0 * 5 * 4));
    CHECK(sequence_memory(memory, row, 0.0).own() == Bytes(160.0));
    memory.per_state_pooled = 0.5;
    CHECK(sequence_memory(memory, row, 0.0).own() == Bytes(states - 6));
}

TEST_CASE("sequences cache what they begin with once") {
    MemoryModel memory;
    CacheTerm whole, window;
    whole.per_token = Bytes(2.0);
    window.per_token = Bytes(1.0);
    window.reach.window = 4.0;
    memory.target_caches = {whole, window};
    memory.draft_caches = {whole};
    memory.shared_prefix = 10.0;
    RowConstants row = tree_row();
    row.new_tokens = 3.0;
    const SequenceMemory longer = sequence_memory(memory, row, 20.0);
    CHECK(longer.shared == Bytes(2.0 * 10 + 2.0 * 10));  // a window moves past it
    CHECK(longer.target_cache == Bytes(2.0 * (23 - 10) + cached_bytes(window, 23.0).value()));
    CHECK(longer.draft_cache == Bytes(2.0 * 13));
    CHECK(longer.used() == Bytes(longer.target_cache.value() + 26));
    CHECK(sequence_memory(memory, row, 5.0).shared == Bytes(2 * 2.0 * 5));  // no more than the context
    row.holds_drafter = 0.0;
    CHECK(sequence_memory(memory, row, 20.0).shared == Bytes(20.0));
    CHECK(sequence_memory(memory, row, 20.0).draft_cache == Bytes(0.0));
}

TEST_CASE("a step's token budget is reached before it is exceeded") {
    RoundSetup setup = testing::pair_setup("llama-3-8b", "llama-3.2-1b", testing::platform("h100-sxm", "vllm"));
    setup.speculations = chains_up_to(4);
    setup.platform.stack.serving.step_tokens = 4.0;
    const CompiledRound round = compile_round(setup);
    CHECK(round.row(3).problem.empty());  // three drafts and the token before them
    CHECK_FALSE(round.row(4).problem.empty());
}

TEST_CASE("a ring of 32 tokens holds a draft of 31, and the token before it") {
    RoundSetup setup = testing::pair_setup("mamba2-2.7b", "mamba2-130m", testing::platform("h100-sxm", "ideal"));
    setup.rollback = Rollback::ring;
    setup.speculations = chains_up_to(32);
    const CompiledRound round = compile_round(setup);
    CHECK(round.row(31).problem.empty());
    CHECK(round.row(32).problem == "a draft of 32 levels does not fit in a ring of 32 tokens");
}

TEST_CASE("stages of a pipeline keep what their layers replay") {
    RoundSetup setup = testing::pair_setup("mamba2-2.7b", "mamba2-130m", testing::platform("h100-sxm", "ideal"));
    const Bytes whole = compile_round(setup).memory.replay_per_token;
    setup.platform.parallel.pipeline = 2.0;
    CHECK(whole > Bytes(0.0));
    CHECK(compile_round(setup).memory.replay_per_token.value() == Approx(0.5 * whole.value()));
}

TEST_CASE("a shared prefix is compared with prompts where their length is stated") {
    RoundSetup setup = testing::pair_setup("llama-3-8b", "llama-3.2-1b", testing::platform("h100-sxm", "vllm"));
    setup.shared_prefix = 100.0;
    CHECK(problems_of(setup).empty());
    setup.prompt_tokens = 100.0;
    CHECK(problems_of(setup).empty());
    setup.prompt_tokens = 99.0;
    CHECK(problems_of(setup) == std::vector<std::string>{"a shared_prefix of 100 tokens is longer than the prompts of 99"});
}

TEST_CASE("answers whose length is stated need the length of their prompts") {
    RoundSetup setup = testing::pair_setup("llama-3-8b", "llama-3.2-1b", testing::platform("h100-sxm", "vllm"));
    setup.output_tokens = 100.0;
    REQUIRE(problems_of(setup).size() == 1);
    CHECK(problems_of(setup).front() == "a steady state (output_tokens) needs the length of its prompts (prompt_tokens)");
    setup.prompt_tokens = 1.0;
    CHECK(problems_of(setup).empty());
    for (const auto& [hit, right] : {std::pair{0.0, true}, {0.99, true}, {1.0, false}, {-0.1, false}}) {
        setup.prefix_hit = hit;
        CHECK(problems_of(setup).empty() == right);
    }
    setup.prefix_hit = 0.0;
    for (const auto& [pool, right] : {std::pair{1.0, true}, {0.01, true}, {0.0, false}, {1.01, false}}) {
        setup.expert_pool = pool;
        CHECK(problems_of(setup).empty() == right);
    }
}

TEST_CASE("engines that address states by index copy one where several rows start from it, and none otherwise") {
    RoundSetup setup = testing::pair_setup("mamba2-2.7b", "mamba2-130m", testing::platform("h100-sxm", "ideal"));
    setup.acceptance.siblings = RankAcceptance::assumed();
    setup.speculations = chains_up_to(2);
    setup.speculations.push_back({WidthsShape{{2, 1}}, Verification::unrolled, "tree"});
    setup.platform.stack.launching.state_copy = StateCopy::by_index;
    const auto copies = [&](Rollback rollback, int speculation) {
        setup.rollback = rollback;
        const CompiledRound round = compile_round(setup);
        const RoundRow& row = round.row(speculation);
        REQUIRE(row.problem.empty());
        const auto pass = static_cast<std::size_t>(PassId::state_copy);
        return row.begin[pass + 1] - row.begin[pass];
    };
    CHECK(copies(Rollback::replay, 3) == 0);
    CHECK(copies(Rollback::snapshot, 3) == 1);
    CHECK(copies(Rollback::snapshot, 2) == 0);
}

}  // namespace round_arithmetic_test
