// Is the recommendation the best of all candidates, do limits exclude with reasons, and does the schedule match a search by
// hand?
#include <algorithm>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "setups.h"
#include "sweeps/recommend.h"

namespace recommend_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

double by_hand(const Workload& workload, const Candidate& candidate) {
    const sim::CompiledRound round = sim::compile_round(workload.variants[candidate.variant].setup);
    double device_time = 0.0;
    for (const TrafficPoint& point : workload.traffic.points) {
        const sim::RoundEstimate e = sim::evaluate(round, {candidate.speculation, point.load, point.context});
        device_time += point.share * e.round.value() / (point.load * e.accept_length);
    }
    return device_time;
}

}  // namespace

TEST_CASE("limits and shares of nothing are refused") {
    CHECK(problems_of(llama_workload()).empty());
    for (int which = 0; which < 4; ++which) {
        Workload workload = llama_workload();
        if (which == 0) {
            workload.limits.time_per_token = Seconds(0.0);
        } else if (which == 1) {
            workload.limits.time_to_first_token = Seconds(0.0);
        } else if (which == 2) {
            workload.limits.memory = Bytes(0.0);
        } else {
            workload.limits.minimum_gain = 0.0;
        }
        INFO(which);
        CHECK(problems_of(workload) == std::vector<std::string>{"every limit must be above 0"});
    }
    Workload workload = llama_workload();
    workload.traffic.points.front().share = 0.0;
    CHECK(problems_of(workload) == std::vector<std::string>{"every share of the traffic must be above 0"});
}

TEST_CASE("shares of traffic are normalised") {
    const Traffic traffic = traffic_from({{1, 3.0}, {8, 1.0}}, {{0, 1.0}, {4096, 1.0}});
    REQUIRE(traffic.points.size() == 4);
    CHECK(traffic.points[0].share == Approx(0.375));
    CHECK(traffic.points[3].share == Approx(0.125));
    CHECK(typical_point(traffic).load == 1.0);  // of equal shares the shorter context
    CHECK(typical_point(traffic).context == 0.0);
    CHECK(typical_point(traffic_from({{8, 1.0}, {4, 1.0}}, {{512, 1.0}})).load == 4.0);
}

TEST_CASE("shares of time weigh a point by the tokens generated there, shares of tokens do not") {
    // Two points, half of the time each: batch 1 at 10 ms a token and batch 8 at 20 ms. In two seconds they generate 100 and
    // 400 tokens: 250 a second, and a mean TPOT of (100 · 10 + 400 · 20) / 500 = 18 ms. As shares of tokens: 15 ms, and
    // 1 / (0.5 / 100 + 0.5 / 400) = 160 tokens/s.
    std::vector<sim::RoundEstimate> estimates(2);
    estimates[0].time_per_token = Seconds(0.010);
    estimates[0].tokens_per_second_device = 100.0;
    estimates[1].time_per_token = Seconds(0.020);
    estimates[1].tokens_per_second_device = 400.0;
    Traffic traffic = traffic_from({{1, 1.0}, {8, 1.0}}, {{1024, 1.0}});
    const std::vector<SettledLoad> loads(estimates.size());
    CHECK(means_over(traffic, loads, estimates).tokens_per_second_device == Approx(250.0));
    CHECK(means_over(traffic, loads, estimates).time_per_token.value() == Approx(0.018));
    traffic.shares_of = ShareOf::tokens;
    CHECK(means_over(traffic, loads, estimates).tokens_per_second_device == Approx(160.0));
    CHECK(means_over(traffic, loads, estimates).time_per_token.value() == Approx(0.015));
}

TEST_CASE("with shares of time the gain in throughput is the speed-up, and both follow from the points by hand") {
    Workload workload = llama_workload();
    workload.traffic.shares_of = ShareOf::time;
    const Recommendation answer = *recommend(workload, 1).recommendation;
    const Candidate& best = answer.candidates.front();
    const sim::CompiledRound round = sim::compile_round(workload.variants[best.variant].setup);
    double plain = 0.0, speculative = 0.0;
    for (const TrafficPoint& point : workload.traffic.points) {
        const sim::RoundEstimate e = sim::evaluate(round, {best.speculation, point.load, point.context});
        speculative += point.share * point.load / e.time_per_token.value();
        plain += point.share * point.load / e.autoregressive.value();
    }
    CHECK(best.tokens_per_second_device == Approx(speculative));
    CHECK(best.gain == Approx(speculative / plain));
    CHECK(best.speedup == Approx(best.gain));
}

