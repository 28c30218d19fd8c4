// The largest rate of arrivals within the limits: it keeps them, more breaks one, and asking rate by rate finds the same.
#include "sweeps/most_rate.h"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "recommend_workloads.h"
#include "straight_rounds.h"

namespace most_rate_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

Workload asked(std::optional<double> tpot_ms, std::optional<double> ttft_ms) {
    Workload workload = llama_workload();
    for (Variant& each : workload.variants) {
        each.setup.prompt_tokens = 1000.0;
        each.setup.output_tokens = 200.0;
    }
    workload.speculations = sim::chains_up_to(4);
    workload.traffic = single_point(1.0, 1100.0);
    workload.traffic.kind = LoadKind::arrival_rate;
    workload.most_arrivals = true;
    if (tpot_ms) {
        workload.limits.time_per_token = Seconds(1e-3 * *tpot_ms);
    }
    if (ttft_ms) {
        workload.limits.time_to_first_token = Seconds(1e-3 * *ttft_ms);
    }
    return workload;
}

struct Times {
    double tpot_ms, ttft_ms;
    bool served;
};

Times times_at(const sim::CompiledRound& round, int speculation, double rate) {
    const Load load{LoadKind::arrival_rate, rate};
    const SettledLoad settled = settle(round, speculation, load, 1100.0);
    const sim::RoundEstimate e =
        under_load(round, speculation, load, settled, sim::evaluate(round, {speculation, settled.batch, 1100.0}));
    return {1e3 * e.time_per_token.value(), 1e3 * e.first_token.value(), settled.problem.empty()};
}

bool within(const Times& times, std::optional<double> tpot_ms, std::optional<double> ttft_ms) {
    return times.served && (!tpot_ms || times.tpot_ms <= *tpot_ms) && (!ttft_ms || times.ttft_ms <= *ttft_ms);
}

struct Asked {
    std::optional<double> tpot_ms, ttft_ms;
};
const std::vector<Asked> questions = {{{}, {}}, {12.0, {}}, {20.0, {}}, {{}, 80.0}, {12.0, 150.0}, {30.0, 60.0}};

}  // namespace

TEST_CASE("at the largest rate every limit holds, and one per cent more breaks one") {
    for (const auto& [tpot, ttft] : questions) {
        const Workload workload = asked(tpot, ttft);
        const RecommendationResult result = recommend(workload, 1);
        REQUIRE(result.recommendation);
        const Recommendation& found = *result.recommendation;
        REQUIRE(found.most_rate);
        CHECK(found.most_rate->best == found.candidates.front().requests_per_second);
        CHECK(found.traffic.points.front().load == found.most_rate->best);
        for (const Candidate& candidate : found.candidates) {
            INFO(found.variants[candidate.variant].labels.drafter << ", " << candidate.draft_tokens << " drafts");
            const sim::CompiledRound round = sim::compile_round(found.variants[candidate.variant].setup);
            const double rate = candidate.requests_per_second;
            CHECK(within(times_at(round, candidate.speculation, rate), tpot, ttft));
            CHECK_FALSE(within(times_at(round, candidate.speculation, 1.01 * rate), tpot, ttft));
            CHECK(candidate.tokens_per_second_device == Approx(rate * 200.0));
            CHECK(candidate.gain == Approx(rate / found.most_rate->plain).epsilon(1e-6));
        }
    }
}

TEST_CASE("asking rate by rate finds the same largest rates") {
    for (const auto& [tpot, ttft] : questions) {
        Workload workload = asked(tpot, ttft);
        const Recommendation found = *recommend(workload, 1).recommendation;
        const Candidate& best = found.candidates.front();
        workload.most_arrivals = false;
        workload.objective = Objective::latency;
        workload.variants = {found.variants[best.variant]};
        workload.limits.first_token_growth = sim::unlimited;
        const auto serves = [&](double rate) {
            workload.traffic.points.front().load = rate;
            const RecommendationResult there = recommend(workload, 1);
            return there.recommendation && there.recommendation->unserved.empty() && !there.recommendation->saturation;
        };
        double low = 1e-3, high = 1e3;
        for (int i = 0; i < 24; ++i) {
            const double middle = std::sqrt(low * high);
            (serves(middle) ? low : high) = middle;
        }
        CHECK(std::max(found.most_rate->best, found.most_rate->plain) == Approx(low).epsilon(1e-4));
    }
}

