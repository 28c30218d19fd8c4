// Variants of a workload as they are judged: figures of a candidate by hand, and what is told of those that a limit excludes.
#include <catch2/catch.hpp>

#include <string>

#include "recommend_workloads.h"
#include "straight_rounds.h"

namespace judged_variants_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Prepared straight(bool loaded) {
    Prepared prepared;
    prepared.round = straight_round(10.0);
    prepared.loaded = loaded;
    prepared.time_to_first_token = Seconds(6.0);
    prepared.plain_first_token = Seconds(4.0);
    return prepared;
}

/// The number that stands behind a text.
double number_after(const std::string& sentence, const std::string& text) {
    INFO(sentence);
    REQUIRE(sentence.find(text) != std::string::npos);
    return std::stod(sentence.substr(sentence.find(text) + text.size()));
}

/// Why the first variant is excluded.
std::string reason_of_first(const Workload& workload) {
    const RecommendationResult result = recommend(workload, 1);
    for (const Exclusion& exclusion : result.excluded) {
        if (exclusion.variant == 0) {
            return exclusion.reason;
        }
    }
    return "";
}

/// Llama-3-8B with a drafter of 1B and so many drafts, in memory that holds a few sequences more than both models.
Workload in_little_memory(double in_flight) {
    Workload workload;
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("rtx-4090", "vllm"));
    setup.platform.memory_utilisation = 0.99;
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 500.0;
    workload.speculations = {sim::chains_up_to(2).front(), sim::chains_up_to(2).back()};
    setup.speculations = workload.speculations;
    workload.variants = {variant("model", setup)};
    workload.traffic.points = {{in_flight, 1250.0, 1.0}};
    workload.traffic.kind = LoadKind::concurrency;
    workload.prompt_tokens = 1000.0;
    return workload;
}

}  // namespace

TEST_CASE("with a shorter accept length what decodes takes more rounds, and prompts are read all the same") {
    Candidate candidate;
    candidate.accept_length = 3.0;
    candidate.decode_share_user = 0.8;
    candidate.decode_share_device = 0.5;
    CHECK(accept_length_at(candidate, 1.0, Objective::latency) == Approx(3.0));
    // Of 1.2 times the time a fifth goes to prompts: 1.0 is left for what took 0.8, or 0.7 for what took 0.5.
    CHECK(accept_length_at(candidate, 1.2, Objective::latency) == Approx(3.0 * 0.8 / 1.0));
    CHECK(accept_length_at(candidate, 1.2, Objective::throughput) == Approx(3.0 * 0.5 / 0.7));
    CHECK(accept_length_at(candidate, 1.2, Objective::cost) == Approx(3.0 * 0.5 / 0.7));
    CHECK(accept_length_at(candidate, 0.1, Objective::latency) == sim::unlimited);  // prompts alone take longer
    CHECK(accept_length_at(candidate, 0.5, Objective::throughput) == sim::unlimited);
}

TEST_CASE("a candidate has the figures of its outcome, and those that follow from them") {
    Outcome outcome;
    outcome.speculation = 1;
    outcome.means.time_per_token = Seconds(0.25);
    outcome.means.first_token = Seconds(9.0);
    outcome.means.decode_share_device = 0.5;
    outcome.gain = 1.25;
    outcome.objective = 0.125;
    Prepared prepared = straight(true);
    prepared.round.rows[1].drafted = 0.75;  // a look-up that often finds nothing
    const Candidate found = candidate_of(prepared, 4, 1, outcome, Objective::throughput);
    CHECK(found.variant == 4);
    CHECK(found.draft_tokens == 1);
    CHECK(found.accept_length == 1.6);
    CHECK(found.tokens_per_second_user == Approx(4.0));
    CHECK(found.wasted_draft_share == Approx(0.15 / 0.75));  // 0.6 of 0.75 are accepted
    CHECK(found.break_even_accept_length == Approx(1.6 * 0.5 / 0.75));
    CHECK(found.time_to_first_token == Seconds(9.0));
    CHECK(found.objective == 0.125);
    CHECK(candidate_of(straight(false), 4, 1, outcome, Objective::throughput).time_to_first_token == Seconds(6.0));
    outcome.speculation = 0;
    CHECK(candidate_of(prepared, 4, 0, outcome, Objective::throughput).wasted_draft_share == 0.0);
}

TEST_CASE("requests come faster than a candidate answers them where there is a load that has a problem") {
    for (const bool loaded : {false, true}) {
        for (const char* problem : {"", "too many"}) {
            Outcome outcome;
            outcome.problem = problem;
            const Candidate found = candidate_of(straight(loaded), 0, 0, outcome, Objective::throughput);
            CHECK(found.overrun == (loaded && outcome.problem == "too many"));
        }
    }
}