TEST_CASE("the recommendation has the smallest objective of all candidates, computed by hand") {
    const Workload workload = llama_workload();
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const Recommendation& answer = *result.recommendation;
    CHECK(answer.speculate);
    double smallest = 1e9;
    for (std::size_t variant = 0; variant < workload.variants.size(); ++variant) {
        for (int k = 1; k <= 8; ++k) {
            Candidate candidate;
            candidate.variant = variant;
            candidate.speculation = k;
            smallest = std::min(smallest, by_hand(workload, candidate));
        }
    }
    CHECK(answer.candidates.front().objective == Approx(smallest).epsilon(1e-12));
    CHECK(answer.candidates.front().regret == 0.0);
    for (std::size_t i = 1; i < answer.candidates.size(); ++i) {
        CHECK(answer.candidates[i].objective >= answer.candidates[i - 1].objective);
    }
    // One runner-up a variant: two further drafters and plain decoding.
    CHECK(answer.runners_up.size() == 3);
}

TEST_CASE("results do not depend on the number of threads") {
    const Workload workload = llama_workload();
    const Recommendation one = *recommend(workload, 1).recommendation;
    for (const unsigned threads : {2u, 7u}) {
        const Recommendation many = *recommend(workload, threads).recommendation;
        REQUIRE(many.candidates.size() == one.candidates.size());
        for (std::size_t i = 0; i < one.candidates.size(); ++i) {
            CHECK(many.candidates[i].variant == one.candidates[i].variant);
            CHECK(many.candidates[i].draft_tokens == one.candidates[i].draft_tokens);
            CHECK(many.candidates[i].objective == one.candidates[i].objective);
        }
        CHECK(many.tradeoffs.size() == one.tradeoffs.size());
    }
}

TEST_CASE("limits exclude, and say by how much") {
    Workload workload = llama_workload();
    workload.limits.time_per_token = Seconds(0.1e-3);
    const RecommendationResult impossible = recommend(workload, 1);
    CHECK_FALSE(impossible.recommendation);
    REQUIRE(impossible.excluded.size() == 4);
    CHECK(impossible.excluded.front().reason.find("reaches a TPOT of") != std::string::npos);

    workload.limits = {};
    workload.limits.memory = Bytes(1e9);
    CHECK(recommend(workload, 1).excluded.front().reason.find("GB of memory per device; 1.0 GB") != std::string::npos);

    workload.limits = {};
    workload.limits.minimum_gain = 100.0;
    const RecommendationResult plain = recommend(workload, 1);
    REQUIRE(plain.recommendation);
    CHECK_FALSE(plain.recommendation->speculate);
    CHECK(plain.recommendation->candidates.front().draft_tokens == 0);
    CHECK(plain.excluded.size() == 3);
}

TEST_CASE("a drafter of another vocabulary is excluded, not fatal") {
    Workload workload = llama_workload();
    workload.variants.push_back(
        variant("mamba2-130m", pair_setup("llama-3-8b", "mamba2-130m", platform("h100-sxm", "cuda-graph"))));
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    REQUIRE(result.excluded.size() == 1);
    CHECK(result.excluded.front().reason.find("vocabulary") != std::string::npos);
}

TEST_CASE("the schedule takes the best length at every batch, falls with batch and ends where nothing is gained") {
    const Workload workload = llama_workload();
    sim::RoundSetup setup = workload.variants.front().setup;
    setup.platform.device.memory = Bytes(1e15);  // so that gain alone decides
    const sim::CompiledRound round = sim::compile_round(setup);
    Workload short_context = workload;
    short_context.traffic = traffic_from({{1024, 1.0}}, {{32, 1.0}});
    const Schedule schedule = schedule_for(round, runnable(round), short_context, 1024);
    int previous_end = 0;
    int previous_length = 1000;
    for (const ScheduleEntry& entry : schedule.entries) {
        CHECK(entry.batch_from == previous_end + 1);
        CHECK(entry.draft_tokens <= previous_length);
        previous_end = entry.batch_to;
        previous_length = entry.draft_tokens;
        double least = 1e9, greatest = 0.0;
        const auto at = [&](int draft_tokens, int batch) {  // of none, the drafter stays loaded
            const int speculation = draft_tokens > 0 ? draft_tokens : sim::drafting_off;
            return sim::evaluate(round, {speculation, static_cast<double>(batch), 32.0});
        };
        for (int batch = entry.batch_from; batch <= entry.batch_to; ++batch) {
            double best = 1e9;
            for (int k = 0; k <= 8; ++k) {
                const sim::RoundEstimate estimate = at(k, batch);
                best = estimate.fits ? std::min(best, estimate.time_per_token.value()) : best;
            }
            const sim::RoundEstimate taken = at(entry.draft_tokens, batch);
            CHECK(taken.time_per_token.value() <= best * (1.0 + schedule_tolerance) * (1.0 + 1e-12));
            least = std::min(least, taken.throughput_multiplier);
            greatest = std::max(greatest, taken.throughput_multiplier);
        }
        CHECK(entry.least == Approx(least).epsilon(1e-9));
        CHECK(entry.greatest == Approx(greatest).epsilon(1e-9));
    }
    CHECK(schedule.entries.back().batch_to == 1024);
    REQUIRE(schedule.switch_off_batch);
    // Long contexts keep speculation on at larger batches: verification stays bound by the key-value cache.
    Workload long_contexts = workload;
    long_contexts.traffic = traffic_from({{1024, 1.0}}, {{8192, 1.0}});
    const Schedule long_context = schedule_for(round, runnable(round), long_contexts, 1024);
    CHECK(long_context.switch_off_batch.value_or(long_context.largest_batch + 1) > *schedule.switch_off_batch);
}