TEST_CASE("without limits it is what a full server serves") {
    const Recommendation found = *recommend(asked({}, {}), 1).recommendation;
    const sim::CompiledRound round = sim::compile_round(found.variants[found.plain.variant].setup);
    CHECK(found.most_rate->plain == Approx(most_arrivals(round, 0, 1100.0)));
    CHECK(found.most_rate->plain_held_by == Limit::load);
    CHECK(recommend(asked(12.0, {}), 1).recommendation->most_rate->plain_held_by == Limit::time_per_token);
    CHECK(recommend(asked({}, 80.0), 1).recommendation->most_rate->plain_held_by == Limit::time_to_first_token);
}

TEST_CASE("more bandwidth never lowers the largest rate") {
    for (const auto& [tpot, ttft] : questions) {
        double before = 0.0, plain_before = 0.0;
        for (const double factor : {0.6, 0.8, 1.0, 1.1, 1.5, 2.0, 3.0}) {
            Workload workload = asked(tpot, ttft);
            for (Variant& each : workload.variants) {
                each.setup.platform.device.bandwidth *= factor;
            }
            const RecommendationResult result = recommend(workload, 1);
            const double best = result.recommendation ? result.recommendation->most_rate->best : 0.0;
            const double plain = result.recommendation ? result.recommendation->most_rate->plain : 0.0;
            INFO(factor << " times the bandwidth");
            CHECK(best >= before * (1.0 - 1e-5));
            CHECK(plain >= plain_before * (1.0 - 1e-5));
            before = best;
            plain_before = plain;
        }
    }
}

TEST_CASE("a limit that plain decoding keeps at no rate leaves no ratio") {
    const sim::CompiledRound round = sim::compile_round(recommend(asked({}, {}), 1).recommendation->variants.back().setup);
    const double alone = times_at(round, 0, 1e-6).tpot_ms;
    const Workload workload = asked(0.9 * alone, {});
    const Recommendation found = *recommend(workload, 1).recommendation;
    CHECK(found.speculate);
    CHECK(found.most_rate->plain == 0.0);
    CHECK(std::isinf(found.candidates.front().gain));
    CHECK_FALSE(trust_of_most_rate(found, workload, {}));

    const RecommendationResult none = recommend(asked(0.01, {}), 1);
    CHECK_FALSE(none.recommendation);
    REQUIRE(none.nearest);
    CHECK(none.nearest->reason.find("0.01 ms are allowed") != std::string::npos);
}

TEST_CASE("drafts pay where they serve more than plain decoding: at the accept length that is said") {
    const Workload workload = asked(12.0, {});
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    const Candidate& best = found.candidates.front();
    REQUIRE(best.gain > 1.1);
    sim::CompiledRound round = sim::compile_round(found.variants[best.variant].setup);
    round.rows[static_cast<std::size_t>(best.speculation)].accepted.length = best.break_even_accept_length;
    CHECK(most_rate(round, best.speculation, workload) == Approx(found.most_rate->plain).epsilon(1e-3));
    const std::optional<MostRateTrust> trust = trust_of_most_rate(found, workload, {});
    REQUIRE(trust);
    CHECK(trust->interval.value == Approx(best.gain).epsilon(1e-6));
    CHECK(trust->interval.low < best.gain);
    CHECK(trust->interval.high > best.gain);
    CHECK(trust->interval.of_capacity);
    CHECK_FALSE(trust->trust.measured);  // nobody measured anything
}

TEST_CASE("where plain decoding serves more, it is recommended, and the best that drafts is named") {
    Workload workload = asked({}, {});
    workload.limits.minimum_gain = 50.0;
    const Recommendation found = *recommend(workload, 1).recommendation;
    CHECK_FALSE(found.speculate);
    REQUIRE(found.most_rate->drafting);
    const std::optional<RejectedDrafting> rejected = rejected_at_most_rate(found);
    REQUIRE(rejected);
    CHECK(rejected->gain == Approx(found.most_rate->drafting->requests_per_second / found.most_rate->best));
}