TEST_CASE("the first token is late beside plain decoding of the cut that is compared with") {
    Outcome outcome;
    outcome.first_token_growth = 1.5;
    outcome.speculation = 1;
    Limits limits;
    limits.own_plain.alone = 3.0;
    limits.own_plain.mean = 2.0;
    CHECK(first_token_growth_of(straight(true), outcome, limits) == 3.0);
    CHECK(first_token_growth_of(straight(false), outcome, limits) == 4.5);  // 6 s over 4 s, times 3
    // A limit that times break comes before a gain that is too small.
    outcome.gain = 0.5;
    limits.first_token_growth = 5.0;
    CHECK(limit_of(outcome, straight(false), limits) == Limit::gain);
    limits.first_token_growth = 4.0;
    CHECK(limit_of(outcome, straight(false), limits) == Limit::first_token_growth);
    limits.time_to_first_token = Seconds(5.0);
    CHECK(limit_of(outcome, straight(false), limits) == Limit::time_to_first_token);
    outcome.problem = "too many";
    CHECK(limit_of(outcome, straight(false), limits) == Limit::load);
}

TEST_CASE("the nearest miss is the least of those that can be run, and the first of equals") {
    Judged all;
    for (std::size_t i = 0; i < 4; ++i) {
        add_variant(all, i, 0, straight_round(10.0));
    }
    CHECK_FALSE(nearest_miss_of(all));
    all.variants[0].untrained = true;
    all.outcomes[0].nearest_miss = 1.1;
    CHECK_FALSE(nearest_miss_of(all));
    all.outcomes[1].nearest_miss = 1.5;
    all.outcomes[2].nearest_miss = all.outcomes[3].nearest_miss = 1.2;
    CHECK(nearest_miss_of(all) == std::optional<std::size_t>(2));
}

TEST_CASE("a server that cannot change what it drafts drafts it at every load") {
    // With a round of 11 s and 0.2 s a sequence for 1.6 tokens, a TPOT of 7.4 s at a batch of 4, and of 10.6 s at 30.
    const sim::CompiledRound round = straight_round(10.0, 0.2);
    const Traffic traffic = traffic_from({{4.0, 1.0}, {30.0, 1.0}}, {{0.0, 1.0}});
    Limits limits;
    limits.time_per_token = Seconds(10.5);
    limits.minimum_gain = 0.1;
    Variant variant;
    variant.switching = Switching::nothing;
    const PlannedOutcome fixed = planned_for(variant, round, 1, traffic, Objective::latency, limits);
    CHECK(fixed.broken == Limit::time_per_token);
    CHECK(fixed.plan.by_point.empty());
    limits.time_per_token = Seconds(10.7);
    CHECK_FALSE(planned_for(variant, round, 1, traffic, Objective::latency, limits).broken);
    sim::CompiledRound slower = round;  // a plain step keeps the limit at 30, and rounds break it
    slower.pass(sim::PassId::verify_unrolled).node_time = Seconds(13.0);
    limits.time_per_token = Seconds(11.0 + 5.0);
    slower.rows[1].accepted.length = 1.1;
    for (const Switching switching : {Switching::shapes, Switching::lengths}) {
        variant.switching = switching;
        const PlannedOutcome partly = planned_for(variant, slower, 1, traffic, Objective::latency, limits);
        CHECK(partly.plan.by_point == std::vector<int>{1, sim::drafting_off});
        CHECK_FALSE(partly.broken);
    }
}

TEST_CASE("drafts that break a limit at one load are off there where the server can change what it drafts, and else left out") {
    Workload workload = llama_workload();
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    workload.variants = {workload.variants[1]};  // a look-up
    workload.variants.front().setup.speculations = workload.speculations;
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const auto time = [&](int speculation, double batch) {
        return sim::evaluate(round, {speculation, batch, 64.0}).time_per_token;
    };
    REQUIRE(time(1, 300.0) > 1.02 * time(0, 300.0));
    REQUIRE(time(1, 1.0) < time(0, 1.0));
    workload.traffic = traffic_from({{1.0, 1.0}, {300.0, 1.0}}, {{64.0, 1.0}}, ShareOf::tokens);
    workload.objective = Objective::latency;
    workload.limits.time_per_token = 0.5 * (time(0, 300.0) + time(1, 300.0));
    for (const Switching switching : {Switching::shapes, Switching::lengths, Switching::nothing}) {
        workload.variants.front().switching = switching;
        const Recommendation found = *recommend(workload, 1).recommendation;
        CHECK(found.speculate == (switching != Switching::nothing));
        CHECK(found.excluded.size() == (switching == Switching::nothing ? 1U : 0U));
        if (found.speculate) {
            CHECK(found.candidates.front().off_for == Limit::time_per_token);
            CHECK(found.candidates.front().plan.by_point == std::vector<int>{1, sim::drafting_off});
        } else {
            CHECK_THAT(found.excluded.front().reason, Catch::StartsWith("with 3 drafts it reaches a TPOT of "));
        }
    }
}

