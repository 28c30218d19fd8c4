// Where does a load settle, and what does a request wait for, in a round whose times and memory are set by hand?
#include <catch2/catch.hpp>

#include <cmath>

#include "sweeps/load.h"

namespace load_arithmetic_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

/// A step takes 2 s whatever the batch, a sequence 1 byte of 10; a prompt 0.5 s for each of 8 tokens of an answer.
sim::CompiledRound round_by_hand() {
    sim::CompiledRound round;
    round.passes[0].node_time = Seconds(2.0);
    round.steps = {sim::RoundStep{}};
    round.rows.resize(1);
    round.rows[0].begin.fill(1);
    round.rows[0].begin[0] = 0;
    round.rows[0].accepted.length = 1.0;
    round.memory.activations_per_token = Bytes(1.0);
    round.memory.capacity = round.memory.plain_capacity = Bytes(10.0);
    return round;
}

sim::CompiledRound with_prompts() {
    sim::CompiledRound round = round_by_hand();
    round.output_tokens = 8.0;
    round.prompts.target = Seconds(0.5);
    round.prompt_wait = 0.25;
    return round;
}

sim::CompiledRound with_prompts_in(double memory) {
    sim::CompiledRound round = with_prompts();
    round.memory.plain_capacity = Bytes(memory);
    return round;
}

SettledLoad settled(const sim::CompiledRound& round, LoadKind kind, double value) {
    return settle(round, 0, {kind, value}, 0.0);
}

sim::RoundEstimate loaded(const sim::CompiledRound& round, LoadKind kind, double value) {
    const SettledLoad load = settled(round, kind, value);
    return under_load(round, 0, {kind, value}, load, sim::evaluate(round, {0, load.batch, 0.0}));
}

/// Until a place is free: memory holds ten sequences.
double wait_for_place(double stay, double rate, double places = 10) {
    const double taken = rate * stay / places;
    return 0.5 * stay / places * std::pow(taken, std::sqrt(2 * (places + 1)) - 1) / (1 - taken);
}

}  // namespace

TEST_CASE("a batch is what it is, unless the token budget of a step holds fewer") {
    sim::CompiledRound round = round_by_hand();
    round.step_tokens = 50.0;
    round.rows[0].logits = 4.0;  // 12 sequences of four tokens
    CHECK(settled(round, LoadKind::batch, 12.0).problem.empty());

    const SettledLoad more = settled(round, LoadKind::batch, 13.0);
    CHECK(more.held_by == HeldBy::step);
    CHECK(more.batch == 13.0);
    CHECK(more.problem == "a round of 13 sequences with 4 tokens each exceeds the token budget of 50 for a step");
    round.groups = 2.0;  // each group has its own
    CHECK(settled(round, LoadKind::batch, 25.0).problem.empty());
    CHECK_FALSE(settled(round, LoadKind::batch, 26.0).problem.empty());
}

TEST_CASE("requests in flight beyond what memory or the budget holds wait") {
    sim::CompiledRound round = with_prompts();
    const SettledLoad all = settled(round, LoadKind::concurrency, 10.0);
    CHECK(all.batch == 10.0);
    CHECK(all.queued == 0.0);
    CHECK(all.largest_batch == 10.0);
    const SettledLoad more = settled(round, LoadKind::concurrency, 15.0);
    CHECK(more.batch == 10.0);
    CHECK(more.queued == 5.0);
    CHECK(more.held_by == HeldBy::memory);
    round.step_tokens = 7.0;
    const SettledLoad budget = settled(round, LoadKind::concurrency, 15.0);
    CHECK(budget.batch == 7.0);
    CHECK(budget.held_by == HeldBy::step);
    CHECK(most_sequences(round, 0, 0.0) == 7.0);
    round.step_tokens = 10.0;
    CHECK(settled(round, LoadKind::concurrency, 15.0).held_by == HeldBy::memory);
    round.memory.plain_capacity = Bytes(0.5);
    CHECK(settled(round, LoadKind::concurrency, 3.0).batch == 1.0);  // none fits, and its estimate says so
    CHECK(settled(round, LoadKind::concurrency, 3.0).queued == 0.0);
}

TEST_CASE("an engine runs no more requests at once than it can, whatever fits") {
    sim::CompiledRound round = with_prompts();  // memory holds ten
    round.most_requests = 4.0;
    CHECK(most_sequences(round, 0, 0.0) == 4.0);
    const SettledLoad waiting = settled(round, LoadKind::concurrency, 15.0);
    CHECK(waiting.batch == 4.0);
    CHECK(waiting.queued == 11.0);
    CHECK(waiting.held_by == HeldBy::engine);
    const SettledLoad capped = settle_capped(round, 0, 7.0, 0.0);
    CHECK(capped.batch == 4.0);
    CHECK(capped.held_by == HeldBy::engine);
    CHECK(settled(round, LoadKind::batch, 4.0).problem.empty());
    CHECK(settled(round, LoadKind::batch, 5.0).problem ==
          "a batch of 5 is more than the 4 requests that the engine runs at once");
    const SettledLoad arrivals = settled(round, LoadKind::arrival_rate, 1e6);
    CHECK(arrivals.batch == 4.0);
    CHECK(arrivals.problem.find("with the 4 requests that the engine runs at once") != std::string::npos);
    round.step_tokens = 4.0;  // as many as the engine's own limit: the step is named
    CHECK(settled(round, LoadKind::concurrency, 15.0).held_by == HeldBy::step);
    round.step_tokens = 3.0;
    CHECK(settled(round, LoadKind::concurrency, 15.0).held_by == HeldBy::step);
}