TEST_CASE("beside plain decoding the drafts that serve the largest rate are named, of those that can be run") {
    Workload workload = asked(12.0, {});
    workload.limits.minimum_gain = 1e-3;
    const Recommendation all = *recommend(workload, 1).recommendation;
    CHECK_FALSE(all.flip);
    REQUIRE(all.speculate);
    CHECK_FALSE(all.most_rate->drafting);
    // By variant the largest rate that drafts serve.
    std::vector<double> most(workload.variants.size(), 0.0);
    for (const Candidate& candidate : all.candidates) {
        if (candidate.draft_tokens > 0) {
            most[candidate.variant] = std::max(most[candidate.variant], candidate.requests_per_second);
        }
    }
    REQUIRE(std::count(most.begin(), most.end(), 0.0) == 0);
    workload.limits.minimum_gain = 50.0;
    while (workload.variants.size() > 1) {
        const Recommendation plain = *recommend(workload, 1).recommendation;
        REQUIRE_FALSE(plain.speculate);
        CHECK_FALSE(plain.flip);
        REQUIRE(plain.most_rate->drafting);
        const Candidate& drafting = *plain.most_rate->drafting;
        const auto largest = static_cast<std::size_t>(std::max_element(most.begin(), most.end()) - most.begin());
        CHECK(drafting.draft_tokens > 0);
        CHECK(drafting.variant == largest);
        CHECK(drafting.requests_per_second == Approx(most[largest]));
        CHECK(drafting.gain == Approx(most[largest] / plain.most_rate->best));
        const std::optional<RejectedDrafting> rejected = rejected_at_most_rate(plain);
        CHECK(rejected->label == workload.variants[largest].labels.drafter + " with " +
                                     workload.speculations[static_cast<std::size_t>(drafting.speculation)].label);
        if (workload.variants[largest].untrained || std::count(most.begin(), most.end(), 0.0) == 1) {
            break;
        }
        workload.variants[largest].untrained = true;
        most[largest] = 0.0;
    }
    for (Variant& each : workload.variants) {
        each.untrained = true;
    }
    CHECK_FALSE(recommend(workload, 1).recommendation->most_rate->drafting);
}

TEST_CASE("the largest rate is one of the whole traffic: where a context fits in no memory there is none") {
    Workload workload = asked({}, {});
    workload.traffic = traffic_from({{1.0, 1.0}}, {{1100.0, 1.0}, {1e7, 1.0}}, ShareOf::time, LoadKind::arrival_rate);
    CHECK_FALSE(recommend(workload, 1).recommendation);
    workload.traffic = traffic_from({{1.0, 1.0}}, {{1100.0, 1.0}}, ShareOf::time, LoadKind::arrival_rate);
    CHECK(recommend(workload, 1).recommendation);
}

TEST_CASE("a rate that only drafts keep up with, and at which they break a limit, is left out for that limit") {
    Workload workload = asked(12.0, {});
    workload.limits.minimum_gain = 1e-3;
    workload.limits.first_token_growth = sim::unlimited;
    const Recommendation full = *recommend(asked({}, {}), 1).recommendation;
    REQUIRE(full.most_rate->best > 1.02 * full.most_rate->plain);
    workload.most_arrivals = false;
    workload.objective = Objective::latency;
    workload.traffic = traffic_from({{1.0, 1.0}, {0.5 * (full.most_rate->best + full.most_rate->plain), 1.0}}, {{1100.0, 1.0}},
                                    ShareOf::time, LoadKind::arrival_rate);
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.unserved.size() == 1);
    CHECK_THAT(found.unserved.front().reason, Catch::Contains("a TPOT of") && Catch::Contains("12.00 ms are allowed"));
}

TEST_CASE("at its largest rate a candidate is overrun where a full server holds it, and not where a limit on times does") {
    for (const auto& [tpot, ttft] : questions) {
        const Recommendation found = *recommend(asked(tpot, ttft), 1).recommendation;
        for (const Candidate& candidate : found.candidates) {
            const sim::CompiledRound round = sim::compile_round(found.variants[candidate.variant].setup);
            const double full = most_arrivals(round, candidate.speculation, 1100.0);
            CAPTURE(candidate.requests_per_second, full);
            CHECK(candidate.overrun == (candidate.requests_per_second > 0.999999 * full));
        }
    }
}

TEST_CASE("a schedule that knows the recommended length alone gains as much, at the largest rates") {
    Workload workload = asked(12.0, {});
    workload.speculations = {sim::chains_up_to(4).front(), sim::chains_up_to(4).back()};
    workload.variants.resize(1);
    workload.variants.front().setup.speculations = workload.speculations;
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    const Candidate& best = found.candidates.front();
    REQUIRE(best.gain > 1.2);
    REQUIRE(std::abs(best.gain - found.schedule.speedup) > 0.1);  // of one user, at the same rate
    CHECK(found.schedule.gain == Approx(best.gain).epsilon(1e-6));
    // Where plain decoding serves no rate, it is the gain at this one.
    const sim::CompiledRound round = sim::compile_round(found.variants[best.variant].setup);
    workload.limits.time_per_token = 0.9 * sim::evaluate(round, {0, 1.0, 1100.0}).time_per_token;
    const Recommendation alone = *recommend(workload, 1).recommendation;
    REQUIRE(std::isinf(alone.candidates.front().gain));
    CHECK(alone.schedule.gain == Approx(alone.schedule.speedup));
}