TEST_CASE("a variant without any shape that drafts says so, and one whose drafts cannot run why") {
    const Workload workload = llama_workload();
    Variant drafting = workload.variants.front();
    drafting.setup.speculations = sim::chains_up_to(0);
    CHECK(prepare(drafting, workload).problem == "none of the given shapes drafts anything");
    drafting.setup.speculations = sim::chains_up_to(2);
    drafting.setup.prompt_tokens = 1000.0;
    drafting.setup.output_tokens = 1.0;
    CHECK_THAT(prepare(drafting, workload).problem, Catch::Contains("answers of one token come from their prompts alone"));
    drafting.problem = "it may not";
    CHECK(prepare(drafting, workload).problem == "it may not");
    drafting = workload.variants.front();
    CHECK(prepare(drafting, workload).problem.empty());
    CHECK(prepare(drafting, workload).speculations.front() == 1);
    CHECK(prepare(plain_variant(drafting), workload).speculations == std::vector<int>{0});
}

TEST_CASE("each platform of each model has plain decoding beside what drafts there, once") {
    Workload workload = llama_workload();
    workload.speculations = sim::chains_up_to(1);
    const auto plain = [&] {
        const Judged all = judged(workload, 1);
        return std::count_if(all.variants.begin(), all.variants.end(), [](const Variant& each) { return each.plain(); });
    };
    CHECK(plain() == 1);
    workload.variants.push_back(plain_variant(workload.variants.front()));
    workload.variants.erase(workload.variants.begin(), workload.variants.begin() + 3);
    CHECK(plain() == 1);
    workload.variants.push_back(llama_workload().variants[1]);
    workload.variants.back().origin.platform += 1000;
    CHECK(plain() == 2);
    workload.variants.push_back(llama_workload().variants[1]);
    workload.variants.back().origin.target += 1000;
    CHECK(plain() == 3);
}

TEST_CASE("drafts that a limit on waiting excludes are told with the share of the requests that they let wait") {
    // As many requests as plain decoding holds: of C, C - B wait with drafts.
    const sim::CompiledRound round = sim::compile_round(in_little_memory(1.0).variants.front().setup);
    const double held = most_sequences(round, 1, 1250.0), held_by_plain = most_sequences(round, 0, 1250.0);
    REQUIRE(held < 0.9 * held_by_plain);
    const std::string reason = reason_of_first(in_little_memory(held_by_plain));
    CHECK_THAT(reason, Catch::StartsWith("with 2 drafts it holds a batch of "));  // and would gain nothing
    CHECK(number_after(reason, "holds a batch of ") == held);
    CHECK(number_after(reason, "plain decoding holds ") == held_by_plain);
    CHECK(number_after(reason, "so that ") == Approx(100.0 * (1.0 - held / held_by_plain)).epsilon(0.005));
    CHECK(number_after(reason, "--waiting allows ") == 5.0);
    Workload patient = in_little_memory(held_by_plain);
    patient.limits.waiting = 1.01 * (1.0 - held / held_by_plain);
    CHECK_THAT(reason_of_first(patient), !Catch::Contains("--waiting"));
}

TEST_CASE(
    "drafts that a limit on the first token excludes are told with how much later it comes, and with a gain if they have one") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    workload.traffic.points = {{1, 1024, 1.0}};
    sim::CompiledRound target_alone = sim::compile_round(workload.variants.front().setup);
    const Seconds both = sim::time_to_first_token(target_alone, 1024.0);
    target_alone.draft_prefill = {};
    const double growth = both / sim::time_to_first_token(target_alone, 1024.0);
    workload.limits.first_token_growth = 1.01;
    REQUIRE(growth > 1.05);
    std::string reason = reason_of_first(workload);
    CHECK_THAT(reason, Catch::Matches("with [0-9] drafts? it would gain [12]\\.[0-9]{2}x, but makes the TTFT .*"));
    CHECK(number_after(reason, "makes the TTFT ") == Approx(growth).epsilon(0.005));
    CHECK(number_after(reason, "--ttft-growth allows ") == 1.01);
    workload.speculations = sim::chains_up_to(1);
    workload.variants.front().setup.speculations = workload.speculations;
    const double gain =
        sim::evaluate(sim::compile_round(workload.variants.front().setup), {1, 1.0, 1024.0}).throughput_multiplier;
    REQUIRE(gain > 1.0);
    REQUIRE(gain < 2.0);
    CHECK(number_after(reason_of_first(workload), "with 1 draft it would gain ") == Approx(gain).margin(0.005));
    workload.variants.front().setup.acceptance = sim::Acceptance::geometric(0.01);
    CHECK_THAT(reason_of_first(workload), Catch::StartsWith("with 1 draft it makes the TTFT "));
    // The first token of a prompt: in milliseconds, beside its limit.
    workload.limits = Limits{};
    workload.limits.time_to_first_token = 0.75 * both;
    reason = reason_of_first(workload);
    CHECK(number_after(reason, "reaches a TTFT of ") == Approx(1e3 * both.value()).epsilon(0.005));
    CHECK(number_after(reason, "ms; ") == Approx(750.0 * both.value()).epsilon(0.005));
}

