// Which schedule a recommendation has beside its best length: what a server can change between, and what that gains over the
// load.
#include <catch2/catch.hpp>

#include <algorithm>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace recommend_schedule_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B on an H100 with two drafts that are looked up, or none, where some requests come alone and others in a batch.
Workload two_drafts(double share_alone, double batch) {
    Workload workload;
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.drafter = sim::NgramDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.5);
    workload.speculations = {sim::chains_up_to(2).front(), sim::chains_up_to(2).back()};
    setup.speculations = workload.speculations;
    workload.variants = {variant("lookup", setup)};
    workload.traffic = traffic_from({{1.0, share_alone}, {batch, 1.0 - share_alone}}, {{64.0, 1.0}}, ShareOf::tokens);
    workload.objective = Objective::latency;
    return workload;
}

/// A hybrid whose sequences keep a state for each draft that the engine was started for.
Workload with_states() {
    Workload workload;
    sim::RoundSetup setup = pair_setup("qwen3.5-4b", "qwen3.5-4b", platform("h100-sxm", "vllm"));
    setup.drafter = sim::OneLayerDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.7);
    setup.rollback = sim::Rollback::snapshot;
    workload.speculations = sim::chains_up_to(4);
    setup.speculations = workload.speculations;
    workload.variants = {variant("one-layer", setup)};
    workload.traffic = traffic_from({{1.0, 0.9}, {32.0, 0.1}}, {{1024.0, 1.0}}, ShareOf::tokens);
    workload.objective = Objective::latency;
    return workload;
}

struct Range {
    int from, to, drafts;
    bool operator==(const Range&) const = default;
};
std::vector<Range> ranges_of(const Schedule& schedule) {
    std::vector<Range> ranges;
    for (const ScheduleEntry& entry : schedule.entries) {
        ranges.push_back({entry.batch_from, entry.batch_to, entry.draft_tokens});
    }
    return ranges;
}

int drafted_at(const Schedule& schedule, int batch) {
    for (const ScheduleEntry& entry : schedule.entries) {
        if (entry.batch_from <= batch && batch <= entry.batch_to) {
            return entry.draft_tokens;
        }
    }
    return -1;
}

}  // namespace

TEST_CASE(
    "a schedule keeps the gain that is asked for batch by batch, unless that loses more than 1.5 % of the gain over the load") {
    // Drafts gain 1.4 and more alone, and hardly anything at the batch at which they gain 1.03 to 1.10.
    const sim::CompiledRound round = sim::compile_round(two_drafts(0.5, 8.0).variants.front().setup);
    const auto time_at = [&](int speculation, double of) {
        return sim::evaluate(round, {speculation, of, 64.0}).time_per_token.value();
    };
    const auto gain_at = [&](double batch) { return time_at(0, batch) / time_at(1, batch); };
    double batch = 1.0;
    while (batch < 300.0 && gain_at(batch) > 1.10) {
        ++batch;
    }
    REQUIRE(gain_at(batch) > 1.03);
    REQUIRE(gain_at(1.0) > 1.4);
    for (const double alone : {0.99, 0.97, 0.8, 0.5}) {
        Workload workload = two_drafts(alone, batch);
        workload.limits.minimum_gain = gain_at(batch) + 0.001;
        const Recommendation found = *recommend(workload, 1).recommendation;
        REQUIRE(found.speculate);
        const double everywhere = alone * time_at(1, 1.0) + (1.0 - alone) * time_at(1, batch);
        const double off_there = alone * time_at(1, 1.0) + (1.0 - alone) * time_at(0, batch);
        const double kept = everywhere / off_there;  // of the gain
        CAPTURE(alone, kept);
        REQUIRE(std::abs(kept - 0.985) > 0.002);
        CHECK(drafted_at(found.schedule, 1) == 2);
        CHECK(drafted_at(found.schedule, static_cast<int>(batch)) == (kept > 0.985 ? 0 : 2));
        CHECK(found.schedule.gain == Approx(found.candidates.front().gain * (kept > 0.985 ? kept : 1.0)));
    }
}