TEST_CASE("sequences that are asked to decode together are capped") {
    sim::CompiledRound round = round_by_hand();
    CHECK(settle_capped(round, 0, 10.0, 0.0).queued == 0.0);
    CHECK(settle_capped(round, 0, 10.0, 0.0).largest_batch == 10.0);
    CHECK(settle_capped(round, 0, 14.0, 0.0).batch == 10.0);
    CHECK(settle_capped(round, 0, 14.0, 0.0).queued == 4.0);
    CHECK(settle_capped(round, 0, 14.0, 0.0).held_by == HeldBy::memory);
    round.step_tokens = 6.0;
    CHECK(settle_capped(round, 0, 6.0, 0.0).batch == 6.0);
    CHECK(settle_capped(round, 0, 7.0, 0.0).batch == 6.0);
    CHECK(settle_capped(round, 0, 7.0, 0.0).held_by == HeldBy::step);
    round.memory.plain_capacity = Bytes(1.0);
    CHECK(settle_capped(round, 0, 7.0, 0.0).batch == 1.0);  // just one
    CHECK(settle_capped(round, 0, 7.0, 0.0).queued == 6.0);
    CHECK(settled(with_prompts_in(1.0), LoadKind::concurrency, 3.0).queued == 2.0);
    round.memory.plain_capacity = Bytes(0.5);
    CHECK(settle_capped(round, 0, 7.0, 0.0).batch == 7.0);  // not one fits
    CHECK(settle_capped(round, 0, 7.0, 0.0).queued == 0.0);
}

TEST_CASE("those who wait do so until others have left: Little's law") {
    const sim::CompiledRound round = with_prompts();
    // Ten decode: a step is 2 s and a quarter of nine prompts of 0.5 s a token; a stay is eight of them, the own prompt of 4 s
    // and three quarters of nine others.
    const double step = 2 + 0.25 * 9 * 0.5, stay = 8 * step + 4 * (1 + 9 * 0.75);
    const sim::RoundEstimate at_ten = sim::evaluate(round, {0, 10.0, 0.0});
    CHECK(at_ten.time_per_token.value() == Approx(step));
    CHECK(loaded(round, LoadKind::concurrency, 10.0).first_token == at_ten.first_token);
    CHECK(loaded(round, LoadKind::concurrency, 15.0).first_token.value() == Approx(at_ten.first_token.value() + stay * 0.5));
}

TEST_CASE("arrivals keep as many in service as stay: rate times stay") {
    const sim::CompiledRound round = with_prompts();
    // N others: 8·(2 + N/8) of an answer and 4·(1 + 3N/4) of prompts are 20 + 4N; N = rate·(20 + 4N).
    for (const double others : {1.0, 3.0, 8.0}) {
        const double rate = others / (20 + 4 * others);
        CHECK(settled(round, LoadKind::arrival_rate, rate).batch == Approx(others + 1).margin(0.0051));
        CHECK(settled(round, LoadKind::arrival_rate, rate).problem.empty());
        CHECK(settled(round, LoadKind::arrival_rate, rate).largest_batch == 10.0);
    }
    CHECK(settled(round, LoadKind::arrival_rate, 9.0 / 56).batch == 10.0);      // all ten
    CHECK(settled(round, LoadKind::arrival_rate, 9.999 / 56).problem.empty());  // and always
    CHECK(most_arrivals(round, 0, 0.0) == Approx(10.0 / 56));
    CHECK_FALSE(settled(round, LoadKind::arrival_rate, 10.001 / 56).problem.empty());
    const SettledLoad refused = settled(round, LoadKind::arrival_rate, 0.2);
    CHECK(refused.batch == 10.0);
    CHECK(
        refused.problem ==
        "0.200 requests/s are more than can be served: at most about 0.178/s, with the 10 requests that memory holds");  // 10/56
                                                                                                                         // =
                                                                                                                         // 0.1786
}