TEST_CASE("figures that six decimals do not tell apart from their limit have six, and others no more than they need") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    workload.variants.front().setup.speculations = workload.speculations;
    workload.traffic.points = {{1, 1024, 1.0}};
    const sim::RoundEstimate three = sim::evaluate(sim::compile_round(workload.variants.front().setup), {1, 1.0, 1024.0});
    REQUIRE(three.time_per_token.value() > 1e-3);
    const auto told = [&](double factor) {
        workload.limits = Limits{};
        workload.limits.time_per_token = three.time_per_token / factor;
        return reason_of_first(workload);
    };
    const std::string alike = told(1.0 + 1e-12);
    CHECK_THAT(alike,
               Catch::Matches("with 3 drafts it reaches a TPOT of [0-9]+\\.[0-9]{6} ms; [0-9]+\\.[0-9]{6} ms are allowed"));
    CHECK(number_after(alike, "reaches a TPOT of ") == Approx(1e3 * three.time_per_token.value()).epsilon(1e-6));
    const std::string apart = told(1.25);
    CHECK_THAT(apart,
               Catch::Matches("with 3 drafts it reaches a TPOT of [0-9]+\\.[0-9]{2} ms; [0-9]+\\.[0-9]{2} ms are allowed"));
    CHECK(number_after(apart, "ms; ") == Approx(800.0 * three.time_per_token.value()).margin(0.005));
    workload.limits = Limits{};
    workload.limits.memory = 0.5 * three.memory;
    const std::string memory = reason_of_first(workload);
    CHECK(number_after(memory, "needs ") == Approx(1e-9 * three.memory.value()).margin(0.05));
    CHECK(number_after(memory, "per device; ") == Approx(0.5e-9 * three.memory.value()).margin(0.05));
    workload.limits = Limits{};
    workload.limits.minimum_gain = 50.0;
    CHECK(number_after(reason_of_first(workload), "reaches only ") == Approx(three.throughput_multiplier).margin(5e-4));
}

TEST_CASE("of shapes that miss a limit alike the first tells how near the variant comes") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    workload.variants.front().setup.acceptance.siblings = sim::RankAcceptance({0.8});
    workload.traffic.points = {{1, 1024, 1.0}};
    workload.limits.time_per_token = Seconds(1e-4);
    workload.speculations = {sim::chains_up_to(0).front(), sim::chains_up_to(3).back()};
    workload.speculations.push_back({sim::ParentsShape{{0, 1, 2}}, sim::Verification::unrolled, "a line"});
    const RecommendationResult none = recommend(workload, 1);
    REQUIRE(none.nearest);
    CHECK_THAT(none.nearest->reason, Catch::StartsWith("with 3 drafts it reaches a TPOT of "));
    CHECK_THAT(reason_of_first(workload), Catch::StartsWith("with 3 drafts it reaches a TPOT of "));
    std::swap(workload.speculations[1], workload.speculations[2]);
    CHECK_THAT(recommend(workload, 1).nearest->reason, Catch::StartsWith("at its best shape (a line) it reaches a TPOT of "));
}

TEST_CASE("a tree is named by its label, and a chain by its drafts") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    workload.variants.front().setup.acceptance.siblings = sim::RankAcceptance({0.6, 0.2});
    workload.traffic.points = {{1, 1024, 1.0}};
    workload.limits.minimum_gain = 100.0;
    workload.speculations = {sim::chains_up_to(0).front(), {sim::BinaryShape{4}, sim::Verification::unrolled, "binary 4"}};
    CHECK_THAT(reason_of_first(workload), Catch::StartsWith("at its best shape (binary 4) it reaches only "));
    workload.speculations = sim::chains_up_to(1);
    CHECK_THAT(reason_of_first(workload), Catch::StartsWith("with 1 draft it reaches only "));
}

}  // namespace judged_variants_test