TEST_CASE("a ratio of largest rates that is just asked for is enough") {
    Workload workload = asked(12.0, {});
    const Recommendation free = *recommend(workload, 1).recommendation;
    REQUIRE(free.speculate);
    const Candidate& best = free.candidates.front();
    workload.limits.minimum_gain = best.gain;
    const Recommendation found = *recommend(workload, 1).recommendation;
    CHECK(found.speculate);
    CHECK(found.candidates.front().speculation == best.speculation);
    const auto drafting = [](const Candidate& candidate) { return candidate.draft_tokens > 0; };
    CHECK(std::count_if(found.candidates.begin(), found.candidates.end(), drafting) == 1);
    workload.limits.minimum_gain = best.gain * (1.0 + 1e-9);
    CHECK_FALSE(recommend(workload, 1).recommendation->speculate);
}

TEST_CASE("of uncertain inputs a ratio of largest rates counts where both serve any, and stays what it is elsewhere") {
    const Recommendation free = *recommend(asked({}, {}), 1).recommendation;
    const sim::RoundSetup& setup = free.variants.front().setup;  // with a draft model that reads prompts, too
    const sim::CompiledRound round = sim::compile_round(setup);
    int without_plain = 0, without_drafts = 0;
    const auto check = [&](const Workload& workload) {
        const auto ratio = [&](const sim::CompiledRound& of, double otherwise) {
            const double plain = most_rate(of, 0, workload), drafting = most_rate(of, 4, workload);
            without_plain += plain == 0.0 && drafting > 0.0 ? 1 : 0;
            without_drafts += plain > 0.0 && drafting == 0.0 ? 1 : 0;
            return plain > 0.0 && drafting > 0.0 ? drafting / plain : otherwise;
        };
        Recommendation found = free;
        Candidate& best = found.candidates.front();
        best.variant = 0;
        best.speculation = 4;
        best.gain = ratio(round, 0.0);
        REQUIRE(best.gain > 0.0);
        const GainInterval interval = trust_of_most_rate(found, workload, {})->interval;
        CHECK(interval.value == Approx(best.gain));
        for (const UncertainRound& input : uncertain_rounds(setup)) {
            const auto named = std::find_if(interval.inputs.begin(), interval.inputs.end(),
                                            [&](const Sensitivity& each) { return each.input == input.input; });
            REQUIRE(named != interval.inputs.end());
            const double low = ratio(input.low, best.gain), high = ratio(input.high, best.gain);
            CAPTURE(input.input);
            CHECK(named->low == Approx(std::min(low, high)));
            CHECK(named->high == Approx(std::max(low, high)));
        }
    };
    Workload times = asked({}, {});  // TPOT: a little more bandwidth than assumed is missing, and plain decoding is too slow
    times.limits.time_per_token = 1.02 * sim::evaluate(round, {0, 1.0, 1100.0}).time_per_token;
    check(times);
    CHECK(without_plain > 0);
    Workload first = asked({}, {});  // TTFT: a prompt that two models read is too late
    const auto alone = [&](int speculation) {
        return under_load(round, speculation, {LoadKind::arrival_rate, 1e-6},
                          settle(round, speculation, {LoadKind::arrival_rate, 1e-6}, 1100.0),
                          sim::evaluate(round, {speculation, 1.0, 1100.0}))
            .first_token;
    };
    REQUIRE(alone(4) > 1.05 * alone(0));
    first.limits.time_to_first_token = 1.02 * alone(4);
    check(first);
    CHECK(without_drafts > 0);
}