TEST_CASE("a server is started for the draft length whose schedule gains most, the recommended one or longer") {
    const Workload workload = with_states();
    const Recommendation found = *recommend(workload, 1).recommendation;
    const Candidate& best = found.candidates.front();
    REQUIRE(best.draft_tokens == 4);
    const sim::CompiledRound round = sim::compile_round(found.variants[best.variant].setup);
    REQUIRE(keeps_states(round, 1));
    const Schedule all = schedule_for(round, {0, 1, 2, 3, 4}, workload, 1024, best.speculation);
    CHECK(found.schedule.gain == Approx(all.gain));
    CHECK(found.schedule.gain > 1.001 * best.gain);
    CHECK(drafted_at(found.schedule, 1) == 4);
    CHECK(drafted_at(found.schedule, 32) == 3);

    Workload larger = workload;  // at 128 running requests three drafts are recommended
    larger.traffic = traffic_from({{1.0, 0.9}, {128.0, 0.1}}, {{1024.0, 1.0}}, ShareOf::tokens);
    const Recommendation three = *recommend(larger, 1).recommendation;
    REQUIRE(three.candidates.front().draft_tokens == 3);
    double most = 0.0;
    for (const std::vector<int>& start : {std::vector<int>{0, 1, 2, 3}, std::vector<int>{0, 1, 2, 3, 4}}) {
        most = std::max(most, schedule_for(round, start, larger, 1024, 3).gain);
    }
    CHECK(three.schedule.gain == Approx(most));
    larger.traffic = traffic_from({{1.0, 0.9}, {240.0, 0.1}}, {{1024.0, 1.0}}, ShareOf::tokens);  // 50 of them wait
    const Recommendation four = *recommend(larger, 1).recommendation;
    REQUIRE(four.candidates.front().draft_tokens == 4);
    CHECK(ranges_of(four.schedule) == ranges_of(schedule_for(round, {0, 1, 2, 3, 4}, larger, 1024, 4)));
}

TEST_CASE("a longer draft than the recommended one is no reason to start a server that holds fewer sequences") {
    Workload workload = with_states();
    workload.variants.front().setup.platform = platform("h100-sxm", "cuda-graph");
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.candidates.front().draft_tokens == 3);
    const sim::CompiledRound round = sim::compile_round(found.variants.front().setup);
    const Schedule three = schedule_for(round, {0, 1, 2, 3}, workload, 1024, 3),
                   four = schedule_for(round, {0, 1, 2, 3, 4}, workload, 1024, 3);
    REQUIRE(three.gain == four.gain);  // nothing that was asked for drafts four
    REQUIRE(three.largest_batch > four.largest_batch);
    CHECK(found.schedule.largest_batch == three.largest_batch);
}

TEST_CASE("a server is not started for drafts whose states let more requests wait than may") {
    Workload workload = with_states();
    sim::RoundSetup& setup = workload.variants.front().setup;
    setup.prompt_tokens = 800.0;
    setup.output_tokens = 400.0;
    workload.traffic = traffic_from({{1.0, 0.9}, {280.0, 0.1}}, {{1024.0, 1.0}}, ShareOf::tokens, LoadKind::concurrency);
    workload.limits.first_token_growth = sim::unlimited;
    workload.limits.waiting_stated = true;
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.candidates.front().draft_tokens == 3);
    const sim::CompiledRound round = sim::compile_round(found.variants.front().setup);
    const Schedule three = schedule_for(round, {0, 1, 2, 3}, workload, 1024, 3),
                   four = schedule_for(round, {0, 1, 2, 3, 4}, workload, 1024, 3);
    REQUIRE(four.gain > three.gain);
    REQUIRE(four.broken == Limit::waiting);
    REQUIRE(four.largest_batch < 0.95 * 280.0);
    CHECK_FALSE(found.schedule.broken);
    CHECK(ranges_of(found.schedule) == ranges_of(three));
    // Where any may wait, four it is.
    workload.limits.waiting = sim::unlimited;
    const Recommendation patient = *recommend(workload, 1).recommendation;
    CHECK(ranges_of(patient.schedule) == ranges_of(schedule_for(round, {0, 1, 2, 3, 4}, workload, 1024, 4)));
}

TEST_CASE("of several lengths and of the recommended one alone the schedule that gains more counts") {
    struct Case {
        double acceptance, alone, batch, minimum_gain;
        bool all_lengths;
    };
    // All lengths gain more than the recommended one at every load; as much as that one with pauses; and where they come down
    // to one other length, that is worth it from 2 % on.
    for (const auto& [acceptance, alone, batch, minimum_gain, all_lengths] :
         {Case{0.25, 0.98, 128.0, 1.0, true}, Case{0.3, 0.95, 64.0, 1.15, true}, Case{0.25, 0.98, 128.0, 1.15, false}}) {
        CAPTURE(acceptance, minimum_gain);
        Workload workload = two_drafts(alone, batch);
        workload.speculations = sim::chains_up_to(3);
        workload.limits.minimum_gain = minimum_gain;
        sim::RoundSetup& setup = workload.variants.front().setup;
        setup.acceptance = sim::Acceptance::geometric(acceptance);
        setup.speculations = workload.speculations;
        const Recommendation found = *recommend(workload, 1).recommendation;
        REQUIRE(found.candidates.front().draft_tokens == 3);
        const sim::CompiledRound round = sim::compile_round(setup);
        const Schedule all = schedule_for(round, {0, 1, 2, 3}, workload, 1024, 3),
                       one = schedule_for(round, {0, 3}, workload, 1024, 3);
        REQUIRE(ranges_of(all) != ranges_of(one));
        CHECK(ranges_of(found.schedule) == ranges_of(all_lengths ? all : one));
        CHECK(found.schedule.gain >= (all_lengths ? all.gain : one.gain));
    }
}