TEST_CASE("a schedule stays within the load that was asked for") {
    Workload workload = llama_workload();
    workload.traffic = traffic_from({{1, 0.5}, {6, 0.5}}, {{1024, 1.0}});
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const Schedule schedule = schedule_for(round, runnable(round), workload, 1024);
    REQUIRE_FALSE(schedule.entries.empty());
    CHECK(schedule.entries.back().batch_to == 6);
    CHECK(schedule.largest_batch > 6);
}

TEST_CASE("drafts that no longer fit are switched off, and the schedule ends where a server with the drafter holds no more") {
    Workload workload = llama_workload();
    workload.traffic = traffic_from({{1, 1.0}}, {{1024, 0.5}, {8192, 0.5}});
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const Schedule schedule = schedule_for(round, runnable(round), workload, 1024);
    REQUIRE(schedule.end_limit == Limit::memory);
    const double last = schedule.largest_batch;
    CHECK(sim::evaluate(round, {sim::drafting_off, last, 8192.0}).fits);  // the longest context decides
    CHECK_FALSE(sim::evaluate(round, {sim::drafting_off, last + 1.0, 8192.0}).fits);
    CHECK(sim::evaluate(round, {0, last + 1.0, 8192.0}).fits);  // without the drafter there is room
    if (schedule.switch_off_batch) {
        CHECK(schedule.switch_off_limit == Limit::memory);
        for (int k = 1; k <= 8; ++k) {
            CHECK_FALSE(sim::evaluate(round, {k, static_cast<double>(*schedule.switch_off_batch), 8192.0}).fits);
        }
    }
}

TEST_CASE("the schedule keeps every limit") {
    Workload workload = llama_workload();
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const Schedule free = schedule_for(round, runnable(round), workload, 1024);
    REQUIRE(free.largest_batch > 20);

    workload.limits.time_per_token =
        sim::evaluate(round, {0, 20.0, 8192.0}).time_per_token;  // plain decoding keeps it up to 20
    workload.limits.minimum_gain = 1.3;
    const Schedule limited = schedule_for(round, runnable(round), workload, 1024);
    CHECK(limited.largest_batch < free.largest_batch);
    CHECK(limited.end_limit == Limit::time_per_token);
    for (const ScheduleEntry& entry : limited.entries) {
        for (const int batch : {entry.batch_from, entry.batch_to}) {
            for (const double context : {1024.0, 8192.0}) {
                CHECK(sim::evaluate(round, {entry.speculation, static_cast<double>(batch), context}).time_per_token <=
                      *workload.limits.time_per_token);
            }
        }
        CHECK((entry.speculation == 0 || entry.least >= 1.3));
    }

    workload.limits = {};
    sim::RoundSetup small = workload.variants.front().setup;
    small.platform.memory_limit = sim::evaluate(round, {sim::drafting_off, 10.0, 8192.0}).memory;
    const sim::CompiledRound in_little = sim::compile_round(small);
    CHECK(schedule_for(in_little, runnable(in_little), workload, 1024).largest_batch == 10);
    CHECK(schedule_for(in_little, runnable(in_little), workload, 1024).end_limit == Limit::memory);
}

TEST_CASE("the memory that a configuration needs is stated in GB: more than the weights, less than the device") {
    Workload workload = llama_workload();
    workload.limits.memory = Bytes(1e9);
    const std::string reason = recommend(workload, 1).excluded.front().reason;
    const double needed = std::stod(reason.substr(reason.find("needs ") + 6));
    CHECK(needed > 16.0);  // 8 billion weights in 16 bits
    CHECK(needed < 80.0);
}