TEST_CASE("errors of speed-ups count as those of an accept length, with which a rate is served") {
    Workload workload = asked(12.0, {});
    workload.variants.resize(1);
    sim::RoundSetup& setup = workload.variants.front().setup;
    setup.platform.stack.name = "vllm";
    setup.acceptance.spread = 0.0;  // nothing else is unknown
    const Recommendation found = *recommend(workload, 1).recommendation;
    REQUIRE(found.speculate);
    const Candidate& best = found.candidates.front();
    const sim::CompiledRound round = sim::compile_round(found.variants[best.variant].setup);
    const double length = round.row(best.speculation).accepted.length, speed_up = length / best.break_even_accept_length;
    REQUIRE(speed_up > 1.1);
    const auto with_ratio = [&](double ratio) {
        MeasuredErrors::OfMode of_mode;
        for (int level = 0; level < 5; ++level) {
            for (int i = 0; i < 10; ++i) {
                of_mode.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, level}, std::to_string(i), ratio});
            }
        }
        return trust_of_most_rate(found, workload, {{of_mode}, "a test"})->trust;
    };
    for (const double ratio : {0.9, 1.0, 1.2}) {
        CAPTURE(ratio);
        sim::CompiledRound other = round;
        other.rows[static_cast<std::size_t>(best.speculation)].accepted.length = ratio * length;
        const double rate = most_rate(other, best.speculation, workload);
        const Trust trust = with_ratio(ratio);
        REQUIRE(trust.measured);
        CHECK(trust.measured->engine_low == Approx(rate / found.most_rate->plain).epsilon(1e-4));
        CHECK(trust.measured->engine_high == Approx(rate / found.most_rate->plain).epsilon(1e-4));
    }
    // Ten deployments say little of an eleventh: 10/11 as far from a half as the shares of the ten.
    CHECK(with_ratio(1.05 / speed_up).chances->pays == Approx(0.5 + 0.5 * 10.0 / 11.0));
    CHECK(with_ratio(0.95 / speed_up).chances->pays == Approx(0.5 - 0.5 * 10.0 / 11.0));
}

TEST_CASE("a full server serves the largest rate to eight digits, whatever it drafts") {
    const Workload workload = asked({}, {});
    const sim::CompiledRound round = sim::compile_round(workload.variants.front().setup);
    for (int speculation = 0; speculation <= 4; ++speculation) {
        const double full = most_arrivals(round, speculation, 1100.0), most = most_rate(round, speculation, workload);
        CHECK(most < full);
        CHECK(most > full * (1.0 - 2e-9));
    }
}

TEST_CASE("a limit that rates break only within one per cent of them does not end the search") {
    // Steps of b sequences take 9 + b/10 s, and from 8.24 rows on, with another kernel, 0.04 s less. They take more than 9.8223
    // s from a batch of 8.23 to 8.24, and beyond 8.62: then 7.62 others come while one stays for 8 tokens.
    sim::CompiledRound round = straight_round(9.0, 0.1, 12.0);
    sim::RowSteps rule;
    rule.step_after = 8.24;
    rule.step = Seconds(-0.04);
    sim::TimedOperation another_kernel;
    another_kernel.rates.rule = rule;
    round.pass(sim::PassId::plain).operations.push_back(another_kernel);
    const auto step = [&](double batch) { return sim::evaluate(round, {0, batch, 0.0}).time_per_token.value(); };
    REQUIRE(step(8.22) == Approx(9.822));
    REQUIRE(step(8.25) == Approx(9.785));
    Workload workload;
    workload.traffic.points = {{1.0, 0.0, 1.0}};
    workload.traffic.kind = LoadKind::arrival_rate;
    workload.limits.time_per_token = Seconds(9.8223);
    const auto rate_at = [&](double batch) { return (batch - 1.0) / (8.0 * step(batch)); };
    CHECK_FALSE(broken_at_rate(round, 0, workload, rate_at(8.22)));
    CHECK(broken_at_rate(round, 0, workload, rate_at(8.24)) == Limit::time_per_token);
    CHECK_FALSE(broken_at_rate(round, 0, workload, rate_at(8.26)));
    CHECK(most_rate(round, 0, workload) == Approx(rate_at(8.62)).epsilon(1e-3));
}

TEST_CASE("a limit on the first token is kept at the rate at which it is just met") {
    const sim::CompiledRound round = straight_round(10.0);
    Workload workload;
    workload.traffic.points = {{1.0, 0.0, 1.0}};
    workload.traffic.kind = LoadKind::arrival_rate;
    const Workload at = at_rate(workload, 0.05);
    const Seconds first = outcomes_of(round, {0}, at.traffic, at.objective).front().means.first_token;
    workload.limits.time_to_first_token = first;
    CHECK_FALSE(broken_at_rate(round, 0, workload, 0.05));
    workload.limits.time_to_first_token = 0.999999 * first;
    CHECK(broken_at_rate(round, 0, workload, 0.05) == Limit::time_to_first_token);
}

}  // namespace most_rate_test