TEST_CASE("what one server cannot change between is in no schedule") {
    Workload workload = with_states();
    workload.speculations.push_back({sim::BinaryShape{2}, sim::Verification::packed, "binary 2"});
    sim::RoundSetup& setup = workload.variants.front().setup;
    setup = two_drafts(0.5, 2.0).variants.front().setup;
    setup.acceptance = sim::Acceptance::geometric(0.7);
    setup.acceptance.siblings = sim::RankAcceptance({0.7, 0.2});
    workload.traffic = traffic_from({{1.0, 0.9}, {200.0, 0.1}}, {{64.0, 1.0}}, ShareOf::tokens);
    const auto drafted = [&](Switching switching) {
        workload.variants.front().switching = switching;
        std::vector<int> lengths;
        const Recommendation found = *recommend(workload, 1).recommendation;
        for (const ScheduleEntry& entry : found.schedule.entries) {
            lengths.push_back(entry.draft_tokens);
        }
        return lengths;
    };
    const std::vector<int> lengths = drafted(Switching::lengths);
    CHECK(std::count_if(lengths.begin(), lengths.end(), [](int length) { return length > 0; }) > 1);
    const std::vector<int> one = drafted(Switching::nothing);
    const int best = recommend(workload, 1).recommendation->candidates.front().draft_tokens;
    for (const int length : one) {
        CHECK((length == 0 || length == best));
    }
}

TEST_CASE("a schedule's gain is over the plain decoding that is shown, on the recommended cut or on another") {
    // Two stages draft; plain decoding is faster where two devices share each layer.
    Workload workload;
    workload.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    for (const double stages : {1.0, 2.0}) {
        sim::Platform where = platform("h100-sxm", "vllm", 2.0 / stages);
        where.parallel.pipeline = stages;
        sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", where);
        setup.drafter = sim::OneLayerDrafter{};
        setup.acceptance = sim::Acceptance::geometric(0.95);
        setup.speculations = workload.speculations;
        Variant each = variant("one-layer", setup);
        each.labels.parallel = where.parallel;
        each.origin = origin_of(each.labels);
        each.problem = stages > 1.0 ? "" : "nobody drafts so";
        workload.variants.push_back(std::move(each));
    }
    workload.objective = Objective::latency;
    workload.traffic.points = {{4.0, 1000.0, 1.0}};
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    const Candidate& best = found.candidates.front();
    REQUIRE(best.variant == 1);
    REQUIRE(found.plain.variant != best.variant);
    const sim::CompiledRound round = sim::compile_round(found.variants[1].setup);
    const double of_cut = sim::evaluate(round, {1, 4.0, 1000.0}).throughput_multiplier;
    REQUIRE(of_cut > 1.2 * best.gain);
    CHECK(best.gain == Approx(found.plain.objective / best.objective));
    CHECK(found.schedule.gain == Approx(best.gain));
    CHECK(found.schedule.speedup == Approx(of_cut));
}

TEST_CASE(
    "what is left out is told with what a limit keeps from being the best first, in the workload's order, and last what nobody "
    "can run") {
    Workload workload = llama_workload();
    const auto left_out = [&](const std::string& name, const std::string& problem, bool untrained) {
        Variant each = llama_workload().variants[1];
        each.labels.drafter = name;
        each.origin = origin_of(each.labels);
        each.problem = problem;
        each.untrained = untrained;
        workload.variants.push_back(each);
    };
    workload.variants.resize(1);
    left_out("first", "no", false);
    left_out("untrained", "no", true);
    left_out("second", "no", false);
    left_out("lookup", "", false);
    left_out("third", "no", false);
    workload.limits.minimum_gain = 100.0;
    std::vector<std::string> names;
    const RecommendationResult result = recommend(workload, 1);
    for (const Exclusion& exclusion : result.excluded) {
        names.push_back(exclusion.label.substr(0, exclusion.label.find(' ')));
    }
    CHECK(names == std::vector<std::string>{"llama-3.2-1b", "lookup", "first", "second", "third", "untrained"});
}

}  // namespace recommend_schedule_test