TEST_CASE("the first token of a request that arrives at random") {
    sim::CompiledRound round = with_prompts();
    round.ranks = 2.0;
    round.price = DollarsPerSecond(3.0);
    round.target_transfer = Seconds(0.0);
    const double rate = 3.0 / 32;  // three others
    const SettledLoad load = settled(round, LoadKind::arrival_rate, rate);
    const double others = load.batch - 1;
    const sim::RoundEstimate e = loaded(round, LoadKind::arrival_rate, rate);
    // A round takes 2 s and 1 s (a quarter of 4) for each prompt that came during the one before.
    const double mean = 2 / (1 - rate), square = mean * mean + rate * mean;
    const double busy = 1 - std::exp(-others);
    CHECK(e.first_token.value() == Approx(4 * (1 + 0.75 * others) + 2 + busy * (0.5 * square / mean + rate * square / mean) +
                                          wait_for_place(20 + 4 * others, rate))
                                       .epsilon(1e-12));
    CHECK(loaded(round, LoadKind::arrival_rate, 9.9999 / 56).first_token.value() > 1e4);  // hardly any place is ever free
    CHECK(e.tokens_per_second_device == Approx(rate * 8 / 2).epsilon(1e-12));
    CHECK(e.price_per_token.value() == Approx(3 / (rate * 8)).epsilon(1e-12));
}

TEST_CASE("a pool that reads prompts: devices of it count, and nobody waits for others' prompts") {
    sim::CompiledRound round = with_prompts();
    round.prompt_wait = 0.0;
    round.prefill_pool = 1.0;
    round.target_transfer = Seconds(1.0);
    round.price = DollarsPerSecond(3.0);
    // One request decodes for 16 s; before, its prompt takes 4 s, the way 1 s, and a round and a half until it is taken up 3 s.
    const SettledLoad load = settled(round, LoadKind::concurrency, 6.0);
    CHECK(load.batch == Approx(6 / 1.5).margin(0.0051));
    CHECK(load.reading == Approx(2.0).margin(0.0051));
    CHECK(load.queued == Approx(0.0).margin(1e-9));
    const SettledLoad full = settled(round, LoadKind::concurrency, 20.0);
    CHECK(full.batch == 10.0);
    CHECK(full.reading == Approx(5.0));
    CHECK(full.queued == Approx(5.0));
    // Half as many as decode wait for 16 s of decoding, beside the 8 s of each request's own.
    CHECK(loaded(round, LoadKind::concurrency, 20.0).first_token.value() == Approx(8.0 + 0.5 * 16.0));
    CHECK(settled(round, LoadKind::concurrency, 2.0).batch == Approx(2 / 1.5).margin(0.0051));
    CHECK(settled(round, LoadKind::concurrency, 1.0).batch == 1.0);
    CHECK(settled(round, LoadKind::concurrency, 1.0).reading == 0.0);  // it decodes
    const double rate = 0.25;                                          // 4 others, since the prompt is read elsewhere
    CHECK(settled(round, LoadKind::arrival_rate, rate).batch == Approx(5.0).margin(0.0051));
    const sim::RoundEstimate e = loaded(round, LoadKind::arrival_rate, rate);
    CHECK(e.tokens_per_second_device == Approx(2 / (1 + rate * 4)).epsilon(1e-12));
    CHECK(e.price_per_token.value() == Approx(3 * (1 + rate * 4) / 2).epsilon(1e-12));
    const double others = settled(round, LoadKind::arrival_rate, rate).batch - 1;
    const double until_taken_up = 4 + 1 + 2 + 0.5 * 2 * (1 - std::exp(-others)) + wait_for_place(16, rate);
    CHECK(e.first_token.value() == Approx(until_taken_up).epsilon(1e-12));
    round.draft_transfer = Seconds(0.25);  // of a drafter's cache, where one is held
    CHECK(loaded(round, LoadKind::arrival_rate, rate).first_token.value() == Approx(until_taken_up).epsilon(1e-12));
    round.rows[0].holds_drafter = 1.0;
    CHECK(loaded(round, LoadKind::arrival_rate, rate).first_token.value() == Approx(until_taken_up + 0.25).epsilon(1e-12));
}

TEST_CASE("groups of attention data parallel ranks share arrivals: a prompt waits for those of its own group alone") {
    sim::CompiledRound round = with_prompts();
    round.groups = 2.0;
    constexpr double rate = 0.1;
    const double others = settled(round, LoadKind::arrival_rate, rate).batch - 1;
    REQUIRE(others > 1.0);
    const double of_group = sim::sequences_of_group(round, others + 1) - 1;
    // The prompt of 4 s, three quarters of those of half of the others; a round of 2 s, and a quarter of the prompts that come
    // to this group during the one before.
    const double to_group = rate / 2, mean = 2 / (1 - to_group), square = mean * mean + to_group * mean;
    const double busy = 1 - std::exp(-others);
    CHECK(loaded(round, LoadKind::arrival_rate, rate).first_token.value() ==
          Approx(4 * (1 + 0.75 * others / 2) + 2 + busy * (0.5 * square / mean + to_group * square / mean) +
                 wait_for_place(20 + 4 * of_group, rate, 20))  // ten of each group
              .epsilon(1e-12));
}

}  // namespace load_arithmetic_test