TEST_CASE("a load of which one request fits at a time is left out with the rate at which one after the other is served") {
    Workload workload = llama_workload();
    Variant one = workload.variants[1];  // lookup: no drafter in memory
    one.setup.platform.device.memory = Bytes(40e9);
    one.setup.prompt_tokens = 1000.0;
    one.setup.output_tokens = 250.0;
    workload.variants = {one};
    workload.prompt_tokens = 1000.0;
    constexpr double longest = 100'000.0;  // 13 GB beside 16 GB of weights
    workload.traffic.kind = LoadKind::arrival_rate;
    const sim::CompiledRound round = sim::compile_round(one.setup);
    double shortest = sim::unlimited;  // to read the prompt and write the answer
    for (int drafts = 0; drafts <= 8; ++drafts) {
        REQUIRE(most_sequences(round, drafts, longest) == 1.0);
        const Seconds token = sim::evaluate(round, {drafts, 1.0, longest}).time_per_token;
        shortest = std::min(shortest, (sim::prompt_time(round, drafts) + token * 250.0).value());
    }
    const auto at = [&](double rate) {
        workload.traffic.points = {{rate, 1000.0, 0.5}, {rate, longest, 0.5}};
        return recommend(workload, 1);
    };
    CHECK(at(0.5 / shortest).recommendation->unserved.empty());
    const RecommendationResult found = at(1.05 / shortest);
    REQUIRE(found.recommendation);
    REQUIRE(found.recommendation->unserved.size() == 1);
    const std::string& reason = found.recommendation->unserved.front().reason;
    CAPTURE(reason);
    REQUIRE(reason.starts_with("at most about "));
    CHECK(std::stod(reason.substr(14)) == Approx(1.0 / shortest).epsilon(0.005));
}

TEST_CASE("trade-offs are priced at 1, 2, 4 and so on, up to four times the largest batch and at least 64") {
    Workload workload = llama_workload();
    for (const double load : {4.0, 60.0}) {
        workload.traffic.points = {{load, 1024, 1.0}};
        const Recommendation answer = *recommend(workload, 1).recommendation;
        std::map<std::size_t, std::vector<double>> batches;
        for (const TradeoffPoint& point : answer.tradeoffs) {
            batches[point.variant].push_back(point.batch);
        }
        REQUIRE(batches.size() == answer.variants.size());
        for (const auto& [variant, of_variant] : batches) {
            REQUIRE(of_variant.size() == (load < 16.0 ? 7U : 8U));  // 64, or 128 of at most 240
            for (std::size_t i = 0; i < of_variant.size(); ++i) {
                CHECK(of_variant[i] == std::pow(2.0, static_cast<double>(i)));
            }
        }
    }
}

TEST_CASE("of shapes that break a limit alike the first says why") {
    Workload workload = llama_workload();
    workload.variants.resize(1);
    workload.speculations = {sim::chains_up_to(3)[0], sim::chains_up_to(3)[3]};
    workload.speculations.push_back({sim::ParentsShape{{0, 1, 2}}, sim::Verification::unrolled, "a line"});
    workload.variants.front().setup.speculations = workload.speculations;
    workload.variants.front().setup.acceptance.siblings = sim::RankAcceptance({0.8});
    workload.traffic.points = {{1, 1024, 1.0}};
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    const auto time = [&](int speculation) { return sim::evaluate(round, {speculation, 1.0, 1024.0}).time_per_token; };
    REQUIRE(time(1) == time(2));
    workload.limits.minimum_gain = 100.0;
    const RecommendationResult result = recommend(workload, 1);
    REQUIRE(result.recommendation);
    const auto excluded = std::find_if(result.recommendation->excluded.begin(), result.recommendation->excluded.end(),
                                       [](const Exclusion& exclusion) { return exclusion.variant == 0; });
    REQUIRE(excluded != result.recommendation->excluded.end());
    CHECK_THAT(excluded->reason, Catch::Contains("with 3 drafts it"));
}

TEST_CASE("arrivals that nobody keeps up with are answered for servers that are always full, by what a full server is for") {
    for (const Objective objective : {Objective::latency, Objective::throughput, Objective::energy}) {
        Workload workload = llama_workload();
        workload.variants.resize(1);
        workload.objective = objective;
        workload.traffic.kind = LoadKind::arrival_rate;
        workload.traffic.points = {{1e5, 1024, 1.0}};
        for (Variant& variant : workload.variants) {
            variant.setup.prompt_tokens = 1024.0;
            variant.setup.output_tokens = 256.0;
        }
        const RecommendationResult result = recommend(workload, 1);
        REQUIRE(result.recommendation);
        const Recommendation& found = *result.recommendation;
        REQUIRE(found.saturation);
        CHECK(found.saturation->asked == 1e5);
        CHECK(found.saturation->best <= 1e5);
        // Tokens/s of one device over those of an answer.
        CHECK(found.saturation->plain == Approx(found.plain.tokens_per_second_device / 256.0));
        CHECK(found.saturation->best == Approx(found.candidates.front().tokens_per_second_device / 256.0));
        CHECK(found.traffic.kind == LoadKind::concurrency);
        // What waits for its turn has no latency to speak of: then the most tokens count.
        CHECK(found.objective == (objective == Objective::latency ? Objective::throughput : objective));
    }
}

}  // namespace recommend_test
